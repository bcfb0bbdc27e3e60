package netpoll

import (
	"bytes"
	"errors"
	"io"
	"sync"
	"testing"
	"time"

	"github.com/waymark-mq/waymark/internal/invariants"
	"github.com/waymark-mq/waymark/internal/raceflag"
)

// feedPieces delivers b in read events of n bytes.
func feedPieces(t testing.TB, p *Pipe, b []byte, n int) (answers []byte) {
	t.Helper()
	for len(b) > 0 {
		piece := b[:min(n, len(b))]
		a, err := p.Feed(piece)
		if err != nil {
			t.Fatalf("closed: %v", err)
		}
		answers = append(answers, a...)
		b = b[len(piece):]
	}
	return answers
}

// sizes answers each frame with a letter for its size.
func sizes() *echoHandler {
	h := newEcho()
	h.onFrame = func(_ *Conn, dst, frame []byte) ([]byte, error) {
		if len(frame) > ringBytes {
			return append(dst, 'L'), nil
		}
		return append(dst, 's'), nil
	}
	return h
}

// TestLargeFrameIsCopiedOnce: each byte of it, wherever the reads cut the stream; memory is there from a frame before.
func TestLargeFrameIsCopiedOnce(t *testing.T) {
	large, small := bigFrame(918_003), frameOf("small")
	for _, tc := range []struct {
		name   string
		first  int // bytes of the first read
		stream []byte
		want   string
	}{
		{"alone", 64 * kib, large, "L"},
		{"cut in the length", 3, large, "L"},
		{"cut in the header", 100, large, "L"},
		{"cut where the ring ends", ringBytes, large, "L"},
		{"cut behind it", ringBytes + 1, large, "L"},
		{"all but one byte at once", len(large) - 1, large, "L"},
		{"behind small ones", 64 * kib, bytes.Join([][]byte{small, small, large}, nil), "ssL"},
		{"before small ones", 64 * kib, bytes.Join([][]byte{large, small, small}, nil), "Lss"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p, _ := newTestPipe(sizes(), Options{})
			p.loop.pool.put(p.loop.pool.get(1<<20, 1<<20))
			mustFeed(t, p, small) // past the sniffing
			got := mustFeed(t, p, tc.stream[:tc.first])
			got = append(got, feedPieces(t, p, tc.stream[tc.first:], 64*kib)...)
			if string(got) != tc.want {
				t.Fatalf("answers %q, want %q", got, tc.want)
			}
			if n := p.loop.counts.assembled; n != uint64(len(large)) {
				t.Errorf("%d bytes copied of a frame of %d", n, len(large))
			}
			if n := cap(p.end.scratch); n > 16 { // four for the length
				t.Errorf("a peek copied %d bytes", n)
			}
			if n := len(p.end.old); n != 0 {
				t.Errorf("%d bytes left in the ring", n)
			}
		})
	}
}

// Memory that grows moves what is there; all in all no more than one and a half times the frame.
func TestFirstLargeFrameIsMovedLittle(t *testing.T) {
	for _, size := range []int{100 * kib, 918_003, 16 << 20} {
		p, _ := newTestPipe(sizes(), Options{})
		feedPieces(t, p, bigFrame(size), 64*kib)
		if n := p.loop.counts.assembled; n < uint64(size) || n > uint64(size)*5/2 {
			t.Errorf("%d bytes copied of a frame of %d", n, size)
		}
	}
}

// A frame whole in one read is handled where it lies.
func TestWholeFrameIsNotCopied(t *testing.T) {
	p, _ := newTestPipe(sizes(), Options{})
	mustFeed(t, p, bytes.Repeat(bigFrame(60*kib), 3))
	if n := p.loop.counts.assembled; n != 0 {
		t.Errorf("%d bytes copied", n)
	}
}

