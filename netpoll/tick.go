package netpoll

import (
	"math"
	"time"
)

// A loop's timer. gnet tells neither when an outbound buffer has drained nor when time has passed, so the loop looks for
// itself: every 2 to 50 ms while connections wait to go on, every 50 ms while any has unsent bytes, else once a wheel step.

const (
	hotTick  = 2 * time.Millisecond
	slowTick = 50 * time.Millisecond
)

type ticker struct {
	timer    *time.Timer
	quiet    time.Duration
	delay    time.Duration
	dueNanos int64
}

func (l *loop) startTicker() {
	l.ticker.delay = l.ticker.quiet
	l.ticker.dueNanos = l.nowNanos + int64(l.ticker.delay)
	l.ticker.timer = time.AfterFunc(l.ticker.delay, func() { l.post(l.tick) })
}

func (l *loop) tick() {
	late := l.nowNanos - l.ticker.dueNanos
	if limit := l.server.opts.FreezeThreshold; limit > 0 && late > int64(limit) {
		l.shiftNanos += late
		l.server.logFreeze(time.Duration(late))
	}
	next := l.ticker.quiet
	defer func() { l.rearm(next) }() // after a fault as well
	l.walkDraining()
	l.deadlines.advance(l.deadlineNow(), l.judge)
	waiting := l.walk.waiting
	switch {
	case l.walk.left > 0, waiting && l.walk.moved:
		next = hotTick
	case waiting:
		next = min(max(2*l.ticker.delay, hotTick), slowTick)
	case len(l.draining) > 0:
		next = min(slowTick, l.ticker.quiet)
	}
}

func (l *loop) rearm(delay time.Duration) {
	l.ticker.delay = delay
	l.ticker.dueNanos = l.nowNanos + int64(delay)
	if l.ticker.timer != nil {
		l.ticker.timer.Reset(delay)
	}
}

// hurry makes the next tick come soon, because a connection now waits for one.
func (l *loop) hurry() {
	if l.ticker.delay > hotTick {
		l.rearm(hotTick)
	}
}

// walkSlice is how many connections with unsent bytes a tick looks at: 0.2 ms' worth. With more of them
// ticks follow one another like hot ones until all were looked at.
const walkSlice = 1024

// unsentWalk is a walk over all connections with unsent bytes, a slice each tick. The loop's own.
type unsentWalk struct {
	left    int  // how many of loop.draining, from the first, are not looked at yet
	waiting bool // some want to go on or to end
	moved   bool // some have fewer unsent bytes than before
}

// walkDraining looks at the next connections with unsent bytes: lets them go on, closes them, or ends those of which nothing
// moves. It goes from the last to the first, because what is removed is replaced by the last, which was looked at before.
func (l *loop) walkDraining() {
	r := &l.walk
	if r.left = min(r.left, len(l.draining)); r.left == 0 {
		*r = unsentWalk{left: len(l.draining)}
	}
	for end := max(0, r.left-walkSlice); r.left > end; {
		r.left-- // before the look, so that a fault in it doesn't hold up the others
		c := l.draining[r.left]
		before := c.unsent.Load()
		l.lookUnsent(c)
		r.moved = r.moved || c.unsent.Load() < before
		switch {
		case c.closing && c.unsent.Load() == 0:
			l.end(c, ErrClosed)
		case c.stalled:
			l.resume(c)
		}
		if c.gone.Load() || c.drainIndex == 0 {
			continue
		}
		if reason := l.drains(c, l.crowded()); reason != nil {
			l.end(c, reason)
			continue
		}
		r.waiting = r.waiting || c.closing || c.stalled
	}
}

// judge ends a connection whose deadline has passed, or sets the next one.
func (l *loop) judge(c *Conn) {
	due, reason := l.deadline(c)
	if due <= l.deadlineNow() {
		l.deadlines.set(&c.timer, due) // a fault in what is asked leaves it to the next step
		if reason != ErrIdle || l.server.opts.Idle == nil || l.server.opts.Idle(c) {
			l.end(c, reason)
			return
		}
		c.lastNanos = l.deadlineNow()
		due, _ = l.deadline(c)
	}
	l.deadlines.set(&c.timer, due)
}

// deadline is when c ends if nothing happens, and why.
func (l *loop) deadline(c *Conn) (dueNanos int64, reason error) {
	dueNanos = math.MaxInt64
	if d := time.Duration(l.server.idle.Load()); d > 0 {
		dueNanos, reason = c.lastNanos+int64(d), ErrIdle
	}
	if d := l.server.opts.HalfFrameTimeout; d > 0 && c.halfNanos != 0 {
		half := c.halfNanos + int64(d) + int64(c.held/halfFramePerSec)*int64(time.Second)
		half = min(half, c.lastNanos+int64(d)) // what came buys time for what comes on, not for a pause
		if half < dueNanos {
			dueNanos, reason = half, ErrHalfFrame
		}
	}
	if d := l.server.opts.HandshakeTimeout; d > 0 && c.stage == stageTLS {
		if over := c.tls.Load().since + int64(d); over < dueNanos {
			dueNanos, reason = over, ErrTLSTimeout
		}
	}
	return dueNanos, reason
}
