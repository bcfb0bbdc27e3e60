package netpoll

import (
	"testing"
	"time"
)

// countedEnd counts how often its loop asks what is unsent.
type countedEnd struct {
	pipeEnd
	looks int
}

func (e *countedEnd) OutboundBuffered() int {
	e.looks++
	return e.pipeEnd.OutboundBuffered()
}

// unsentLoop is a loop with n connections that have each unsent bytes.
func unsentLoop(n int, o Options) (*loop, *fakeClock, []*Conn, []*countedEnd) {
	clock := &fakeClock{}
	o.Now = clock.now
	o.setDefaults()
	l := newLoop(newServer(o), 0, newEcho().NewLoop())
	l.pipe = &Pipe{loop: l}
	conns, ends := make([]*Conn, n), make([]*countedEnd, n)
	for i := range conns {
		ends[i] = &countedEnd{pipeEnd: pipeEnd{unsent: []byte("never taken")}}
		conns[i] = &Conn{id: uint64(i + 1), peer: "192.0.2.9:4711", loop: l, io: ends[i]}
		l.opened(conns[i])
		l.lookUnsent(conns[i])
		ends[i].looks = 0
	}
	return l, clock, conns, ends
}

// Tens of thousands of connections that don't read cost a tick a bounded number of looks, though the next ones are soon; none is
// left out, and those that stall or have sent all end as they do when they are few.
func TestTickLooksAtSomeOfMany(t *testing.T) {
	const n, stall = 10*walkSlice + 7, 30 * time.Second
	l, clock, conns, ends := unsentLoop(n, Options{StallTimeout: stall, FreezeThreshold: -1})
	ticks := func() (looks, ticks int) {
		for ticks == 0 || l.walk.left > 0 {
			before := sum(ends)
			l.stamp()
			l.tick()
			ticks++
			if seen := sum(ends) - before; seen > walkSlice {
				t.Fatalf("%d looks in a tick, want %d at most", seen, walkSlice)
			}
			if l.walk.left > 0 && l.ticker.delay != hotTick {
				t.Fatalf("the next of %d come after %v, want %v", l.walk.left, l.ticker.delay, hotTick)
			}
			looks = sum(ends)
		}
		return looks, ticks
	}
	if looks, ticks := ticks(); looks != n || ticks != 11 {
		t.Errorf("%d looks in %d ticks, want %d in 11", looks, ticks, n)
	}
	if l.ticker.delay != slowTick {
		t.Errorf("after all of them the next tick comes after %v, want %v", l.ticker.delay, slowTick)
	}

	// A third has sent all, and another is closing; others go in the middle of a walk.
	for i := 0; i < n; i += 3 {
		ends[i].unsent = nil
		if i%2 == 0 {
			conns[i].closing = true
		}
	}
	l.tick()
	for i := 1; i < n; i += 30 {
		l.end(conns[i], ErrClosed)
	}
	ticks()
	for i, c := range conns {
		want := i%6 == 0 || i%30 == 1
		if got := c.gone.Load(); got != want {
			t.Fatalf("connection %d: gone %v, want %v", i, got, want)
		}
		if inWalk := c.drainIndex > 0; inWalk == (i%3 == 0 || want) {
			t.Fatalf("connection %d: walked over %v", i, inWalk)
		}
	}

	clock.nanos += int64(stall)
	ticks()
	for i, c := range conns {
		if want := i%3 != 0 || i%6 == 0; c.gone.Load() != want {
			t.Fatalf("after the deadline connection %d: gone %v, want %v", i, c.gone.Load(), want)
		}
	}
}

func sum(ends []*countedEnd) (looks int) {
	for _, e := range ends {
		looks += e.looks
	}
	return looks
}

// BenchmarkTick is a tick beside 20,000 connections of which nothing moves.
func BenchmarkTick(b *testing.B) {
	l, _, _, _ := unsentLoop(20_000, Options{})
	b.ReportAllocs()
	for b.Loop() {
		l.tick()
	}
}
