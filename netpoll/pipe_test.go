package netpoll

import (
	"bytes"
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
