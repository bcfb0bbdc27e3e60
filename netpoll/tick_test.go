package netpoll

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

// A fault in a tick skips neither the ticks after it nor the deadline that it was about.
func TestFaultInATick(t *testing.T) {
	h, asked := newEcho(), 0
	s := startServer(t, h, Options{EventLoops: 1, IdleTimeout: 50 * time.Millisecond, Idle: func(*Conn) bool {
		if asked++; asked == 1 {
			panic("boom")
		}
		return true
	}})
	dial(t, s)
	h.waitClosed(t, ErrIdle)
	if n := stats(t, s).Panics; n != 1 {
		t.Errorf("%d faults counted, want 1", n)
	}
}

func TestIdle(t *testing.T) {
	const limit = 5 * time.Second
	t.Run("never sent anything", func(t *testing.T) {
		p, clock := newTestPipe(newEcho(), Options{IdleTimeout: limit})
		if err := clock.pass(p, limit-time.Millisecond); err != nil {
			t.Fatalf("too early: %v", err)
		}
		if err := clock.pass(p, limit/10); err != ErrIdle {
			t.Fatalf("got %v, want %v", err, ErrIdle)
		}
	})
	t.Run("traffic moves it", func(t *testing.T) {
		p, clock := newTestPipe(newEcho(), Options{IdleTimeout: limit})
		for range 10 {
			if err := clock.pass(p, limit*9/10); err != nil {
				t.Fatal(err)
			}
			mustFeed(t, p, frameOf("x"))
		}
		if err := clock.pass(p, limit*11/10); err != ErrIdle {
			t.Fatalf("got %v, want %v", err, ErrIdle)
		}
	})
	t.Run("a Send moves it", func(t *testing.T) {
		p, clock := newTestPipe(newEcho(), Options{IdleTimeout: limit})
		for range 3 {
			if err := clock.pass(p, limit*9/10); err != nil {
				t.Fatal(err)
			}
			p.Conn().Send([]byte("pushed"))
		}
	})
	t.Run("asked", func(t *testing.T) {
		asked, idle := 0, false
		p, clock := newTestPipe(newEcho(), Options{IdleTimeout: limit, Idle: func(*Conn) bool { asked++; return idle }})
		if err := clock.pass(p, limit*35/10); err != nil || asked != 3 {
			t.Fatalf("asked %d times, want 3: %v", asked, err)
		}
		idle = true
		if err := clock.pass(p, limit); err != ErrIdle {
			t.Fatalf("got %v, want %v", err, ErrIdle)
		}
	})
	t.Run("never", func(t *testing.T) {
		p, clock := newTestPipe(newEcho(), Options{IdleTimeout: -1})
		if err := clock.pass(p, time.Hour/10); err != nil {
			t.Fatal(err)
		}
	})
}

func TestHalfFrame(t *testing.T) {
	o := Options{IdleTimeout: 120 * time.Second, HalfFrameTimeout: 10 * time.Second}
	t.Run("dripping", func(t *testing.T) {
		p, clock := newTestPipe(newEcho(), o)
		f := frameOf(strings.Repeat("x", 1000))
		var err error
		seconds := 0
		for ; err == nil && seconds < 100; seconds++ {
			if err = clock.pass(p, time.Second); err == nil {
				_, err = p.Feed(f[seconds : seconds+1])
			}
		}
		if err != ErrHalfFrame || seconds < 10 || seconds > 12 {
			t.Fatalf("ended after %d s for %v", seconds, err)
		}
	})
	t.Run("large and slow but steady", func(t *testing.T) {
		p, clock := newTestPipe(newEcho(), o)
		f := bigFrame(1 << 20)
		for i := 0; i < len(f); i += 32 * kib {
			if err := clock.pass(p, time.Second); err != nil {
				t.Fatalf("after %d bytes: %v", i, err)
			}
			mustFeed(t, p, f[i:i+32*kib])
		}
	})
	t.Run("large and then nothing", func(t *testing.T) {
		p, clock := newTestPipe(newEcho(), o)
		mustFeed(t, p, bigFrame(1 << 20)[:512*kib])
		if err := clock.pass(p, 9*time.Second); err != nil {
			t.Fatal(err)
		}
		if err := clock.pass(p, 2*time.Second); err != ErrHalfFrame {
			t.Fatalf("got %v, want %v", err, ErrHalfFrame)
		}
	})
	t.Run("each frame anew", func(t *testing.T) {
		p, clock := newTestPipe(newEcho(), o)
		f := frameOf("0123456789")
		mustFeed(t, p, f[:10])
		for range 30 {
			if err := clock.pass(p, time.Second); err != nil {
				t.Fatal(err)
			}
			mustFeed(t, p, append(bytes.Clone(f[10:]), f[:10]...))
		}
	})
}

func TestFreezeMovesDeadlines(t *testing.T) {
	p, clock := newTestPipe(newEcho(), Options{IdleTimeout: 10 * time.Second})
	if err := clock.pass(p, 8*time.Second); err != nil {
		t.Fatal(err)
	}
	clock.nanos += int64(time.Hour)
	if _, err := p.Tick(); err != nil {
		t.Fatalf("the hour counted: %v", err)
	}
	if err := clock.pass(p, 1500*time.Millisecond); err != nil {
		t.Fatalf("the hour counted: %v", err)
	}
	if err := clock.pass(p, time.Second); err != ErrIdle {
		t.Fatalf("got %v, want %v: the time before the hour counts", err, ErrIdle)
	}
}

func TestWheelKeepsEveryDeadline(t *testing.T) {
	for _, tc := range []struct {
		name   string
		stride int64
	}{
		{"small steps", 97},
		{"almost a turn at once", 1270},
		{"several turns at once", 5000},
	} {
		t.Run(tc.name, func(t *testing.T) { wheelKeepsEveryDeadline(t, tc.stride) })
	}
}

func wheelKeepsEveryDeadline(t *testing.T, stride int64) {
	const step = 10
	var w wheel
	w.init(step, 5)
	due := map[int64]bool{}
	for i := range int64(400) {
		c := &Conn{id: uint64(i)}
		c.timer.conn = c
		w.set(&c.timer, i*37) // up to 12 turns ahead
		if i%3 == 0 {
			w.set(&c.timer, i*29)
		}
		if i%7 == 0 {
			w.remove(&c.timer)
			w.remove(&c.timer)
		} else {
			due[i] = true
		}
	}
	for now := int64(0); now < 15_000+2*stride; now += 1 + now%stride {
		w.advance(now, func(c *Conn) {
			if c.timer.dueNanos > now {
				w.set(&c.timer, c.timer.dueNanos)
				return
			}
			if !due[int64(c.id)] {
				t.Fatalf("entry %d came twice or was removed", c.id)
			}
			if late := now - c.timer.dueNanos; late > stride+2*step {
				t.Fatalf("entry %d came %d late", c.id, late)
			}
			delete(due, int64(c.id))
		})
	}
	if len(due) != 0 {
		t.Fatalf("%d entries never came", len(due))
	}
}
