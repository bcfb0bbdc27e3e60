package netpoll

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

func TestEchoKeepsOrder(t *testing.T) {
	s := startServer(t, newEcho(), Options{})
	c := dial(t, s)
	var all []byte
	for i := range 100 {
		all = append(all, frameOf(fmt.Sprintf("request %d", i))...)
	}
	send(t, c, all)
	expect(t, c, all)
}

func TestPipelineInOneWrite(t *testing.T) {
	const frames = 10_000
	s := startServer(t, newEcho(), Options{})
	c := dial(t, s)
	var all []byte
	for i := range frames {
		all = append(all, frameOf(fmt.Sprintf("request %d %s", i, strings.Repeat("x", 100)))...)
	}
	go func() { _, _ = c.Write(all) }()
	expect(t, c, all)
	if st := stats(t, s); st.Frames != frames || st.Writes >= frames/10 {
		t.Fatalf("%d frames in %d writes, want %d in few", st.Frames, st.Writes, frames)
	}
}

func TestOneWritePerRead(t *testing.T) {
	s := startServer(t, newEcho(), Options{EventLoops: 1})
	c := dial(t, s)
	batch := bytes.Repeat(frameOf("one of many"), 64)
	for range 5 {
		before := stats(t, s).Writes
		send(t, c, batch)
		expect(t, c, batch)
		if n := stats(t, s).Writes - before; n != 1 {
			t.Fatalf("%d writes for one read of %d frames", n, 64)
		}
	}
}

func TestFrameSizeLimit(t *testing.T) {
	s := startServer(t, newEcho(), Options{EventLoops: 1})
	t.Run("largest", func(t *testing.T) {
		c := dial(t, s)
		f := bigFrame(16 << 20)
		go func() { _, _ = c.Write(f) }()
		expect(t, c, f)
	})
	t.Run("one byte more, first frame", func(t *testing.T) {
		c := dial(t, s)
		send(t, c, bigFrame(16<<20 + 1)[:12])
		expectEnd(t, c)
	})
	t.Run("one byte more, later frame, length alone", func(t *testing.T) {
		c := dial(t, s)
		send(t, c, frameOf("first"))
		expect(t, c, frameOf("first"))
		send(t, c, bigFrame(16<<20 + 1)[:4])
		expectEnd(t, c)
	})
}

// What may be a PROXY header waits for 12 bytes, a whole frame of 11 included.
func TestSmallFreshConnectionWaits(t *testing.T) {
	h := newEcho()
	s := startServer(t, h, Options{})
	c := dial(t, s)
	send(t, c, []byte("\x00\x00\x00\x07\x00\x00\x00\x03{ }"))
	waitFor(t, "the bytes to arrive", func() bool { return stats(t, s).BytesIn == 11 })
	if st := stats(t, s); len(h.closed) != 0 || st.Frames != 0 {
		t.Fatalf("%d frames handled, %d connections closed before 12 bytes were there", st.Frames, len(h.closed))
	}
	send(t, c, []byte("\xff"))
	expect(t, c, []byte("\x00\x00\x00\x07\x00\x00\x00\x03{ }"))
	send(t, c, []byte("\xff\xff\xff"))
	expectEnd(t, c)
	if n := stats(t, s).Closed["bad_frame"]; n != 1 {
		t.Fatalf("bad_frame counted %d times", n)
	}
}

func TestHandlerErrorClosesAfterAnswers(t *testing.T) {
	h := newEcho()
	h.onFrame = func(_ *Conn, dst, frame []byte) ([]byte, error) {
		if bytes.Contains(frame, []byte("bad")) {
			return append(dst, "bye"...), errBadRequest
		}
		return append(dst, frame...), nil
	}
	s := startServer(t, h, Options{})
	c := dial(t, s)
	send(t, c, append(append(frameOf("good"), frameOf("bad")...), frameOf("never seen")...))
	expect(t, c, append(frameOf("good"), "bye"...))
	h.waitClosed(t, errBadRequest)
	_, _ = io.Copy(io.Discard, c)
	if st := stats(t, s); st.Frames != 2 {
		t.Fatalf("%d frames handled, want 2", st.Frames)
	}
}

