package netpoll

import (
	"crypto/tls"
	"log/slog"
	"net"
	"runtime"
	"time"

	"github.com/waymark-mq/waymark/codec"
)

// Options configure a Server. A zero value means the default written beside it; a negative duration means never.
type Options struct {
	Addr          string        // host:port to bind
	EventLoops    int           // number of cores; at most 256
	MaxFrameBytes int           // codec.DefaultMaxFrameBytes; the 4 length bytes count
	MaxConns      int           // 0: no limit; further connections are accepted and closed at once
	IdleTimeout   time.Duration // 120 s without a byte read or written

	// Idle, if set, is asked on the connection's loop before it is ended for IdleTimeout; false: it stays for
	// as long again.
	Idle func(c *Conn) bool

	// HalfFrameTimeout bounds a pause within a frame, and the time from its first byte to its last: 60 s, and one more second for each 16 KiB received, so
	// that a large frame on a slow line arrives and a dripping one doesn't.
	HalfFrameTimeout time.Duration
	// StallTimeout ends a connection with unsent bytes of which none leaves for so long, 60 s, or, while more than half of MaxUnsentBytes is
	// used, less than 1 KiB a second.
	StallTimeout   time.Duration
	HighWaterBytes int           // 256 KiB unsent, above which no further frame of that connection is cut
	DrainTimeout   time.Duration // 5 s: how long Close lets unsent answers go out

	// MaxUnsentBytes is the process budget of answers not yet taken by the kernel, 256 MiB; their memory is at most twice as much. Over it Overloaded says true to
	// whoever owes some of them and connections with more than 32 KiB unsent get no further answers until they drain.
	MaxUnsentBytes int64
	// MaxConnUnsentBytes bounds what Send may pile up for one connection, 2 × MaxFrameBytes; over it the connection closes.
	MaxConnUnsentBytes int
	// MaxHeldBytes is the process budget of input received but not yet handled, 1 GiB; its memory is at most twice as much. Over it those that have held a begun
	// frame for longest close; connections that don't read their answers and hold more than 64 KiB do over a quarter of it.
	MaxHeldBytes int64

	FramePoolBytes int // 24 MiB: memory for large frames that is kept, beyond MaxHeldBytes; 2 MiB a loop at least

	// TLSConfig is asked for each TLS hello; nil, or a nil answer: TLS is off, a hello closes the connection. What it
	// answers must not change any more.
	TLSConfig        func() *tls.Config
	RequireTLS       bool          // a connection that doesn't begin with a hello closes
	HandshakeTimeout time.Duration // 10 s from the hello to the end of the handshake
	MaxHandshakes    int           // 1,024 handshakes begun at a time; 4 times as many wait, more are closed at once

	// TrustsProxy says whether a PROXY header from the socket's host:port is believed; if not, it closes the connection. nil: all are.
	// It is called on any loop.
	TrustsProxy func(peer string) bool

	SendBufferBytes int // SO_SNDBUF; 0: the system's
	RecvBufferBytes int // SO_RCVBUF; 0: the system's

	// FreezeThreshold: a loop's timer that comes later than this (1 s) means that the process stood still; all deadlines
	// move by the lateness.
	FreezeThreshold time.Duration

	// Admit decides on a connection by the address of its socket, on the acceptor's goroutine, which it must not hold up; one that isn't
	// admitted is closed at once. nil: all are.
	Admit func(from net.Addr) bool
	// AdmitNamed decides on a connection by the host:port that a believed PROXY header names, on the connection's
	// loop; one that isn't admitted is closed with ErrNotAdmitted. nil: all are.
	AdmitNamed func(source string) bool

	Logger *slog.Logger // slog.Default()
	Now    func() int64 // monotonic nanoseconds; may be read from any goroutine
}

const (
	kib = 1 << 10

	maxEventLoops = 256 // gnet's

	highWaterBytes  = 256 * kib // default of HighWaterBytes; about one Write's size
	lowWaterBytes   = 32 * kib  // the same while the process budget is exceeded
	heldSlackBytes  = 64 * kib  // input a stalled connection may hold beyond the frame at its head
	shedLeastBytes  = 4 * kib   // held input that is worth an end when the budget is used up
	keepOutBytes    = 512 * kib // an output buffer that grew larger is given back
	halfFramePerSec = 16 * kib  // bytes that buy a half-sent frame one more second
)

func (o *Options) setDefaults() {
	setDefault(&o.EventLoops, runtime.GOMAXPROCS(0))
	o.EventLoops = min(o.EventLoops, maxEventLoops)
	setDefault(&o.MaxFrameBytes, codec.DefaultMaxFrameBytes)
	setDefault(&o.IdleTimeout, 120*time.Second)
	setDefault(&o.HalfFrameTimeout, 60*time.Second)
	setDefault(&o.StallTimeout, 60*time.Second)
	setDefault(&o.DrainTimeout, 5*time.Second)
	setDefault(&o.HandshakeTimeout, 10*time.Second)
	setDefault(&o.MaxHandshakes, 1024)
	setDefault(&o.HighWaterBytes, highWaterBytes)
	setDefault(&o.MaxUnsentBytes, 256<<20)
	setDefault(&o.MaxConnUnsentBytes, 2*o.MaxFrameBytes)
	setDefault(&o.MaxHeldBytes, 1<<30)
	setDefault(&o.FramePoolBytes, keptBytes)
	setDefault(&o.FreezeThreshold, time.Second)
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	if o.Now == nil {
		o.Now = monotonicNanos
	}
}

func setDefault[T int | int64 | time.Duration](v *T, def T) {
	if *v == 0 {
		*v = def
	}
}

var processStart = time.Now()

func monotonicNanos() int64 { return int64(time.Since(processStart)) }
