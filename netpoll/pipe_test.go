package netpoll

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"
)

// fakeClock is Options.Now under a test's control.
type fakeClock struct{ nanos int64 }

func (f *fakeClock) now() int64 { return f.nanos }

// pass moves the clock in small steps and ticks after each, until the connection ends or all of d has passed.
func (f *fakeClock) pass(p *Pipe, d time.Duration) error {
	const step = 250 * time.Millisecond
	for ; d > 0; d -= step {
		f.nanos += int64(min(d, step))
		if _, err := p.Tick(); err != nil {
			return err
		}
	}
	return nil
}

func newTestPipe(h *echoHandler, o Options) (*Pipe, *fakeClock) {
	clock := &fakeClock{nanos: int64(time.Hour)}
	o.Logger, o.Now = quietLogger(), clock.now
	return NewPipe(h.NewLoop(), o), clock
}

func mustFeed(t *testing.T, p *Pipe, b []byte) []byte {
	t.Helper()
	answers, err := p.Feed(b)
	if err != nil {
		t.Fatalf("closed: %v", err)
	}
	return bytes.Clone(answers)
}

func TestPipeCutsEverywhere(t *testing.T) {
	stream := bytes.Join([][]byte{
		[]byte("PROXY TCP4 192.0.2.1 192.0.2.2 1000 2000\r\n"),
		frameOf("first"), frameOf(""), frameOf(strings.Repeat("long ", 6)), frameOf("last"),
	}, nil)
	want := stream[bytes.IndexByte(stream, '\n')+1:]
	for i := range stream {
		for j := i; j <= len(stream); j++ {
			h := newEcho()
			p, _ := newTestPipe(h, Options{})
			var got []byte
			for _, part := range [][]byte{stream[:i], stream[i:j], stream[j:]} {
				got = append(got, mustFeed(t, p, part)...)
			}
			if !bytes.Equal(got, want) {
				t.Fatalf("cut at %d and %d: got %q", i, j, got)
			}
			if a := p.Conn().RemoteAddr(); a != "192.0.2.1:1000" {
				t.Fatalf("cut at %d and %d: address %q", i, j, a)
			}
		}
	}
}

func TestPipeByteByByte(t *testing.T) {
	h := newEcho()
	p, _ := newTestPipe(h, Options{})
	var stream, got []byte
	for i := range 50 {
		stream = append(stream, frameOf(strings.Repeat("x", i))...)
	}
	for _, b := range stream {
		got = append(got, mustFeed(t, p, []byte{b})...)
	}
	if !bytes.Equal(got, stream) {
		t.Fatal("answers differ")
	}
	p.Close()
	p.Close()
	if got := h.reasons[1]; len(got) != 1 || got[0] != io.EOF {
		t.Fatalf("ended for %v", got)
	}
	if _, err := p.Feed(frameOf("late")); err != io.EOF {
		t.Fatalf("Feed after the end: %v", err)
	}
}

// TestPipeLooksOnceAtALargeFrame counts peeks through copies: an incomplete frame must not be copied at each read.
func TestPipeLooksOnceAtALargeFrame(t *testing.T) {
	p, _ := newTestPipe(newEcho(), Options{})
	mustFeed(t, p, frameOf("first"))
	f := bigFrame(1 << 20)
	for i := 0; i < len(f)-1; i += 64 * kib {
		mustFeed(t, p, f[i:min(i+64*kib, len(f)-1)])
		if len(p.end.scratch) != 0 {
			t.Fatalf("copied %d bytes after %d had come", len(p.end.scratch), i)
		}
	}
	if got := mustFeed(t, p, f[len(f)-1:]); !bytes.Equal(got, f) {
		t.Fatal("answer differs")
	}
}