func TestLargeFrameAllocatesNothing(t *testing.T) {
	if raceflag.Enabled || invariants.Enabled {
		t.Skip("this build allocates by itself")
	}
	p, _ := newTestPipe(sizes(), Options{})
	f := bigFrame(918_003)
	if n := testing.AllocsPerRun(20, func() {
		for rest := f; len(rest) > 0; rest = rest[min(64*kib, len(rest)):] {
			_, _ = p.Feed(rest[:min(64*kib, len(rest))])
		}
	}); n != 0 {
		t.Errorf("%v allocations for each frame", n)
	}
}

// Memory follows what has come, never what was promised.
func TestPromisedFrameHoldsLittle(t *testing.T) {
	for _, tc := range []struct{ promised, sent, most int }{
		{16 << 20, 100, 1 * kib},
		{16 << 20, ringBytes, 2 * ringBytes},
		{16 << 20, ringBytes + 1, 64 * kib},
		{16 << 20, 1 << 20, 3<<20 + 64*kib},
		{1 << 20, 1<<20 - 1, 1<<20 + 64*kib},
	} {
		p, _ := newTestPipe(sizes(), Options{})
		feedPieces(t, p, bigFrame(tc.promised)[:tc.sent], 64*kib)
		held := cap(p.end.old)
		if f := p.conn.large; f != nil {
			held += cap(f.b)
		}
		if held > tc.most {
			t.Errorf("%d of %d bytes sent: %d held, want at most %d", tc.sent, tc.promised, held, tc.most)
		}
		counted := tc.sent
		if f := p.conn.large; f != nil && !f.owned { // the pool's are bounded by it
			counted += cap(f.b) - len(f.b)
		}
		if n := p.loop.held.Load(); n != int64(counted) {
			t.Errorf("%d of %d bytes sent: %d count as held, want %d", tc.sent, tc.promised, n, counted)
		}
		p.Close()
		if n := p.loop.held.Load(); n != 0 {
			t.Errorf("%d of %d bytes sent: %d count as held after the end", tc.sent, tc.promised, n)
		}
	}
}

// A PROXY header may be large, too; it is no frame.
func TestLargeProxyHeaderIsNotAssembled(t *testing.T) {
	p, _ := newTestPipe(sizes(), Options{})
	p.loop.pool.put(p.loop.pool.get(1<<20, 1<<20))
	header := append(bytes.Clone(proxyV2Magic), proxyV2Proxy, 0x11, 0xff, 0xff)
	header = append(header, make([]byte, 0xffff)...)
	got := feedPieces(t, p, append(header, bigFrame(100*kib)...), 20*kib)
	if string(got) != "L" || p.loop.counts.assembled != 100*kib {
		t.Errorf("answer %q, %d bytes assembled", got, p.loop.counts.assembled)
	}
}

