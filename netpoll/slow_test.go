package netpoll

import (
	"bytes"
	"io"
	"log/slog"
	"net"
	"runtime"
	"testing"
	"time"
)

// TestSlowReaderGetsEverything: the answers are far more than a connection may hold, and the peer takes its time.
func TestSlowReaderGetsEverything(t *testing.T) {
	answer := bytes.Repeat([]byte("0123456789abcdef"), 64*kib/16)
	h := newEcho()
	h.onFrame = func(_ *Conn, dst, _ []byte) ([]byte, error) { return append(dst, answer...), nil }
	s := startServer(t, h, Options{EventLoops: 1, SendBufferBytes: 16 * kib})
	c := dial(t, s)
	_ = c.SetReadBuffer(16 * kib)
	const requests = 200
	send(t, c, bytes.Repeat(frameOf("give"), requests))
	got := make([]byte, len(answer))
	var most int64
	for i := range requests {
		if _, err := io.ReadFull(c, got); err != nil {
			t.Fatalf("answer %d: %v", i, err)
		}
		if !bytes.Equal(got, answer) {
			t.Fatalf("answer %d differs", i)
		}
		most = max(most, s.UnsentBytes())
		if i%50 == 0 {
			other := dial(t, s) // nobody else waits
			send(t, other, frameOf("me too"))
			expect(t, other, answer)
			_ = other.Close()
		}
	}
	if most > highWaterBytes+2*int64(len(answer)) {
		t.Fatalf("%d bytes were unsent at once", most)
	}
	if st := stats(t, s); st.HeldBytes != 0 {
		t.Fatalf("%d bytes of input still held", st.HeldBytes)
	}
}

// TestPeersThatNeverRead ask for 100 MiB each; memory stays small, others are served, and they are ended in the end.
func TestPeersThatNeverRead(t *testing.T) {
	answer := bytes.Repeat([]byte("x"), 1<<20)
	h := newEcho()
	h.onFrame = func(_ *Conn, dst, frame []byte) ([]byte, error) {
		if bytes.Contains(frame, []byte("big")) {
			return append(dst, answer...), nil
		}
		return append(dst, frame...), nil
	}
	lines := &lineLog{}
	s := startServer(t, h, Options{StallTimeout: time.Second, MaxUnsentBytes: 16 << 20, SendBufferBytes: 16 * kib,
		Logger: slog.New(slog.NewTextHandler(lines, nil))})
	const peers = 40
	for range peers {
		c := dial(t, s)
		_ = c.SetReadBuffer(16 * kib)
		send(t, c, bytes.Repeat(frameOf("big"), 100))
	}
	good := dial(t, s)
	for range 50 {
		send(t, good, frameOf("small"))
		expect(t, good, frameOf("small"))
	}
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	if m.HeapInuse > 300<<20 {
		t.Errorf("%d MiB of heap for %d peers that don't read", m.HeapInuse>>20, peers)
	}
	waitFor(t, "them to be ended", func() bool { return stats(t, s).Closed["stalled"] == peers })
	if n := s.UnsentBytes(); n != 0 {
		t.Fatalf("%d unsent bytes counted after the end", n)
	}
	if n := lines.count(ErrStalled.Error()); n == 0 || n > 3 { // one in ten seconds
		t.Errorf("%d lines about %d peers", n, peers)
	}
	send(t, good, frameOf("still here"))
	expect(t, good, frameOf("still here"))
}

