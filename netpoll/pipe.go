package netpoll

import (
	"io"
	"sync"
)

// Pipe drives a LoopHandler without a socket: the same code as an event loop's, one connection, bytes from memory. For
// tests that cut streams at every place and for benchmarks:
//
//	p := netpoll.NewPipe(handler.NewLoop(), netpoll.Options{})
//	answers, err := p.Feed(bytes) // err: why the connection is closed
//
// A Pipe is for one goroutine; its Conn's Send, Resume and Close may come from others and take effect at the next call.
type Pipe struct {
	loop *loop
	conn *Conn
	end  pipeEnd

	mu    sync.Mutex
	tasks []func()
}

// pipeEnd is the transport: what the peer sent and what it hasn't taken. The input's order of memory is gnet's: what was
// left by earlier events lies apart from new bytes, so that a peek across both copies.
type pipeEnd struct {
	old, fresh []byte
	arrived    []byte // memory of fresh: a copy, since frames may be overwritten
	scratch    []byte
	unsent     []byte
	taken      []byte // answers the peer took
	given      int    // how many of them the last call returned
	window     int    // how many more bytes the peer takes; negative: any number
	writes     int
}

// NewPipe opens a connection to h. Only the sizes, timeouts, Logger and Now of o matter.
func NewPipe(h LoopHandler, o Options) *Pipe {
	o.EventLoops = 1
	o.setDefaults()
	s := newServer(o)
	l := newLoop(s, 0, h)
	s.loops = []*loop{l}
	p := &Pipe{loop: l}
	l.pipe = p
	l.ticker.delay = l.ticker.quiet
	l.ticker.dueNanos = l.nowNanos + int64(l.ticker.quiet)
	p.end.window = -1
	p.conn = &Conn{id: 1, peer: "pipe", loop: l, io: &p.end}
	s.count.Add(1)
	l.opened(p.conn)
	return p
}

// Conn is the connection the handler sees.
func (p *Pipe) Conn() *Conn { return p.conn }

// Feed delivers b in one read event and returns the answers that left since the last call, valid until the next one. Once
// the connection has ended, closed says why.
func (p *Pipe) Feed(b []byte) (answers []byte, closed error) {
	p.runTasks()
	if !p.conn.gone.Load() {
		p.end.arrived = append(p.end.arrived[:0], b...)
		p.end.fresh = p.end.arrived
		p.loop.traffic(p.conn)
		if p.conn.gone.Load() {
			p.end.old, p.end.fresh = nil, nil
		}
		p.end.settle()
		p.runTasks()
	}
	return p.end.give(), p.closed()
}

// Tick runs the timers, as Options.Now stands, and returns what Feed does.
func (p *Pipe) Tick() (answers []byte, closed error) {
	p.runTasks()
	p.loop.stamp()
	p.loop.tick()
	p.runTasks()
	return p.end.give(), p.closed()
}

// SetWindow lets the peer take n more bytes, any number if n is negative, beginning with what is unsent.
func (p *Pipe) SetWindow(n int) {
	p.end.window = n
	p.end.drain()
}

// Unsent is the number of answer bytes the peer has not taken.
func (p *Pipe) Unsent() int { return len(p.end.unsent) }

// Writes is the number of writes so far.
func (p *Pipe) Writes() int { return p.end.writes }

// Close is the peer closing the connection.
func (p *Pipe) Close() {
	p.runTasks()
	p.loop.stamp()
	p.loop.closed(p.conn, io.EOF)
}

func (p *Pipe) closed() error {
	if p.conn.gone.Load() {
		return *p.conn.cause.Load()
	}
	return nil
}

func (p *Pipe) post(fn func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tasks = append(p.tasks, fn)
}

func (p *Pipe) runTasks() {
	for {
		p.mu.Lock()
		tasks := p.tasks
		p.tasks = nil
		p.mu.Unlock()
		if len(tasks) == 0 {
			return
		}
		for _, task := range tasks {
			p.loop.stamp()
			task()
		}
	}
}

// give returns the answers taken since the last call, in memory of their own until the next.
func (e *pipeEnd) give() []byte {
	answers := e.taken[e.given:]
	e.given = len(e.taken)
	return answers
}

// take moves n unsent bytes, or b, to the peer.
func (e *pipeEnd) take(b []byte) {
	if e.given == len(e.taken) {
		e.taken, e.given = e.taken[:0], 0
	}
	e.taken = append(e.taken, b...)
}

// settle keeps what the read event left.
func (e *pipeEnd) settle() {
	e.old = append(e.old, e.fresh...)
	e.fresh = nil
}

func (e *pipeEnd) InboundBuffered() int { return len(e.old) + len(e.fresh) }

func (e *pipeEnd) Peek(n int) ([]byte, error) {
	switch {
	case n <= 0 || n > e.InboundBuffered():
		return nil, io.ErrShortBuffer
	case len(e.old) == 0:
		return e.fresh[:n], nil
	case n <= len(e.old):
		return e.old[:n], nil
	}
	e.scratch = append(append(e.scratch[:0], e.old...), e.fresh[:n-len(e.old)]...)
	return e.scratch, nil
}

func (e *pipeEnd) Discard(n int) (int, error) {
	if n <= 0 {
		return 0, io.ErrShortBuffer
	}
	fromOld := min(n, len(e.old))
	e.old = append(e.old[:0], e.old[fromOld:]...)
	e.fresh = e.fresh[n-fromOld:]
	return n, nil
}

func (e *pipeEnd) Write(b []byte) (int, error) {
	e.writes++
	return e.send(b), nil
}

func (e *pipeEnd) Writev(pieces [][]byte) (n int, err error) {
	e.writes++
	for _, b := range pieces {
		n += e.send(b)
	}
	return n, nil
}

func (e *pipeEnd) send(b []byte) int {
	if e.window < 0 && len(e.unsent) == 0 {
		e.take(b)
		return len(b)
	}
	e.unsent = append(e.unsent, b...)
	e.drain()
	return len(b)
}

func (e *pipeEnd) drain() {
	n := len(e.unsent)
	if e.window >= 0 {
		n = min(n, e.window)
		e.window -= n
	}
	e.take(e.unsent[:n])
	e.unsent = append(e.unsent[:0], e.unsent[n:]...)
}

func (e *pipeEnd) OutboundBuffered() int { return len(e.unsent) }
