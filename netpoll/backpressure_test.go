package netpoll

import (
	"bytes"
	"errors"
	"net"
	"testing"
	"time"
)

func TestBackPressure(t *testing.T) {
	answer := bytes.Repeat([]byte("a"), 10*kib)
	h := newEcho()
	frames := 0
	h.onFrame = func(_ *Conn, dst, _ []byte) ([]byte, error) {
		frames++
		return append(dst, answer...), nil
	}
	const total = 500
	requests := bytes.Repeat(frameOf("give"), total)

	t.Run("stops and goes on", func(t *testing.T) {
		frames = 0
		p, clock := newTestPipe(h, Options{})
		p.SetWindow(0)
		mustFeed(t, p, requests)
		if want := highWaterBytes/len(answer) + 1; frames != want {
			t.Fatalf("%d frames cut at a peer that reads nothing, want %d", frames, want)
		}
		got := 0
		for step := 0; got < total*len(answer); step++ {
			if step > 10_000 {
				t.Fatalf("only %d of %d bytes arrived", got, total*len(answer))
			}
			p.SetWindow(30 * kib)
			clock.nanos += int64(50 * time.Millisecond)
			a, err := p.Tick()
			if err != nil {
				t.Fatal(err)
			}
			got += len(a)
			if p.Unsent() > highWaterBytes+2*len(answer) {
				t.Fatalf("%d bytes unsent", p.Unsent())
			}
		}
		if frames != total {
			t.Fatalf("%d frames handled, want %d", frames, total)
		}
	})
	t.Run("input is bounded", func(t *testing.T) {
		p, _ := newTestPipe(h, Options{MaxFrameBytes: 1 << 20})
		p.SetWindow(0)
		var err error
		fed := 0
		for ; err == nil && fed < 4<<20; fed += len(requests) {
			_, err = p.Feed(requests)
		}
		if err != ErrInputOverflow || fed > 1<<20+4*64*kib {
			t.Fatalf("%v after %d bytes", err, fed)
		}
		if p.loop.held.Load() != 0 || p.loop.unsent.Load() != 0 {
			t.Fatal("still counted after the end")
		}
	})
	t.Run("input is bounded sooner over the budget", func(t *testing.T) {
		p, _ := newTestPipe(h, Options{MaxHeldBytes: 256 * kib})
		p.SetWindow(0)
		var err error
		fed := 0
		for ; err == nil && fed < 4<<20; fed += len(requests) {
			_, err = p.Feed(requests)
		}
		if err != ErrInputOverflow || fed > 256*kib {
			t.Fatalf("%v after %d bytes", err, fed)
		}
	})
	t.Run("a peer that takes nothing is ended", func(t *testing.T) {
		p, clock := newTestPipe(h, Options{StallTimeout: 10 * time.Second})
		p.SetWindow(0)
		mustFeed(t, p, requests)
		if err := clock.pass(p, 9*time.Second); err != nil {
			t.Fatal(err)
		}
		p.SetWindow(1) // a sign of life
		if err := clock.pass(p, 9*time.Second); err != nil {
			t.Fatal(err)
		}
		if err := clock.pass(p, 2*time.Second); err != ErrStalled {
			t.Fatalf("got %v, want %v", err, ErrStalled)
		}
	})
	t.Run("less for each over the budget", func(t *testing.T) {
		frames = 0
		p, _ := newTestPipe(h, Options{MaxUnsentBytes: 64 * kib})
		p.SetWindow(0)
		mustFeed(t, p, requests[:len(frameOf("give"))*10])
		if p.loop.server.Overloaded() != true || !p.Conn().Overloaded() {
			t.Fatal("not overloaded")
		}
		before := frames
		p.SetWindow(1)
		mustFeed(t, p, requests[:len(frameOf("give"))*10])
		if frames != before {
			t.Fatalf("%d more frames answered over the budget", frames-before)
		}
	})
}

// TestHeldBudgetEndsWhoHolds: peers that begin large frames and don't go on use the budget up; who sends a large frame then is
// handled, and it is they who are ended, the first of them first.
func TestHeldBudgetEndsWhoHolds(t *testing.T) {
	for _, loops := range []int{1, 2} {
		s := startServer(t, newEcho(), Options{EventLoops: loops, MaxHeldBytes: 1 << 20})
		var holders []net.Conn
		for i := range 4 * loops { // no more than the budget
			c := dial(t, s)
			send(t, c, bigFrame(1 << 20)[:250*kib/loops])
			holders = append(holders, c)
			waitFor(t, "what they hold", func() bool { return s.heldBytes() == int64((i+1)*(250*kib/loops)) })
		}
		for range 3 {
			c := dial(t, s)
			whole := bigFrame(400 * kib)
			send(t, c, whole[:300*kib]) // over the budget
			send(t, c, whole[300*kib:])
			expect(t, c, whole)
		}
		expectEnd(t, holders[0])
	}
}

// TestOverloadedIsWhoOwes: beside others that take nothing, a connection that does isn't to be refused small answers.
func TestOverloadedIsWhoOwes(t *testing.T) {
	p, _ := newTestPipe(newEcho(), Options{MaxUnsentBytes: 64 * kib})
	p.loop.unsent.Add(1 << 20) // another connection's
	if c := p.Conn(); c.Overloaded() || !c.LoopOverloaded() {
		t.Errorf("owes nothing: overloaded %v, its loop %v", c.Overloaded(), c.LoopOverloaded())
	}
	p.SetWindow(3)
	mustFeed(t, p, frameOf("x"))
	if c := p.Conn(); !c.Overloaded() {
		t.Error("owes something: not overloaded")
	}
	p.SetWindow(-1)
	p.Conn().Send([]byte("x"))
	if c := p.Conn(); !c.Overloaded() {
		t.Error("something is queued: not overloaded")
	}
}

func TestErrorWaitsForUnsent(t *testing.T) {
	h := newEcho()
	h.onFrame = func(_ *Conn, dst, _ []byte) ([]byte, error) { return append(dst, "bye"...), errBadRequest }
	p, clock := newTestPipe(h, Options{})
	p.SetWindow(1)
	if a := mustFeed(t, p, append(frameOf("bad"), frameOf("more")...)); string(a) != "b" {
		t.Fatalf("got %q", a)
	}
	mustFeed(t, p, frameOf("ignored"))
	p.SetWindow(-1)
	clock.nanos += int64(time.Millisecond)
	a, err := p.Tick()
	if string(a) != "ye" || !errors.Is(err, errBadRequest) {
		t.Fatalf("got %q, %v", a, err)
	}
	if p.loop.counts.frames != 1 {
		t.Fatalf("%d frames handled", p.loop.counts.frames)
	}
}

func TestSendLimit(t *testing.T) {
	h := newEcho()
	p, _ := newTestPipe(h, Options{MaxConnUnsentBytes: 1000})
	p.SetWindow(0)
	if !p.Conn().Send(make([]byte, 600)) || p.Conn().Send(make([]byte, 600)) {
		t.Fatal("limit not kept")
	}
	if _, err := p.Tick(); err != ErrUnsentLimit {
		t.Fatalf("got %v", err)
	}
	if n := p.loop.unsentBytes(); n != 0 {
		t.Fatalf("%d bytes still counted", n)
	}
}