func TestSniff(t *testing.T) {
	v2 := func(command, family byte, addresses string) string {
		return string(proxyV2Magic) + string([]byte{command, family, byte(len(addresses) >> 8), byte(len(addresses))}) + addresses
	}
	v4 := "\xc0\x00\x02\x01\xc0\x00\x02\x02\x03\xe8\x07\xd0" // 192.0.2.1:1000 to 192.0.2.2:2000
	v6 := "\x20\x01\x0d\xb8" + strings.Repeat("\x00", 11) + "\x01" + strings.Repeat("\x00", 16) + "\x03\xe8\x07\xd0"
	const plain = "pipe"
	for _, tc := range []struct {
		name, head, addr string
		err              error
	}{
		{"frames", "", plain, nil},
		{"v1 TCP4", "PROXY TCP4 192.0.2.1 192.0.2.2 1000 2000\r\n", "192.0.2.1:1000", nil},
		{"v1 TCP6", "PROXY TCP6 2001:db8::1 2001:db8::2 1000 2000\r\n", "[2001:db8::1]:1000", nil},
		{"v1 UNKNOWN", "PROXY UNKNOWN\r\n", plain, nil},
		{"v1 UNKNOWN with addresses", "PROXY UNKNOWN ffff::1 ffff::2 1 2\r\n", plain, nil},
		{"v1 longest", "PROXY UNKNOWN " + strings.Repeat("f", 107-16) + "\r\n", plain, nil},
		{"v1 too long", "PROXY UNKNOWN " + strings.Repeat("f", 107-15) + "\r\n", "", ErrProxyHeader},
		{"v1 no end", "PROXY TCP4 " + strings.Repeat("1", 200), "", ErrProxyHeader},
		{"v1 wrong family", "PROXY TCP4 2001:db8::1 2001:db8::2 1000 2000\r\n", "", ErrProxyHeader},
		{"v1 bad address", "PROXY TCP4 1.2.3 192.0.2.2 1000 2000\r\n", "", ErrProxyHeader},
		{"v1 bad port", "PROXY TCP4 192.0.2.1 192.0.2.2 65536 2000\r\n", "", ErrProxyHeader},
		{"v1 port with zeros", "PROXY TCP4 192.0.2.1 192.0.2.2 01000 2000\r\n", "", ErrProxyHeader},
		{"v1 field missing", "PROXY TCP4 192.0.2.1 192.0.2.2 1000\r\n", "", ErrProxyHeader},
		{"v1 word run on", "PROXYTCP4 192.0.2.1 192.0.2.2 1000 2000\r\n", "", ErrProxyHeader},
		{"v2 TCP4", v2(0x21, 0x11, v4), "192.0.2.1:1000", nil},
		{"v2 TCP4 with TLVs", v2(0x21, 0x11, v4+"\x05\x00\x02ab"), "192.0.2.1:1000", nil},
		{"v2 TCP6", v2(0x21, 0x21, v6), "[2001:db8::1]:1000", nil},
		{"v2 LOCAL", v2(0x20, 0x00, ""), plain, nil},
		{"v2 UNSPEC", v2(0x21, 0x00, ""), plain, nil},
		{"v2 unix", v2(0x21, 0x31, strings.Repeat("\x00", 216)), plain, nil},
		{"v2 addresses cut off", v2(0x21, 0x11, v4[:11]), "", ErrProxyHeader},
		{"v2 version 1", v2(0x11, 0x11, v4), "", ErrProxyHeader},
		{"v2 command 2", v2(0x22, 0x11, v4), "", ErrProxyHeader},
		{"v2 family 4", v2(0x21, 0x41, v4), "", ErrProxyHeader},
		{"TLS hello", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", "", ErrTLSHello},
		{"TLS behind PROXY", "PROXY UNKNOWN\r\n\x16\x03\x01", "", ErrTLSHello},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for _, chunk := range []int{1, 7, 1 << 20} {
				p, _ := newTestPipe(newEcho(), Options{})
				var got []byte
				var err error
				for b := append([]byte(tc.head), frameOf("payload")...); len(b) > 0 && err == nil; b = b[min(chunk, len(b)):] {
					var a []byte
					a, err = p.Feed(b[:min(chunk, len(b))])
					got = append(got, a...)
				}
				if !errors.Is(err, tc.err) || tc.err == nil && err != nil {
					t.Fatalf("chunks of %d: %v, want %v", chunk, err, tc.err)
				}
				if tc.err == nil && (!bytes.Equal(got, frameOf("payload")) || p.Conn().RemoteAddr() != tc.addr) {
					t.Fatalf("chunks of %d: answer %q, address %q", chunk, got, p.Conn().RemoteAddr())
				}
			}
		})
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

func TestPauseHoldsFrames(t *testing.T) {
	h := newEcho()
	frames := 0
	h.onFrame = func(c *Conn, dst, frame []byte) ([]byte, error) {
		frames++
		c.Pause()
		return dst, nil
	}
	p, _ := newTestPipe(h, Options{})
	mustFeed(t, p, bytes.Repeat(frameOf("slow"), 3))
	for want := 1; want <= 3; want++ {
		mustFeed(t, p, nil)
		if frames != want {
			t.Fatalf("%d frames handled, want %d", frames, want)
		}
		p.Conn().Send(fmt.Appendf(nil, "answer %d", want))
		p.Conn().Resume()
		if a, _ := p.Tick(); string(a) != fmt.Sprint("answer ", want) {
			t.Fatalf("got %q", a)
		}
	}
}

func TestWheelKeepsEveryDeadline(t *testing.T) {
	var w wheel
	w.init(10, 5)
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
	for now := int64(0); now < 16_000; now += 1 + now%97 {
		w.advance(now, func(c *Conn) {
			if c.timer.dueNanos > now {
				w.set(&c.timer, c.timer.dueNanos)
				return
			}
			if !due[int64(c.id)] {
				t.Fatalf("entry %d came twice or was removed", c.id)
			}
			if late := now - c.timer.dueNanos; late > 97+20 {
				t.Fatalf("entry %d came %d late", c.id, late)
			}
			delete(due, int64(c.id))
		})
	}
	if len(due) != 0 {
		t.Fatalf("%d entries never came", len(due))
	}
}
