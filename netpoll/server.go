package netpoll

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/panjf2000/gnet/v2"
	"github.com/puzpuzpuz/xsync/v3"
	"golang.org/x/sys/cpu"
)

// Server is a bound port with its event loops.
type Server struct {
	opts     Options
	loops    []*loop
	engine   *gnet.Client // without a listener; see the package comment
	acceptor *acceptor
	conns    *xsync.MapOf[uint64, *Conn]
	log      *limitedLog
	seen     lastSeen

	handshakes handshakes
	unadmitted atomic.Uint64

	stopped atomic.Bool  // nothing may touch the engine any more
	idle    atomic.Int64 // Options.IdleTimeout, or what it was set to since

	_     cpu.CacheLinePad // what is above is read all the time
	count atomic.Int64     // connections that are open or being handed to a loop

	closeOnce sync.Once
	closeErr  error
	done      chan struct{}
}

// Listen binds o.Addr and starts the event loops; connections wait in the kernel until Run accepts them. The error of a
// failed bind names the address.
func Listen(h Handler, o Options) (*Server, error) {
	o.setDefaults()
	ln, err := listen(&o)
	if err != nil {
		return nil, fmt.Errorf("netpoll: %w", err)
	}
	s, err := serve(ln, h, o)
	if err != nil {
		_ = ln.Close()
		return nil, err
	}
	return s, nil
}

// serve starts a server on a listener; o has its defaults.
func serve(ln net.Listener, h Handler, o Options) (*Server, error) {
	s := newServer(o)
	for i := range o.EventLoops {
		s.loops = append(s.loops, newLoop(s, i, h.NewLoop()))
	}
	if err := s.startEngine(); err != nil {
		return nil, fmt.Errorf("netpoll: event loops: %w", err)
	}
	for _, l := range s.loops {
		l.post(l.startTicker)
	}
	s.acceptor = newAcceptor(s, ln)
	return s, nil
}

func newServer(o Options) *Server {
	s := &Server{opts: o, conns: xsync.NewMapOf[uint64, *Conn](), log: newLimitedLog(o.Logger, o.Now), done: make(chan struct{})}
	s.idle.Store(int64(o.IdleTimeout))
	s.handshakes.init(o.MaxHandshakes)
	return s
}

// listen binds with SO_REUSEADDR (Go's default), without keep-alive and, since its sockets lack options plain TCP has,
// without multipath TCP. Accepted connections have TCP_NODELAY (Go's default) and no keep-alive, so the acceptor sets
// neither. Buffer sizes are set before listen, so that the window scale fits; connections inherit them.
func listen(o *Options) (net.Listener, error) {
	lc := net.ListenConfig{
		KeepAlive: -1,
		Control: func(_, _ string, rc syscall.RawConn) error {
			var err error
			set := func(fd uintptr, option, n int) {
				if n > 0 && err == nil {
					err = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, option, n)
				}
			}
			ctlErr := rc.Control(func(fd uintptr) {
				set(fd, syscall.SO_RCVBUF, o.RecvBufferBytes)
				set(fd, syscall.SO_SNDBUF, o.SendBufferBytes)
			})
			return errors.Join(ctlErr, err)
		},
	}
	lc.SetMultipathTCP(false)
	network, addr := listenOn(o.Addr, net.InterfaceAddrs)
	return lc.Listen(context.Background(), network, addr)
}

// listenOn makes a wildcard stand for IPv6 too, as Java does. Go does so itself, but only where it can bind 127.0.0.1: on a
// machine without any IPv4 address it would take IPv4 alone, and nobody could connect.
func listenOn(addr string, machine func() ([]net.Addr, error)) (network, bind string) {
	host, port, err := net.SplitHostPort(addr)
	if ip := net.ParseIP(host); err != nil || ip == nil || !ip.IsUnspecified() {
		return "tcp", addr
	}
	isIPv4 := func(a net.Addr) bool {
		n, ok := a.(*net.IPNet)
		return ok && n.IP.To4() != nil
	}
	if addrs, err := machine(); err != nil || len(addrs) == 0 || slices.ContainsFunc(addrs, isIPv4) {
		return "tcp", addr
	}
	return "tcp6", net.JoinHostPort("::", port)
}

// Addr is the bound address.
func (s *Server) Addr() net.Addr { return s.acceptor.listener.Addr() }

// Unadmitted is the number of connections closed at once because Options.Admit or AdmitNamed said so. Any goroutine.
func (s *Server) Unadmitted() uint64 { return s.unadmitted.Load() }

// Run accepts connections and returns when Close has finished.
func (s *Server) Run() error {
	s.acceptor.start()
	<-s.done
	return s.closeErr
}

// Conn finds an open connection. Any goroutine.
func (s *Server) Conn(id uint64) (*Conn, bool) { return s.conns.Load(id) }

// SetIdleTimeout changes Options.IdleTimeout for connections opened from now on, and for
// others from the end of their present one. Any goroutine.
func (s *Server) SetIdleTimeout(d time.Duration) { s.idle.Store(int64(d)) }

// ConnCount is the number of open connections, those being handed to a loop included.
func (s *Server) ConnCount() int { return int(s.count.Load()) }

// Loops is the number of event loops.
func (s *Server) Loops() int { return len(s.loops) }

// UnsentBytes is the number of answer bytes in the process that no socket has taken, up to 50 ms old. The rest of a piece of 64 KiB
// that has left in part counts as all of it.
func (s *Server) UnsentBytes() int64 {
	var n int64
	for _, l := range s.loops {
		n += l.unsentBytes()
	}
	return n
}

// Overloaded reports that UnsentBytes exceeds MaxUnsentBytes; Conn.Overloaded is the cheaper question for a loop.
func (s *Server) Overloaded() bool { return s.UnsentBytes() > s.opts.MaxUnsentBytes }

func (s *Server) heldBytes() int64 {
	var n int64
	for _, l := range s.loops {
		n += l.held.Load()
	}
	return n
}

// released is called for every connection that has ended or never got to a loop.
func (s *Server) released() {
	s.count.Add(-1)
	if s.acceptor != nil {
		s.acceptor.roomAgain()
	}
}

// Close stops accepting, lets unsent answers leave for at most DrainTimeout or until ctx ends, closes every connection and
// ends the loops. Frames not yet handled are dropped. It is safe to call again: later calls wait for the first.
// The error is ctx's when the loops didn't end before it; then a handler is stuck and its loop is left behind.
func (s *Server) Close(ctx context.Context) error {
	s.closeOnce.Do(func() {
		s.acceptor.stop()
		s.drain(ctx)
		s.closeErr = s.stopEngine(ctx)
		close(s.done)
	})
	<-s.done
	return s.closeErr
}

// drain closes the connections that owe nothing and waits for the others.
func (s *Server) drain(ctx context.Context) {
	for _, l := range s.loops {
		l.post(func() {
			s.conns.Range(func(_ uint64, c *Conn) bool {
				if c.loop == l && !c.gone.Load() {
					l.endFlushed(c, ErrServerClosed)
				}
				return true
			})
		})
	}
	deadline := time.NewTimer(max(s.opts.DrainTimeout, 0))
	defer deadline.Stop()
	for s.count.Load() > 0 {
		select {
		case <-ctx.Done():
			return
		case <-deadline.C:
			return
		case <-time.After(time.Millisecond):
		}
	}
}