// TestLargeFrameLeavesNothing: however it ends, its memory goes back, and nothing of it stays with the connection.
func TestLargeFrameLeavesNothing(t *testing.T) {
	f := bigFrame(1 << 20)
	half := f[:len(f)/2]
	fail := func(err error) func(*Conn, []byte, []byte) ([]byte, error) {
		return func(_ *Conn, dst, _ []byte) ([]byte, error) { return append(dst, "bye"...), err }
	}
	for _, tc := range []struct {
		name    string
		onFrame func(*Conn, []byte, []byte) ([]byte, error)
		play    func(p *Pipe, clock *fakeClock) error
		want    error
	}{
		{"handled", nil, func(p *Pipe, _ *fakeClock) error { feedPieces(t, p, f, 64*kib); return nil }, nil},
		{"peer closes", nil, func(p *Pipe, _ *fakeClock) error {
			feedPieces(t, p, half, 64*kib)
			p.Close()
			return p.closed()
		}, io.EOF},
		{"too slow", nil, func(p *Pipe, clock *fakeClock) error {
			feedPieces(t, p, half, 64*kib)
			return clock.pass(p, 100*time.Second)
		}, ErrHalfFrame},
		{"over the budget", nil, func(p *Pipe, _ *fakeClock) error {
			p.loop.held.Add(1 << 30)
			defer p.loop.held.Add(-1 << 30)
			_, err := p.Feed(half)
			return err
		}, ErrInputOverflow},
		{"refused", fail(errBadRequest), func(p *Pipe, _ *fakeClock) error {
			feedPieces(t, p, half, 64*kib)
			_, err := p.Feed(f[len(half):])
			return err
		}, errBadRequest},
		{"refused, closing", fail(errBadRequest), func(p *Pipe, _ *fakeClock) error {
			p.SetWindow(0)
			feedPieces(t, p, half, 64*kib)
			_, err := p.Feed(append(f[len(half):len(f):len(f)], half...))
			return err
		}, nil},
		{"closing meanwhile", nil, func(p *Pipe, _ *fakeClock) error {
			p.SetWindow(0)
			feedPieces(t, p, half, 64*kib)
			p.Conn().Send([]byte("unsent"))
			p.runTasks()
			p.loop.endFlushed(p.conn, ErrServerClosed)
			_, err := p.Feed(f[len(half):])
			return err
		}, nil},
		{"panic", func(*Conn, []byte, []byte) ([]byte, error) { panic("boom") }, func(p *Pipe, _ *fakeClock) error {
			feedPieces(t, p, half, 64*kib)
			_, err := p.Feed(f[len(half):])
			return err
		}, ErrPanic},
	} {
		t.Run(tc.name, func(t *testing.T) {
			h := sizes()
			if tc.onFrame != nil {
				h.onFrame = tc.onFrame
			}
			p, clock := newTestPipe(h, Options{IdleTimeout: -1})
			if err := tc.play(p, clock); !errors.Is(err, tc.want) {
				t.Fatalf("ended for %v, want %v", err, tc.want)
			}
			if p.conn.large != nil || p.loop.held.Load() != 0 || p.conn.inbound() != 0 {
				t.Errorf("memory kept: %v, %d bytes held, %d there", p.conn.large != nil, p.loop.held.Load(), p.conn.inbound())
			}
			if len(p.loop.pool.free) == 0 {
				t.Error("the memory is not in the pool")
			}
		})
	}
}

// TestStalledInsideLargeFrame: unsent answers stop the cutting while a large frame comes; what follows keeps its order.
func TestStalledInsideLargeFrame(t *testing.T) {
	for _, cut := range []int{50, 100 * kib, 1<<20 - 1, 1 << 20} {
		p, clock := newTestPipe(sizes(), Options{})
		stream := append(bigFrame(1<<20), frameOf("behind")...)
		p.SetWindow(0)
		push := make([]byte, highWaterBytes+1)
		feedPieces(t, p, stream[:min(cut, 1<<20-1)], 64*kib)
		p.Conn().Send(push)
		feedPieces(t, p, stream[min(cut, 1<<20-1):cut], 64*kib)
		p.loop.cut(p.conn) // as a resume: now it counts as stalled
		p.SetWindow(0)
		feedPieces(t, p, stream[cut:len(stream)-5], 64*kib)
		if p.loop.counts.frames != 0 {
			t.Fatalf("cut at %d: a frame was handled", cut)
		}
		p.SetWindow(-1)
		clock.nanos += int64(50 * time.Millisecond)
		got, err := p.Tick()
		got = append(bytes.Clone(got), mustFeed(t, p, stream[len(stream)-5:])...)
		if err != nil || !bytes.Equal(got, append(push, "Ls"...)) {
			t.Fatalf("cut at %d: %d bytes of answers, %v", cut, len(got), err)
		}
		if p.conn.large != nil || p.loop.held.Load() != 0 {
			t.Fatalf("cut at %d: memory kept", cut)
		}
	}
}

