package netpoll

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// TestRandomStreams feeds frames in random pieces to a peer with a random window, with pauses and Sends between and frames
// taken, and wants every answer once, whole and in order, and taken frames left alone until they are freed.
func TestRandomStreams(t *testing.T) {
	for seed := range uint64(60) {
		t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) { randomStream(t, rand.New(rand.NewPCG(7, seed))) })
	}
}

const pushed = "pushed"

func randomStream(t *testing.T, rnd *rand.Rand) {
	h := newEcho()
	taken := map[*LargeFrame][]byte{} // with what it must read
	h.onFrame = func(c *Conn, dst, frame []byte) ([]byte, error) {
		if rnd.IntN(20) == 0 {
			c.Pause()
			c.Resume()
		}
		if rnd.IntN(20) == 0 {
			c.Send(frameOf(pushed))
		}
		dst = append(dst, frame...)
		if f, ok := c.TakeFrame(frame); ok {
			taken[f] = bytes.Clone(frame)
		}
		for f, want := range taken {
			if !bytes.Equal(f.Bytes(), want) {
				t.Fatal("a taken frame was overwritten")
			}
			if rnd.IntN(4) == 0 {
				delete(taken, f)
				f.Free()
			}
		}
		return dst, nil
	}
	p, clock := newTestPipe(h, Options{MaxUnsentBytes: 1 << rnd.IntN(24)})
	var stream []byte
	const frames = 200
	for i := range frames {
		f := frameOf(fmt.Sprintf("%d %s", i, bytes.Repeat([]byte("x"), rnd.IntN(1<<rnd.IntN(16)))))
		stream = append(stream, f...)
	}
	var got []byte
	take := func(answers []byte, err error) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, answers...)
	}
	for rest := stream; len(rest) > 0; {
		if n := p.loop.held.Load(); n > 16<<20 {
			t.Fatalf("%d bytes held", n)
		}
		n := min(1+rnd.IntN(1<<rnd.IntN(18)), len(rest))
		p.SetWindow(rnd.IntN(1 << rnd.IntN(18)))
		take(p.Feed(rest[:n]))
		rest = rest[n:]
		clock.nanos += int64(rnd.IntN(int(60 * time.Millisecond)))
		take(p.Tick())
	}
	p.SetWindow(-1)
	for range 500 {
		clock.nanos += int64(50 * time.Millisecond)
		take(p.Tick())
	}
	checkAnswers(t, got, stream)
	if p.loop.unsentBytes() != 0 || p.loop.held.Load() != 0 || len(p.loop.draining) != 0 {
		t.Fatalf("left over: %d unsent, %d held, %d draining", p.loop.unsentBytes(), p.loop.held.Load(), len(p.loop.draining))
	}
}

// checkAnswers takes the pushed frames out of got and compares.
func checkAnswers(t *testing.T, got, want []byte) {
	t.Helper()
	var answers []byte
	for len(got) > 0 {
		n := int(binary.BigEndian.Uint32(got)) + 4
		if f := got[:n]; !bytes.Equal(f, frameOf(pushed)) {
			answers = append(answers, f...)
		}
		got = got[n:]
	}
	if !bytes.Equal(answers, want) {
		t.Fatalf("%d bytes of answers, want %d, or out of order", len(answers), len(want))
	}
}
