//go:build invariants

package netpoll

import (
	"bytes"
	"testing"
)

// TestKeptFrameTurnsIntoGarbage: a handler that keeps an alias finds out, and the frame behind it is left alone.
func TestKeptFrameTurnsIntoGarbage(t *testing.T) {
	h := newEcho()
	var kept [][]byte
	h.onFrame = func(_ *Conn, dst, frame []byte) ([]byte, error) {
		if cap(frame) != len(frame) {
			t.Errorf("an append to the frame would reach %d bytes of the next", cap(frame)-len(frame))
		}
		kept = append(kept, frame)
		return append(dst, frame...), nil
	}
	p, _ := newTestPipe(h, Options{})
	stream := append(frameOf("first"), frameOf("second")...)
	if got := mustFeed(t, p, stream); !bytes.Equal(got, stream) {
		t.Fatalf("got %q", got)
	}
	for _, frame := range kept {
		if !bytes.Equal(frame, bytes.Repeat([]byte{0xDB}, len(frame))) {
			t.Fatalf("a kept frame still reads %q", frame)
		}
	}
}

// TestPoisonAndTakenFrames: a taken frame is left alone until it is freed, an assembled one that isn't taken is overwritten
// like others.
func TestPoisonAndTakenFrames(t *testing.T) {
	h := newEcho()
	var kept []byte
	var taken *LargeFrame
	take := false
	h.onFrame = func(c *Conn, dst, frame []byte) ([]byte, error) {
		kept = frame
		if take {
			taken, _ = c.TakeFrame(frame)
		}
		return dst, nil
	}
	p, _ := newTestPipe(h, Options{})
	f := bigFrame(100 * kib)
	poisoned := bytes.Repeat([]byte{0xDB}, len(f))
	if feedPieces(t, p, f, 64*kib); !bytes.Equal(kept, poisoned) {
		t.Error("an assembled frame wasn't overwritten")
	}
	take = true
	if feedPieces(t, p, f, 64*kib); !bytes.Equal(kept, f) {
		t.Error("a taken frame was overwritten")
	}
	if taken.Free(); !bytes.Equal(kept, poisoned) {
		t.Error("a freed frame wasn't overwritten")
	}
}
