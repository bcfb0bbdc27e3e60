package netpoll

import (
	"bytes"
	"io"
	"net"
	"runtime"
	"testing"
	"time"
)

// TestTricklingReader: whoever takes a byte now and then is never stalled, so a peer with little more than that is ended, too, while
// much is unsent.
func TestTricklingReader(t *testing.T) {
	answer := bytes.Repeat([]byte("a"), 10*kib)
	h := newEcho()
	h.onFrame = func(_ *Conn, dst, _ []byte) ([]byte, error) { return append(dst, answer...), nil }
	const requests = 100
	total := requests * len(answer)
	for _, tt := range []struct {
		name   string
		budget int64
		take   int
		every  time.Duration
		want   error
	}{
		{"a byte a minute", 256 * kib, 1, 59 * time.Second, ErrTooSlow},
		{"half of what is least", 256 * kib, leastDrainPerSec / 2, time.Second, ErrTooSlow},
		{"a byte a minute of a budget hardly used", 64 << 20, 1, 59 * time.Second, nil},
		{"twice what is least", 256 * kib, 2 * leastDrainPerSec, time.Second, nil},
		{"64 KiB in bursts", 256 * kib, 64 * kib, 50 * time.Second, nil},
		{"64 KiB a second", 256 * kib, 64 * kib, time.Second, nil},
		{"1 MiB a second", 256 * kib, 1 << 20, time.Second, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, clock := newTestPipe(h, Options{StallTimeout: time.Minute, IdleTimeout: -1, MaxUnsentBytes: tt.budget})
			p.SetWindow(0)
			mustFeed(t, p, bytes.Repeat(frameOf("give"), requests))
			got, closed := 0, error(nil)
			for steps := 0; got < total && closed == nil && steps < 1000; steps++ {
				if closed = clock.pass(p, tt.every); closed == nil {
					p.SetWindow(tt.take)
					var a []byte
					a, closed = p.Tick()
					got += len(a)
				}
				if tt.want != nil && steps > 2*int(time.Minute/tt.every)+2 {
					t.Fatal("still there after two windows")
				}
			}
			if closed != tt.want {
				t.Fatalf("closed for %v after %d bytes, want %v", closed, got, tt.want)
			}
			if whole := got == total; tt.want == nil && !whole && tt.take > 1 {
				t.Errorf("%d of %d bytes came", got, total)
			}
		})
	}
}

// TestRestOfAPieceIsCounted: a byte that is left over counts as the piece of memory that it keeps, and nothing when it has gone.
func TestRestOfAPieceIsCounted(t *testing.T) {
	answer := bytes.Repeat([]byte("a"), 100*kib)
	h := newEcho()
	h.onFrame = func(_ *Conn, dst, _ []byte) ([]byte, error) { return append(dst, answer...), nil }
	p, _ := newTestPipe(h, Options{})
	p.SetWindow(0)
	mustFeed(t, p, frameOf("give"))
	for _, step := range []struct{ window, counted int }{
		{0, 100 * kib}, {20 * kib, 80 * kib}, {20 * kib, pieceBytes}, {60*kib - 1, pieceBytes}, {1, 0},
	} {
		p.SetWindow(step.window)
		if _, err := p.Tick(); err != nil {
			t.Fatal(err)
		}
		if n := p.loop.server.UnsentBytes(); n != int64(step.counted) {
			t.Errorf("%d bytes left: %d counted, want %d", p.Unsent(), n, step.counted)
		}
	}
	p.SetWindow(0)
	h.onFrame = nil
	mustFeed(t, p, frameOf("small"))
	if n := p.loop.server.UnsentBytes(); n != int64(len(frameOf("small"))) {
		t.Errorf("%d bytes of a small answer counted", n)
	}
	p.Close()
	if n := p.loop.server.UnsentBytes(); n != 0 {
		t.Errorf("%d bytes counted after the end", n)
	}
}

func TestPieces(t *testing.T) {
	for _, size := range []int{0, 1, pieceBytes, pieceBytes + 1, 5 * pieceBytes, 600 * pieceBytes} {
		b := make([]byte, size)
		for i := range b {
			b[i] = byte(i >> 3)
		}
		pieces := appendPieces(nil, b)
		if len(pieces) > mostPieces || !bytes.Equal(bytes.Join(pieces, nil), b) {
			t.Errorf("%d bytes: %d pieces", size, len(pieces))
		}
	}
}

// TestRestKeepsLittle: peers take large answers but for their ends. What is kept for them is the ends, however the answers were sent.
func TestRestKeepsLittle(t *testing.T) {
	const (
		peers, size, left = 8, 2 << 20, 192 * kib
		most              = 6 << 20 // all of the answers would be 16
	)
	answer := bytes.Repeat([]byte("b"), size)
	for _, way := range []struct {
		name   string
		answer func(c *Conn, dst []byte) []byte
		inTLS  bool
	}{
		{"appended", func(_ *Conn, dst []byte) []byte { return append(dst, answer...) }, false},
		{"followed", func(c *Conn, dst []byte) []byte { c.Follow(answer[1:]); return append(dst, answer[0]) }, false},
		{"sent", func(c *Conn, dst []byte) []byte { c.Send(answer); return dst }, false},
		{"inside TLS", func(_ *Conn, dst []byte) []byte { return append(dst, answer...) }, true},
	} {
		h := newEcho()
		h.onFrame = func(c *Conn, dst, _ []byte) ([]byte, error) { return way.answer(c, dst), nil }
		o := Options{SendBufferBytes: 16 * kib}
		if way.inTLS {
			o = withTLS(o)
		}
		s := startServer(t, h, o)
		before := heapInUse()
		for range peers {
			tcp := dial(t, s)
			_ = tcp.SetReadBuffer(16 * kib)
			var c net.Conn = tcp
			if way.inTLS {
				c = secure(t, tcp, clientTLS())
			}
			send(t, c, frameOf("give"))
			if _, err := io.CopyN(io.Discard, c, size-left); err != nil {
				t.Fatal(err)
			}
		}
		waitFor(t, "the ends to be left", func() bool { n := s.UnsentBytes(); return n > 0 && n <= peers*left })
		if kept := heapInUse() - before; kept > most {
			t.Errorf("%s: %d KiB kept for %d", way.name, kept/kib, s.UnsentBytes()/kib)
		}
	}
}

// heapInUse is the heap without what pools would give back.
func heapInUse() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapInuse)
}
