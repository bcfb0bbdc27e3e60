package namesrv

import (
	"sync/atomic"
	"testing"
	"time"
)

// fakeClock is time that only a test moves.
type fakeClock struct {
	now      atomic.Int64
	next     int64 // when the next tick is due; the test's own
	interval time.Duration
	ticks    chan time.Time
}

func newFakeClock() *fakeClock {
	c := &fakeClock{ticks: make(chan time.Time)}
	c.now.Store(int64(time.Hour))
	return c
}

func (c *fakeClock) Now() int64 { return c.now.Load() }

func (c *fakeClock) Tick(d time.Duration) (<-chan time.Time, func()) {
	c.interval = d
	c.next = c.now.Load() + int64(d)
	return c.ticks, func() {}
}

// advance lets the time go by. Each tick comes exactly when it is due and is
// worked off before the time goes on.
func (s *testServer) advance(d time.Duration) {
	s.t.Helper()
	target := s.clock.now.Load() + int64(d)
	for s.clock.next <= target {
		s.clock.now.Store(s.clock.next)
		s.tick()
	}
	s.clock.now.Store(target)
}

// freeze lets the time go by without a tick, then ticks once: the process stood still.
func (s *testServer) freeze(d time.Duration) {
	s.t.Helper()
	s.clock.now.Add(int64(d))
	s.tick()
}

// sendTick makes the writer look at the clock.
func (s *testServer) sendTick() {
	s.t.Helper()
	select {
	case s.clock.ticks <- time.Time{}:
	case <-time.After(waitLimit):
		s.t.Fatal("the writer takes no tick")
	}
}

func (s *testServer) tick() {
	s.t.Helper()
	s.sendTick()
	s.clock.next = s.clock.now.Load() + int64(s.clock.interval)
	// The writer has begun a scan if one was due; the loops answer it; the writer expires.
	s.barrier()
	for range 2 {
		heard := make(chan struct{})
		s.net.Barrier(func() { close(heard) })
		s.await(heard, "the loops to have read what came")
	}
	s.barrier()
}

func TestFakeClock(t *testing.T) {
	s := start(t)
	before := s.clock.Now()
	s.advance(12 * time.Second)
	if got := time.Duration(s.clock.Now() - before); got != 12*time.Second {
		t.Errorf("%v went by, want 12 s", got)
	}
	if got, want := time.Duration(s.clock.next-before), 12*time.Second+pulse; got != want {
		t.Errorf("next tick at %v, want %v", got, want)
	}
	if lines := s.logged("stood still"); len(lines) > 0 {
		t.Errorf("punctual ticks were taken for late ones: %s", lines)
	}
}