// TestFastReaderIsNotHeldBack: a peer that asks for much at once and reads as fast as it can waits for no timer's long period.
func TestFastReaderIsNotHeldBack(t *testing.T) {
	answer := bytes.Repeat([]byte("y"), 64*kib)
	h := newEcho()
	h.onFrame = func(_ *Conn, dst, _ []byte) ([]byte, error) { return append(dst, answer...), nil }
	s := startServer(t, h, Options{EventLoops: 1, SendBufferBytes: 64 * kib})
	c := dial(t, s)
	const requests = 800 // 50 MiB in pieces of 256 KiB: 10 s, if each waited 50 ms
	send(t, c, bytes.Repeat(frameOf("give"), requests))
	start := time.Now()
	if _, err := io.CopyN(io.Discard, c, int64(requests*len(answer))); err != nil {
		t.Fatal(err)
	}
	if d := time.Since(start); d > 6*time.Second {
		t.Fatalf("took %v", d)
	}
}

func TestCloseLetsAnswersOut(t *testing.T) {
	answer := bytes.Repeat([]byte("z"), 200*kib)
	h := newEcho()
	h.onFrame = func(_ *Conn, dst, _ []byte) ([]byte, error) { return append(dst, answer...), nil }
	s := startServer(t, h, Options{SendBufferBytes: 16 * kib})
	c := dial(t, s)
	_ = c.SetReadBuffer(16 * kib)
	send(t, c, frameOf("give"))
	waitFor(t, "the answer to be written", func() bool { return stats(t, s).Writes == 1 })
	closed := make(chan error, 1)
	go func() { closed <- s.Close(t.Context()) }()
	expect(t, c, answer)
	expectEnd(t, c)
	if err := <-closed; err != nil {
		t.Fatal(err)
	}
	h.waitClosed(t, ErrServerClosed)
}

func TestCloseIsBoundedByDrainTimeout(t *testing.T) {
	answer := bytes.Repeat([]byte("z"), 8<<20)
	h := newEcho()
	h.onFrame = func(_ *Conn, dst, _ []byte) ([]byte, error) { return append(dst, answer...), nil }
	s := startServer(t, h, Options{DrainTimeout: 50 * time.Millisecond})
	send(t, dial(t, s), frameOf("give"))
	waitFor(t, "the answer to be written", func() bool { return stats(t, s).Writes == 1 })
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	h.waitClosed(t, ErrServerClosed)
}

func TestManyConnections(t *testing.T) {
	h := newEcho()
	s := startServer(t, h, Options{})
	for range 20 {
		var conns []net.Conn
		for range 50 {
			conns = append(conns, dial(t, s))
		}
		for _, c := range conns {
			send(t, c, frameOf("x"))
		}
		for _, c := range conns {
			expect(t, c, frameOf("x"))
			_ = c.Close()
		}
	}
	waitFor(t, "all to end", func() bool { return s.ConnCount() == 0 })
	if st := stats(t, s); st.Opened != 1000 || st.Closed["peer"] != 1000 {
		t.Fatalf("opened %d, ended by the peer %d", st.Opened, st.Closed["peer"])
	}
}

// TestResetWhileAnswering: the write that fails closes the connection from within; nothing is touched after that.
func TestResetWhileAnswering(t *testing.T) {
	answer := bytes.Repeat([]byte("r"), 300*kib)
	h := newEcho()
	h.onFrame = func(_ *Conn, dst, _ []byte) ([]byte, error) { return append(dst, answer...), nil }
	s := startServer(t, h, Options{SendBufferBytes: 16 * kib})
	const peers = 100
	for i := range peers {
		c := dial(t, s)
		send(t, c, bytes.Repeat(frameOf("give"), 50))
		_, _ = io.ReadFull(c, make([]byte, i*1000))
		_ = c.SetLinger(0) // close sends a reset
		_ = c.Close()
	}
	waitFor(t, "all to end", func() bool { return s.ConnCount() == 0 })
	st := stats(t, s)
	if st.Opened != peers || st.UnsentBytes != 0 || st.HeldBytes != 0 {
		t.Fatalf("opened %d, still counted: %d unsent, %d held", st.Opened, st.UnsentBytes, st.HeldBytes)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for id, reasons := range h.reasons {
		if len(reasons) != 1 {
			t.Fatalf("connection %d ended %d times", id, len(reasons))
		}
	}
}