func TestErrorWithoutSliceKeepsEarlierAnswers(t *testing.T) {
	h := newEcho()
	h.onFrame = func(_ *Conn, dst, frame []byte) ([]byte, error) {
		if bytes.Contains(frame, []byte("bad")) {
			return nil, errBadRequest
		}
		return append(dst, frame...), nil
	}
	p, _ := newTestPipe(h, Options{})
	answers, err := p.Feed(append(frameOf("good"), frameOf("bad")...))
	if !errors.Is(err, errBadRequest) || !bytes.Equal(answers, frameOf("good")) {
		t.Fatalf("got %q, %v", answers, err)
	}
}

func TestPanicEndsThatConnectionOnly(t *testing.T) {
	h := newEcho()
	h.onFrame = func(_ *Conn, dst, frame []byte) ([]byte, error) {
		if bytes.Contains(frame, []byte("panic")) {
			panic("boom")
		}
		return append(dst, frame...), nil
	}
	s := startServer(t, h, Options{EventLoops: 1})
	good, bad := dial(t, s), dial(t, s)
	send(t, good, frameOf("one"))
	expect(t, good, frameOf("one"))
	send(t, bad, append(frameOf("before"), frameOf("panic")...))
	expect(t, bad, frameOf("before"))
	h.waitClosed(t, ErrPanic)
	send(t, good, frameOf("two"))
	expect(t, good, frameOf("two"))
	if st := stats(t, s); st.Panics != 1 || st.Closed["panic"] != 1 {
		t.Fatalf("panics %d, closed for it %d; want 1, 1", st.Panics, st.Closed["panic"])
	}
}

func TestPanicInOpen(t *testing.T) {
	h := newEcho()
	h.onOpen = func(*Conn) { panic("in open") }
	s := startServer(t, h, Options{})
	expectEnd(t, dial(t, s))
	h.waitClosed(t, ErrPanic)
}

func TestSendFromElsewhere(t *testing.T) {
	h := newEcho()
	s := startServer(t, h, Options{})
	c := dial(t, s)
	conn := h.anyConn(t)
	var want []byte
	for i := range 100 {
		f := frameOf(fmt.Sprint("sent ", i))
		want = append(want, f...)
		if !conn.Send(f) {
			t.Fatal("not taken")
		}
		clear(f) // it was copied
	}
	expect(t, c, want)
	if got, ok := s.Conn(conn.ID()); !ok || got != conn {
		t.Fatal("not found by its id")
	}
	conn.Close()
	expectEnd(t, c)
	h.waitClosed(t, ErrClosed)
	waitFor(t, "the registry", func() bool { _, ok := s.Conn(conn.ID()); return !ok })
	if conn.Send([]byte("late")) {
		t.Fatal("taken on a gone connection")
	}
	conn.Close()
	conn.Resume()
	if n := s.UnsentBytes(); n != 0 {
		t.Fatalf("%d unsent bytes remembered", n)
	}
}

func TestSendThenCloseArrives(t *testing.T) {
	h := newEcho()
	s := startServer(t, h, Options{})
	for range 50 {
		c := dial(t, s)
		conn := h.anyConn(t)
		conn.Send(frameOf("last words"))
		conn.Close()
		expect(t, c, frameOf("last words"))
		expectEnd(t, c)
		h.waitClosed(t, ErrClosed)
	}
}

func TestCloseInsideFrame(t *testing.T) {
	h := newEcho()
	h.onFrame = func(c *Conn, dst, frame []byte) ([]byte, error) {
		c.Close()
		return append(dst, frame...), nil
	}
	s := startServer(t, h, Options{})
	c := dial(t, s)
	send(t, c, frameOf("x"))
	expect(t, c, frameOf("x"))
	expectEnd(t, c)
	h.waitClosed(t, ErrClosed)
}

