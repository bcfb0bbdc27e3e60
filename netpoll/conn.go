package netpoll

import (
	"sync/atomic"

	"github.com/panjf2000/gnet/v2"
)

// Conn is one connection. It stays a valid object after the connection has ended; its methods then do nothing.
type Conn struct {
	// What each read event touches comes first: two cache lines.

	// Context belongs to the handler and is touched on the connection's loop only.
	Context any
	loop    *loop
	io      transport // the loop's view; set before Open
	id      uint64
	unsent  atomic.Int64 // bytes in the outbound buffer when the loop last looked; written by the loop
	gone    atomic.Bool  // closed: set on the loop, read anywhere

	// The loop's own.
	handedOver  bool // its loop got it; read by the acceptor afterwards
	opened      bool // Open was called and Close wasn't
	stage       stage
	stalled     bool  // too much unsent: no frames are cut until it drains
	closing     bool  // closes when what is unsent has left; input is thrown away
	paused      int32 // Pause calls not yet answered by Resume
	want        int   // bytes at the head of the input that the next step needs
	held        int   // input left unhandled after the last event, in gnet's ring and in large
	lastNanos   int64
	halfNanos   int64                  // when the frame at the head began; 0: none has
	large       *LargeFrame            // the frame at the head, once a read event has left more than ringBytes of it
	tls         atomic.Pointer[tlsEnd] // io, inside TLS; set on the loop, from the hello on
	moveNanos   int64                  // when unsent bytes last became fewer
	windowNanos int64                  // when windowBytes began to count, in the time of deadlines
	windowBytes uint32                 // what the peer has taken since; at most maxWindowBytes
	unsentExtra uint32                 // what the loop's sum counts beyond unsent
	heldExtra   uint32                 // what the loop's sum counts beyond held
	drainIndex  int32                  // place in loop.draining, from 1; 0: not in it
	timer       wheelEntry

	peer    string // the socket's address; copied, because gnet's is only valid inside its callbacks
	proxied atomic.Pointer[string]
	sock    gnet.Conn             // the socket as gnet knows it; nil in a Pipe
	cause   atomic.Pointer[error] // the first reason to close
	queued  atomic.Int64          // bytes given to Send that the loop hasn't written yet
}

// transport is what a loop needs of a connection: gnet.Conn is one, a Pipe's end another, and a tlsEnd over either.
type transport interface {
	InboundBuffered() int
	Peek(n int) ([]byte, error)
	Discard(n int) (int, error)
	Write(p []byte) (int, error)
	Writev(pieces [][]byte) (int, error)
	OutboundBuffered() int
}

// ID is unique in the process's server, counted from 1.
func (c *Conn) ID() uint64 { return c.id }

// RemoteAddr is the peer's host:port: the source a PROXY header named if one came first, else the other end of the socket.
func (c *Conn) RemoteAddr() string {
	if p := c.proxied.Load(); p != nil {
		return *p
	}
	return c.peer
}

// SocketAddr is the host:port at the other end of the socket, a proxy's if there is one.
func (c *Conn) SocketAddr() string { return c.peer }

// Loop is the index of the connection's event loop, from 0.
func (c *Conn) Loop() int { return c.loop.index }

// Overloaded reports that the unsent bytes of this connection's loop exceed its share of MaxUnsentBytes and that some of
// them are its own: it should get no further answers. For handlers, on the loop.
func (c *Conn) Overloaded() bool { return c.loop.overloaded() && c.unsent.Load()+c.queued.Load() > 0 }

// LoopOverloaded is Overloaded whoever's the bytes are: nobody should get large answers. For handlers, on the loop.
func (c *Conn) LoopOverloaded() bool { return c.loop.overloaded() }

// AfterSends runs fn on the loop once the Sends that this goroutine has made were handed to the socket or its buffer; never
// if the server has closed. Any goroutine.
func (c *Conn) AfterSends(fn func()) { c.loop.post(fn) }

// Follow sends tail, uncopied, right behind what Frame returns, as the end of its answer: for large answers that many
// share. From within Frame only, once, and nobody may write to tail any more.
func (c *Conn) Follow(tail []byte) { c.loop.tail = tail }

// Close ends the connection soon, with one attempt to write what is unsent; Sends that came before are written first.
// Any goroutine.
func (c *Conn) Close() { c.CloseWith(ErrClosed) }

// CloseWith is Close with the reason that LoopHandler.Close is to get (if none came first); nil means ErrClosed.
func (c *Conn) CloseWith(reason error) {
	if reason == nil {
		reason = ErrClosed
	}
	if c.gone.Load() {
		return
	}
	c.setCause(reason)
	c.loop.post(func() { c.loop.end(c, reason) })
}

// setCause keeps the first reason: what follows it (a read error on a socket we closed) is only a consequence.
func (c *Conn) setCause(reason error) { c.cause.CompareAndSwap(nil, &reason) }

// Pause stops cutting frames of this connection, from within Frame: for an answer that is computed elsewhere, so that a
// peer can't order more of them before it has read this one. Each Pause needs one Resume. Input that arrives meanwhile
// is held, bounded as for a peer that doesn't read.
func (c *Conn) Pause() { c.paused++ }

// Resume takes one Pause back, after the answer was given to Send. Any goroutine.
func (c *Conn) Resume() {
	c.loop.post(func() {
		if c.paused--; !c.gone.Load() {
			c.loop.resume(c)
		}
	})
}
