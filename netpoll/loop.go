package netpoll

import (
	"context"
	"errors"
	"io"
	"sync/atomic"
	"time"

	"github.com/panjf2000/gnet/v2"
	"golang.org/x/sys/cpu"
)

// loop is the state of one event loop. Fields that aren't atomic are touched on its goroutine only.
type loop struct {
	server  *Server
	index   int
	handler LoopHandler
	finish  func() // handler's Finished, if it has one
	engine  gnet.EventLoop
	anchor  *anchor
	pipe    *Pipe // instead of engine

	nowNanos   int64    // Options.Now at the start of the current event
	shiftNanos int64    // how long the process stood still in all; deadlines are kept in nowNanos - shiftNanos
	out        []byte   // answers that are to be written
	tail       []byte   // what follows them: Conn.Follow
	plain      []byte   // plain input of the connection inside TLS in hand
	sealed     []byte   // its records that are to be written
	pieces     [][]byte // out and tail, for one write
	draining   []*Conn
	walk       unsentWalk // over draining
	deadlines  wheel
	ticker     ticker
	counts     counters
	mostUnsent int64 // the loop's share of Options.MaxUnsentBytes

	_      cpu.CacheLinePad // what follows is written by other goroutines too, or read by them
	unsent atomic.Int64     // sum of Conn.unsent and unsentExtra
	async  atomic.Int64     // sum of Conn.queued
	held   atomic.Int64     // sum of Conn.held and heldExtra
	users  atomic.Int64     // goroutines inside post or Send: the engine must not be stopped under them
	pool   framePool        // memory of large frames
}

func newLoop(s *Server, index int, h LoopHandler) *loop {
	l := &loop{server: s, index: index, handler: h, out: make([]byte, 0, 64*kib)}
	if f, ok := h.(Finisher); ok {
		l.finish = f.Finished
	}
	l.mostUnsent = s.opts.MaxUnsentBytes / int64(s.opts.EventLoops)
	l.pool.init(s.opts.EventLoops, s.opts.FramePoolBytes)
	l.stamp()
	l.deadlines.init(wheelStep(&s.opts), l.nowNanos)
	l.ticker.quiet = time.Duration(l.deadlines.stepNanos)
	return l
}

// wheelStep makes deadlines exact to about 1.5 %, between 5 ms and 1 s.
func wheelStep(o *Options) int64 {
	shortest := time.Minute
	for _, d := range [...]time.Duration{o.IdleTimeout, o.HalfFrameTimeout, o.StallTimeout} {
		if d > 0 {
			shortest = min(shortest, d)
		}
	}
	return int64(min(max(shortest/64, 5*time.Millisecond), time.Second))
}

// stamp reads the clock, once for each event.
func (l *loop) stamp() { l.nowNanos = l.server.opts.Now() }

// deadlineNow is the time deadlines are measured in: it stands still while the process does.
func (l *loop) deadlineNow() int64 { return l.nowNanos - l.shiftNanos }

func (l *loop) unsentBytes() int64 { return l.unsent.Load() + l.async.Load() }

// overloaded reports that more is unsent than the loop's share.
func (l *loop) overloaded() bool { return l.unsentBytes() > l.mostUnsent }

// crowded reports that more than half of it is.
func (l *loop) crowded() bool { return l.unsentBytes() > l.mostUnsent/2 }

// enter keeps the engine alive until leave; false after it was stopped. gnet's wake-up descriptor is closed with the
// engine and its number reused, so a call that came late would write into somebody else's file.
func (l *loop) enter() bool {
	l.users.Add(1)
	if l.server.stopped.Load() {
		l.users.Add(-1)
		return false
	}
	return true
}

func (l *loop) leave() { l.users.Add(-1) }

// post runs fn on the loop, later. Any goroutine.
func (l *loop) post(fn func()) {
	if l.pipe != nil {
		l.pipe.post(fn)
		return
	}
	if !l.enter() {
		return
	}
	defer l.leave()
	_ = l.engine.Execute(context.Background(), gnet.RunnableFunc(func(context.Context) error {
		l.stamp()
		defer l.recovered(nil)
		fn()
		return nil
	}))
}

// opened makes c part of the loop.
func (l *loop) opened(c *Conn) {
	l.stamp()
	defer l.recovered(c)
	now := l.deadlineNow()
	c.lastNanos, c.want = now, lengthBytes
	c.timer.conn = c
	due, _ := l.deadline(c)
	l.deadlines.set(&c.timer, due)
	l.server.conns.Store(c.id, c)
	l.counts.opened++
	c.opened = true
	l.handler.Open(c, l.nowNanos)
}

// end closes c now, with one attempt to write what is unsent.
func (l *loop) end(c *Conn, reason error) {
	if c.gone.Load() {
		return
	}
	c.setCause(reason)
	if e := c.tls.Load(); e != nil {
		if e.goodbye(); c.gone.Load() {
			return
		}
	}
	if c.sock != nil {
		_ = l.engine.Close(c.sock) // calls closed
		return
	}
	l.closed(c, reason)
}

// endFlushed closes c as soon as what is unsent has left; the stall deadline bounds the wait.
func (l *loop) endFlushed(c *Conn, reason error) {
	c.setCause(reason)
	if c.unsent.Load() == 0 {
		l.end(c, reason)
		return
	}
	c.closing, c.stalled = true, false
	c.moveNanos = l.deadlineNow()
	l.dropInput(c)
	l.hurry()
}

// closed is the end of c, however it came; err is what the engine saw.
func (l *loop) closed(c *Conn, err error) {
	if c.gone.Swap(true) {
		return
	}
	switch {
	case err == nil && l.server.stopped.Load():
		err = ErrServerClosed
	case err == nil:
		err = ErrClosed
	case errors.Is(err, io.EOF):
		err = io.EOF
	}
	c.setCause(err)
	reason := *c.cause.Load()

	l.deadlines.remove(&c.timer)
	l.setUnsent(c, 0)
	l.setHeld(c, 0)
	c.dropLarge()
	if e := c.tls.Load(); e != nil {
		l.closedTLS(e)
	}
	l.server.conns.Delete(c.id)
	l.counts.closed[kindOf(reason)]++
	l.server.logClose(c, reason)
	if c.opened {
		c.opened = false
		l.callClose(c, reason)
	}
	l.server.released()
}

func (l *loop) callClose(c *Conn, reason error) {
	defer l.recovered(nil)
	l.handler.Close(c, reason, l.nowNanos)
}

// recovered is deferred round everything that calls a handler. c, if any, is the connection that pays.
func (l *loop) recovered(c *Conn) {
	r := recover()
	if r == nil {
		return
	}
	l.counts.panics++
	l.tail = nil // of an answer that wasn't begun
	l.server.logPanic(c, r)
	if c != nil && !c.gone.Load() && l.flush(c) {
		l.end(c, ErrPanic)
	}
}
