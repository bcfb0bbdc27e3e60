package netpoll

import (
	"bytes"
	"io"
	"testing"
)

// following answers frames with themselves; of those longer than 1 KiB all but the first 100 bytes follow from shared.
func following(shared []byte) *echoHandler {
	h := newEcho()
	h.onFrame = func(c *Conn, dst, frame []byte) ([]byte, error) {
		if len(frame) <= kib {
			return append(dst, frame...), nil
		}
		c.Follow(shared[100:len(frame)])
		return append(dst, frame[:100]...), nil
	}
	return h
}

// Large answers keep their place among small ones, whatever the socket takes.
func TestFollowKeepsTheOrder(t *testing.T) {
	small, large := frameOf("small"), bigFrame(60*kib)
	stream := bytes.Join([][]byte{small, large, small, small, large, large, small}, nil)
	for _, tc := range []struct {
		name   string
		window int // bytes that the peer takes at a time; 0: all
	}{{"at once", 0}, {"byte by byte at first", 1}, {"in pieces", 7 * kib}} {
		t.Run(tc.name, func(t *testing.T) {
			p, _ := newTestPipe(following(large), Options{})
			before := append([]byte(nil), large...)
			if tc.window > 0 {
				p.SetWindow(tc.window)
			}
			got, err := p.Feed(stream)
			if err != nil {
				t.Fatal(err)
			}
			answers := append([]byte(nil), got...)
			for len(answers) < len(stream) {
				p.SetWindow(max(tc.window, 4*kib))
				got, err := p.Feed(nil)
				if err != nil || len(got) == 0 {
					t.Fatalf("%v after %d of %d bytes", err, len(answers), len(stream))
				}
				answers = append(answers, got...)
			}
			if !bytes.Equal(answers, stream) {
				t.Error("answers differ")
			}
			if !bytes.Equal(large, before) {
				t.Error("the shared text was written to")
			}
		})
	}
}

// What follows isn't copied into the loop's memory, and is written with what is before it.
func TestFollowIsNotCopied(t *testing.T) {
	large := bigFrame(200 * kib)
	p, _ := newTestPipe(following(large), Options{})
	mustFeed(t, p, frameOf("x"))
	room, writes, sent := &p.loop.out[:1][0], p.Writes(), p.loop.counts.bytesOut
	mustFeed(t, p, append(frameOf("x"), large...))
	if &p.loop.out[:1][0] != room || cap(p.loop.out) != 64*kib {
		t.Error("the loop's memory grew")
	}
	if n := p.Writes() - writes; n != 1 {
		t.Errorf("%d writes, want 1", n)
	}
	if n := p.loop.counts.bytesOut - sent; n != uint64(len(large)+len(frameOf("x"))) {
		t.Errorf("%d bytes counted", n)
	}
	if p.loop.tail != nil || p.loop.pieces[1] != nil {
		t.Error("kept after it was written")
	}
}

func TestFollowOverTCP(t *testing.T) {
	large := bigFrame(500 * kib)
	s := startServer(t, following(large), Options{})
	c := dial(t, s)
	const rounds = 20
	go func() {
		for range rounds {
			if _, err := c.Write(large); err != nil {
				return
			}
		}
	}()
	got := make([]byte, len(large))
	for i := range rounds {
		if _, err := io.ReadFull(c, got); err != nil || !bytes.Equal(got, large) {
			t.Fatalf("answer %d: %v, or other bytes", i, err)
		}
	}
}

// A handler that fails after Follow has begun no answer: nothing of it is sent.
func TestFollowAndPanic(t *testing.T) {
	large := bigFrame(2 * kib)
	h := newEcho()
	h.onFrame = func(c *Conn, dst, frame []byte) ([]byte, error) {
		if len(frame) <= kib {
			return append(dst, frame...), nil
		}
		c.Follow(large)
		panic("after Follow")
	}
	p, _ := newTestPipe(h, Options{})
	got, err := p.Feed(append(frameOf("x"), large...))
	if err == nil || !bytes.Equal(got, frameOf("x")) {
		t.Errorf("%d bytes answered, %v; want the first answer and the end", len(got), err)
	}
}