func TestSocketOptions(t *testing.T) {
	h := newEcho()
	s := startServer(t, h, Options{RecvBufferBytes: 64 * kib, SendBufferBytes: 32 * kib})
	dial(t, s)
	conn := h.anyConn(t)
	for _, o := range []struct {
		name          string
		level, option int
		want          int
	}{
		{"TCP_NODELAY", syscall.IPPROTO_TCP, syscall.TCP_NODELAY, 1},
		{"SO_KEEPALIVE", syscall.SOL_SOCKET, syscall.SO_KEEPALIVE, 0},
		{"SO_RCVBUF", syscall.SOL_SOCKET, syscall.SO_RCVBUF, 2 * 64 * kib}, // the kernel doubles both
		{"SO_SNDBUF", syscall.SOL_SOCKET, syscall.SO_SNDBUF, 2 * 32 * kib},
	} {
		got, err := syscall.GetsockoptInt(conn.sock.Fd(), o.level, o.option)
		if err != nil || got != o.want {
			t.Errorf("%s is %d (%v), want %d", o.name, got, err, o.want)
		}
	}
}

func TestListenNamesTheAddress(t *testing.T) {
	s := startServer(t, newEcho(), Options{})
	_, err := Listen(newEcho(), Options{Addr: s.Addr().String(), Logger: quietLogger()})
	if err == nil || !strings.Contains(err.Error(), s.Addr().String()) || !errors.Is(err, syscall.EADDRINUSE) {
		t.Fatalf("got %v", err)
	}
}

func TestConnectionLimit(t *testing.T) {
	s := startServer(t, newEcho(), Options{MaxConns: 2})
	a, b := dial(t, s), dial(t, s)
	for _, c := range []net.Conn{a, b} {
		send(t, c, frameOf("in"))
		expect(t, c, frameOf("in"))
	}
	expectEnd(t, dial(t, s))
	_ = a.Close()
	waitFor(t, "room", func() bool { return s.ConnCount() < 2 })
	c := dial(t, s)
	send(t, c, frameOf("in again"))
	expect(t, c, frameOf("in again"))
	if st := stats(t, s); st.Refused != 1 {
		t.Fatalf("refused %d, want 1", st.Refused)
	}
}

// TestCloseOnceUnderChurn closes connections from both sides and from other goroutines at random moments, with traffic.
func TestCloseOnceUnderChurn(t *testing.T) {
	h := newEcho()
	s := startServer(t, h, Options{})
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			rnd := rand.New(rand.NewPCG(1, uint64(w)))
			for range 60 {
				c, err := net.Dial("tcp", s.Addr().String())
				if err != nil {
					t.Error(err)
					return
				}
				_, _ = c.Write(bytes.Repeat(frameOf("churn"), rnd.IntN(20)))
				h.mu.Lock()
				for _, conn := range h.open {
					if rnd.IntN(2) == 0 {
						go conn.Close()
					} else {
						go conn.Send(frameOf("pushed"))
					}
					break
				}
				h.mu.Unlock()
				if rnd.IntN(3) == 0 {
					_ = c.(*net.TCPConn).SetLinger(0)
				}
				_ = c.Close()
			}
		}()
	}
	wg.Wait()
	waitFor(t, "all to come and end", func() bool {
		h.mu.Lock()
		defer h.mu.Unlock()
		return len(h.opens) == 480 && s.ConnCount() == 0
	})
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.order) != 0 {
		t.Fatalf("out of order: %v", h.order)
	}
	for id := range h.opens {
		if len(h.reasons[id]) != 1 {
			t.Fatalf("connection %d closed %d times: %v", id, len(h.reasons[id]), h.reasons[id])
		}
	}
	if n := s.UnsentBytes() + s.heldBytes(); n != 0 {
		t.Fatalf("%d bytes still counted", n)
	}
}

