package netpoll

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"log/slog"
	"net"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// waitLimit bounds every wait of these tests; nothing comes near it unless it is broken.
const waitLimit = 20 * time.Second

var errBadRequest = errors.New("test: bad request")

// echoHandler answers each frame with itself unless the byte behind the length says otherwise.
type echoHandler struct {
	mu      sync.Mutex
	open    map[uint64]*Conn
	reasons map[uint64][]error // of Close, by connection
	opens   map[uint64]int
	order   []string // calls out of order

	onFrame func(c *Conn, dst, frame []byte) ([]byte, error) // nil: echo
	onOpen  func(c *Conn)
	closed  chan error
	loops   atomic.Int32
}

func newEcho() *echoHandler {
	return &echoHandler{open: map[uint64]*Conn{}, reasons: map[uint64][]error{}, opens: map[uint64]int{},
		closed: make(chan error, 4096)}
}

func (h *echoHandler) NewLoop() LoopHandler { h.loops.Add(1); return &echoLoop{h: h} }

type echoLoop struct{ h *echoHandler }

func (l *echoLoop) Open(c *Conn, _ int64) {
	l.h.mu.Lock()
	l.h.opens[c.ID()]++
	l.h.open[c.ID()] = c
	if len(l.h.reasons[c.ID()]) > 0 {
		l.h.order = append(l.h.order, "open after close")
	}
	l.h.mu.Unlock()
	if l.h.onOpen != nil {
		l.h.onOpen(c)
	}
}

func (l *echoLoop) Frame(c *Conn, dst, frame []byte, _ int64) ([]byte, error) {
	if l.h.onFrame != nil {
		return l.h.onFrame(c, dst, frame)
	}
	return append(dst, frame...), nil
}

func (l *echoLoop) Close(c *Conn, reason error, _ int64) {
	l.h.mu.Lock()
	l.h.reasons[c.ID()] = append(l.h.reasons[c.ID()], reason)
	if l.h.opens[c.ID()] != 1 {
		l.h.order = append(l.h.order, "close without open")
	}
	delete(l.h.open, c.ID())
	l.h.mu.Unlock()
	select {
	case l.h.closed <- reason:
	default:
	}
}

// anyConn waits for an open connection.
func (h *echoHandler) anyConn(t testing.TB) *Conn {
	t.Helper()
	var found *Conn
	waitFor(t, "a connection", func() bool {
		h.mu.Lock()
		defer h.mu.Unlock()
		for _, c := range h.open {
			found = c
		}
		return found != nil
	})
	return found
}

func (h *echoHandler) waitClosed(t testing.TB, want error) {
	t.Helper()
	select {
	case got := <-h.closed:
		if !errors.Is(got, want) {
			t.Fatalf("closed for %v, want %v", got, want)
		}
	case <-time.After(waitLimit):
		t.Fatalf("not closed, want %v", want)
	}
}

func waitFor(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(waitLimit); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

// frameOf is a frame with payload behind its length and a header of four bytes, so that no frame is below 12 bytes.
func frameOf(payload string) []byte {
	b := make([]byte, 4, 12+len(payload))
	b = append(b, "\x00\x00\x00\x04\x00\x00\x00\x00"...)
	b = append(b, payload...)
	binary.BigEndian.PutUint32(b, uint32(len(b)-4))
	return b
}

func bigFrame(size int) []byte {
	b := bytes.Repeat([]byte("seventeen bytes, "), size/17+1)[:size]
	binary.BigEndian.PutUint32(b, uint32(size-4))
	copy(b[4:], "\x00\x00\x00\x04")
	return b
}

// quietLogger keeps expected warnings out of the tests' output.
func quietLogger() *slog.Logger { return slog.New(slog.NewTextHandler(io.Discard, nil)) }

func startServer(t testing.TB, h Handler, o Options) *Server {
	t.Helper()
	if o.Addr == "" {
		o.Addr = "127.0.0.1:0"
	}
	if o.Logger == nil {
		o.Logger = quietLogger()
	}
	if o.EventLoops == 0 {
		o.EventLoops = 2
	}
	s, err := Listen(h, o)
	if err != nil {
		t.Fatal(err)
	}
	runServer(t, s)
	return s
}

func runServer(t testing.TB, s *Server) {
	ran := make(chan error, 1)
	go func() { ran <- s.Run() }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), waitLimit)
		defer cancel()
		if err := s.Close(ctx); err != nil {
			t.Errorf("Close: %v", err)
		}
		if err := <-ran; err != nil {
			t.Errorf("Run: %v", err)
		}
	})
}

func dial(t testing.TB, s *Server) *net.TCPConn {
	t.Helper()
	c, err := net.DialTimeout("tcp", s.Addr().String(), waitLimit)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(waitLimit))
	return c.(*net.TCPConn)
}

func send(t testing.TB, c net.Conn, b []byte) {
	t.Helper()
	if _, err := c.Write(b); err != nil {
		t.Fatalf("write: %v", err)
	}
}

func expect(t testing.TB, c net.Conn, want []byte) {
	t.Helper()
	got := make([]byte, len(want))
	if n, err := io.ReadFull(c, got); err != nil {
		t.Fatalf("read: %v after %d of %d bytes", err, n, len(want))
	}
	if string(got) != string(want) {
		t.Fatalf("got %.60q, want %.60q", got, want)
	}
}

// expectEnd wants the connection closed without another byte.
func expectEnd(t testing.TB, c net.Conn) {
	t.Helper()
	var b [1]byte
	n, err := c.Read(b[:])
	var timeout net.Error
	if n != 0 || err == nil || errors.As(err, &timeout) && timeout.Timeout() {
		t.Fatalf("read %d bytes, %v; want the end", n, err)
	}
}

func stats(t testing.TB, s *Server) Stats {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), waitLimit)
	defer cancel()
	st, err := s.Stats(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return st
}

// ourGoroutines counts goroutines but those of gnet's process-wide worker pool, which keeps idle ones for a while.
func ourGoroutines() int { return goroutines("") - goroutines("ants/v2") }

// goroutines counts those whose stack has text in it.
func goroutines(text string) int {
	buf := make([]byte, 4<<20)
	buf = buf[:runtime.Stack(buf, true)]
	n := 0
	for g := range strings.SplitSeq(string(buf), "\n\n") {
		if strings.Contains(g, text) {
			n++
		}
	}
	return n
}
