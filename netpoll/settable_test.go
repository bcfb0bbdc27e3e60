package netpoll

import (
	"bytes"
	"testing"
	"time"
)

// another opens one more connection on a pipe's loop.
func (p *Pipe) another(id uint64) *Conn {
	c := &Conn{id: id, peer: "pipe", loop: p.loop, io: &pipeEnd{window: -1}}
	p.loop.server.count.Add(1)
	p.loop.opened(c)
	return c
}

func TestSetIdleTimeout(t *testing.T) {
	const long, short = 20 * time.Second, 5 * time.Second
	t.Run("shorter, for new connections at once", func(t *testing.T) {
		h := newEcho()
		p, clock := newTestPipe(h, Options{IdleTimeout: long})
		p.loop.server.SetIdleTimeout(short)
		c := p.another(2)
		if err := clock.pass(p, short-time.Second); err != nil || c.gone.Load() {
			t.Fatalf("too early: the old one %v, the new one %v", err, h.reasons[2])
		}
		if err := clock.pass(p, 2*time.Second); err != nil {
			t.Fatalf("the old one: %v", err)
		}
		h.waitClosed(t, ErrIdle)
		if !c.gone.Load() {
			t.Fatal("the old one went, the new one didn't")
		}
		if err := clock.pass(p, long); err != ErrIdle {
			t.Fatalf("the old one: got %v, want %v", err, ErrIdle)
		}
	})
	t.Run("longer, also for those that are there", func(t *testing.T) {
		p, clock := newTestPipe(newEcho(), Options{IdleTimeout: short})
		p.loop.server.SetIdleTimeout(long)
		if err := clock.pass(p, long-time.Second); err != nil {
			t.Fatalf("too early: %v", err)
		}
		if err := clock.pass(p, 2*time.Second); err != ErrIdle {
			t.Fatalf("got %v, want %v", err, ErrIdle)
		}
	})
	t.Run("never", func(t *testing.T) {
		p, clock := newTestPipe(newEcho(), Options{IdleTimeout: short})
		p.loop.server.SetIdleTimeout(-1)
		if err := clock.pass(p, time.Minute); err != nil {
			t.Fatal(err)
		}
	})
}

func TestHighWaterBytes(t *testing.T) {
	answer := bytes.Repeat([]byte("a"), 10*kib)
	for _, tt := range []struct {
		name   string
		option int
		frames int // answered to a peer that reads nothing
	}{
		{"default", 0, 26},
		{"lower", 50 * kib, 6},
		{"higher", 500 * kib, 51},
		{"below one answer", 1, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := newEcho()
			frames := 0
			h.onFrame = func(_ *Conn, dst, _ []byte) ([]byte, error) {
				frames++
				return append(dst, answer...), nil
			}
			p, _ := newTestPipe(h, Options{HighWaterBytes: tt.option})
			p.SetWindow(0)
			mustFeed(t, p, bytes.Repeat(frameOf("give"), 100))
			if frames != tt.frames {
				t.Errorf("%d frames answered, want %d", frames, tt.frames)
			}
		})
	}
}