func TestTakeFrame(t *testing.T) {
	f := bigFrame(300 * kib)
	var taken, again *LargeFrame
	var frame []byte
	h := newEcho()
	h.onFrame = func(c *Conn, dst, in []byte) ([]byte, error) {
		if _, ok := c.TakeFrame(in[1:]); ok {
			t.Error("taken by a part of it")
		}
		if _, ok := c.TakeFrame(f); ok {
			t.Error("taken by another frame")
		}
		got, ok := c.TakeFrame(in)
		if ok != (len(in) == len(f)) {
			t.Errorf("frame of %d bytes taken: %v", len(in), ok)
		}
		if !ok {
			return append(dst, 's'), nil
		}
		taken, frame = got, in
		again, _ = c.TakeFrame(in)
		return append(dst, 'L'), nil
	}
	p, _ := newTestPipe(h, Options{})
	stream := bytes.Join([][]byte{frameOf("before"), f, frameOf("behind")}, nil)
	if got := feedPieces(t, p, stream, 64*kib); string(got) != "sLs" {
		t.Fatalf("answers %q", got)
	}
	if again != nil {
		t.Error("taken twice")
	}
	first := taken
	feedPieces(t, p, f[:200*kib], 64*kib)
	if _, ok := p.Conn().TakeFrame(frame); ok {
		t.Error("taken outside of Frame")
	}
	if !bytes.Equal(first.Bytes(), f) {
		t.Fatal("taken bytes were overwritten")
	}
	feedPieces(t, p, f[200*kib:], 64*kib)
	if taken == first {
		t.Fatal("memory used again before it was freed")
	}
	first.Free()
	feedPieces(t, p, f, 64*kib)
	if taken != first || !bytes.Equal(taken.Bytes(), f) {
		t.Error("freed memory was not used again, or wrongly")
	}
}

// TestFramesFreedElsewhere: taken by one goroutine after another, none is overwritten before it is freed.
func TestFramesFreedElsewhere(t *testing.T) {
	type job struct {
		c *Conn
		f *LargeFrame
	}
	jobs := make(chan job, 100)
	h := newEcho()
	h.onFrame = func(c *Conn, dst, frame []byte) ([]byte, error) {
		if f, ok := c.TakeFrame(frame); ok {
			jobs <- job{c, f}
			return dst, nil
		}
		return append(dst, frame...), nil
	}
	s := startServer(t, h, Options{})
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			for j := range jobs {
				j.c.Send(j.f.Bytes())
				j.f.Free()
			}
		})
	}
	var clients sync.WaitGroup
	for i := range 6 {
		c := dial(t, s)
		clients.Go(func() {
			for round := range 20 {
				f := bytes.Repeat([]byte{byte('a' + i)}, 200*kib+round)
				copy(f, bigFrame(len(f))[:8])
				if _, err := c.Write(f); err != nil {
					t.Error(err)
					return
				}
				got := make([]byte, len(f))
				if _, err := io.ReadFull(c, got); err != nil || !bytes.Equal(got, f) {
					t.Errorf("connection %d, frame %d: %v, or other bytes", i, round, err)
					return
				}
			}
		})
	}
	clients.Wait()
	st := stats(t, s) // now the loops send no more jobs
	close(jobs)
	wg.Wait()
	if st.Assembled == 0 {
		t.Error("no frame was assembled: the test shows nothing")
	}
}

// A handler that kept an alias of an earlier frame gets nothing for it, though the bytes that have come of the next lie there.
func TestTakeFrameInHandOnly(t *testing.T) {
	h := newEcho()
	var kept []byte
	h.onFrame = func(_ *Conn, dst, frame []byte) ([]byte, error) { kept = frame; return dst, nil }
	p, _ := newTestPipe(h, Options{})
	feedPieces(t, p, bigFrame(290*kib), 64*kib)
	next := bigFrame(310 * kib)
	feedPieces(t, p, next[:290*kib], 64*kib)
	if &kept[0] != &p.conn.large.b[0] || len(kept) != p.conn.large.len() {
		t.Fatal("the next frame lies elsewhere: the test shows nothing")
	}
	if _, ok := p.Conn().TakeFrame(kept); ok {
		t.Error("an incomplete frame was taken")
	}
}