func TestServerCloseEndsEverything(t *testing.T) {
	before := ourGoroutines()
	h := newEcho()
	s, err := Listen(h, Options{Addr: "127.0.0.1:0", EventLoops: 2, Logger: quietLogger()})
	if err != nil {
		t.Fatal(err)
	}
	ran := make(chan error, 1)
	go func() { ran <- s.Run() }()
	var conns []net.Conn
	for range 20 {
		c := dial(t, s)
		send(t, c, frameOf("hello"))
		expect(t, c, frameOf("hello"))
		conns = append(conns, c)
	}
	keep := h.anyConn(t)
	closeServer := func() {
		ctx, cancel := context.WithTimeout(context.Background(), waitLimit)
		defer cancel()
		if err := s.Close(ctx); err != nil {
			t.Error(err)
		}
	}
	start := time.Now()
	closeServer()
	if d := time.Since(start); d > 2*time.Second {
		t.Errorf("took %v", d)
	}
	closeServer()
	if err := <-ran; err != nil {
		t.Error(err)
	}
	for _, c := range conns {
		expectEnd(t, c)
	}
	keep.Send([]byte("late"))
	keep.Close()
	h.mu.Lock()
	for id, reasons := range h.reasons {
		if len(reasons) != 1 || !errors.Is(reasons[0], ErrServerClosed) {
			t.Errorf("connection %d ended for %v", id, reasons)
		}
	}
	if len(h.reasons) != 20 {
		t.Errorf("%d ends, want 20", len(h.reasons))
	}
	h.mu.Unlock()
	if st := stats(t, s); st.Frames != 20 || st.Closed["stop"] != 20 {
		t.Errorf("final counters: %+v", st)
	}
	if _, err := net.DialTimeout("tcp", s.Addr().String(), time.Second); err == nil {
		t.Error("still accepts")
	}
	waitFor(t, "the goroutines to end", func() bool { return ourGoroutines() <= before })
}

func TestCloseWithoutRun(t *testing.T) {
	s, err := Listen(newEcho(), Options{Addr: "127.0.0.1:0", Logger: quietLogger()})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
}

// A wildcard is IPv6's on a machine that has nothing else; where there is an IPv4 address, Go makes it stand for both.
func TestListenOn(t *testing.T) {
	machine := func(addrs ...string) func() ([]net.Addr, error) {
		var found []net.Addr
		for _, addr := range addrs {
			ip, network, err := net.ParseCIDR(addr)
			if err != nil {
				t.Fatal(err)
			}
			found = append(found, &net.IPNet{IP: ip, Mask: network.Mask})
		}
		return func() ([]net.Addr, error) { return found, nil }
	}
	only6, both := machine("::1/128", "2001:db8::1/64"), machine("127.0.0.1/8", "::1/128")
	unknown := func() ([]net.Addr, error) { return nil, errors.New("no list") }
	for _, c := range []struct {
		addr    string
		machine func() ([]net.Addr, error)
		want    string
	}{
		{"0.0.0.0:9876", only6, "tcp6 [::]:9876"},
		{"[::]:9876", only6, "tcp6 [::]:9876"},
		{"0.0.0.0:9876", both, "tcp 0.0.0.0:9876"},
		{"0.0.0.0:9876", machine(), "tcp 0.0.0.0:9876"},
		{"0.0.0.0:9876", unknown, "tcp 0.0.0.0:9876"},
		{"[::1]:9876", only6, "tcp [::1]:9876"},
		{"127.0.0.1:9876", only6, "tcp 127.0.0.1:9876"},
		{"name.example:9876", only6, "tcp name.example:9876"},
	} {
		network, addr := listenOn(c.addr, c.machine)
		if got := network + " " + addr; got != c.want {
			t.Errorf("%s: %s, want %s", c.addr, got, c.want)
		}
	}
}
