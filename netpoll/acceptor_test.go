package netpoll

import (
	"bytes"
	"errors"
	"log/slog"
	"net"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// failingListener answers Accept with an error as long as err is set.
type failingListener struct {
	net.Listener
	err    atomic.Pointer[error]
	failed atomic.Int32
}

func (l *failingListener) Accept() (net.Conn, error) {
	if err := l.err.Load(); err != nil {
		l.failed.Add(1)
		return nil, *err
	}
	return l.Listener.Accept()
}

// lineLog collects log lines.
type lineLog struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lineLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lineLog) count(text string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.b.String(), text)
}

func startOn(t *testing.T, ln net.Listener, h Handler, o Options) *Server {
	t.Helper()
	o.setDefaults()
	s, err := serve(ln, h, o)
	if err != nil {
		t.Fatal(err)
	}
	runServer(t, s)
	return s
}

func TestOutOfDescriptors(t *testing.T) {
	for _, tc := range []struct {
		name string
		err  error
	}{
		{"process", syscall.EMFILE},
		{"machine", syscall.ENFILE},
		{"memory", syscall.ENOBUFS},
		{"anything else", errors.New("test: strange")},
	} {
		t.Run(tc.name, func(t *testing.T) {
			o := Options{Addr: "127.0.0.1:0"}
			ln, err := listen(&o)
			if err != nil {
				t.Fatal(err)
			}
			fl := &failingListener{Listener: ln}
			lines := &lineLog{}
			s := startOn(t, fl, newEcho(), Options{Logger: slog.New(slog.NewTextHandler(lines, nil))})

			old := dial(t, s)
			send(t, old, frameOf("before"))
			expect(t, old, frameOf("before"))

			var failure error = &net.OpError{Op: "accept", Err: os.NewSyscallError("accept4", tc.err)}
			fl.err.Store(&failure)
			waiting := dial(t, s) // accepted by the pending Accept
			send(t, waiting, frameOf("x"))
			expect(t, waiting, frameOf("x"))
			waitFor(t, "failures", func() bool { return fl.failed.Load() >= 3 })

			send(t, old, frameOf("during"))
			expect(t, old, frameOf("during"))
			late := dial(t, s) // waits in the kernel
			send(t, late, frameOf("late"))

			fl.err.Store(nil)
			expect(t, late, frameOf("late"))
			if n := lines.count("accepting paused"); n != 1 {
				t.Fatalf("said %d times", n)
			}
			if st := stats(t, s); st.Failed < 3 || st.Accepted != 3 {
				t.Fatalf("counted %d failures, %d accepted", st.Failed, st.Accepted)
			}
		})
	}
}

// TestKeepsDescriptorsFree: accepting pauses at the planned number of connections, loses none, and goes on as they end.
func TestKeepsDescriptorsFree(t *testing.T) {
	lines := &lineLog{}
	o := Options{Addr: "127.0.0.1:0", Logger: slog.New(slog.NewTextHandler(lines, nil))}
	o.setDefaults()
	ln, err := listen(&o)
	if err != nil {
		t.Fatal(err)
	}
	s, err := serve(ln, newEcho(), o)
	if err != nil {
		t.Fatal(err)
	}
	s.acceptor.maxOpen = 3
	runServer(t, s)
	var conns []net.Conn
	for range 30 {
		c := dial(t, s)
		send(t, c, frameOf("x"))
		conns = append(conns, c)
	}
	for i, c := range conns { // those behind the third wait in the kernel for the end of an earlier one
		expect(t, c, frameOf("x"))
		if n := s.ConnCount(); n > 3 {
			t.Fatalf("%d connections open", n)
		}
		if i == 0 {
			waitFor(t, "the pause", func() bool { return lines.count("accepting paused") > 0 })
		}
		_ = c.Close()
	}
	if n := lines.count("accepting paused"); n != 1 {
		t.Fatalf("said %d times", n)
	}
}

func TestDescriptorPlan(t *testing.T) {
	for _, tc := range []struct{ limit, used, maxOpen, maxHandovers int }{
		{64, 15, 41, 4},
		{1024, 20, 876, 64},
		{1 << 20, 20, 1<<20 - 20 - 1024, 512},
		{16, 15, 1, 4},
	} {
		if o, h := planDescriptors(tc.limit, tc.used); o != tc.maxOpen || h != tc.maxHandovers {
			t.Errorf("limit %d, used %d: %d open, %d on their way; want %d, %d", tc.limit, tc.used, o, h, tc.maxOpen, tc.maxHandovers)
		}
	}
}

// TestFreedDescriptorWakesAcceptor: with a long pause running, the end of a connection is what lets accepting go on.
func TestFreedDescriptorWakesAcceptor(t *testing.T) {
	s := newServer(Options{Logger: quietLogger(), Now: monotonicNanos})
	a := &acceptor{server: s, stopping: make(chan struct{}), room: make(chan struct{}, 1), pause: time.Hour}
	s.acceptor = a
	done := make(chan struct{})
	go func() { a.wait(syscall.EMFILE); close(done) }()
	waitFor(t, "the pause", a.short.Load)
	s.count.Add(1)
	s.released()
	select {
	case <-done:
	case <-time.After(waitLimit):
		t.Fatal("still waiting")
	}
}

// TestLostHandover: a loop that could not take a connection must not leave it counted.
func TestLostHandover(t *testing.T) {
	s := startServer(t, newEcho(), Options{})
	mine, theirs := net.Pipe() // no descriptor to hand over
	defer mine.Close()
	s.acceptor.handOver(theirs)
	waitFor(t, "the count", func() bool { return s.ConnCount() == 0 })
	if n := stats(t, s).Failed; n != 1 {
		t.Fatalf("counted %d", n)
	}
	_ = mine.SetReadDeadline(time.Now().Add(waitLimit))
	expectEnd(t, mine)
}

func TestNoDescriptorLeak(t *testing.T) {
	descriptors := func() int {
		d, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Skip(err)
		}
		return len(d)
	}
	s := startServer(t, newEcho(), Options{})
	before := descriptors()
	for range 300 {
		c, err := net.Dial("tcp", s.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		send(t, c, frameOf("x"))
		expect(t, c, frameOf("x"))
		_ = c.Close()
	}
	waitFor(t, "descriptors to be closed", func() bool { return descriptors() <= before })
}

func TestAddressLosesItsZone(t *testing.T) {
	remote := &net.TCPAddr{IP: net.ParseIP("fe80::1"), Port: 7, Zone: "eth0"}
	local := &net.TCPAddr{IP: net.ParseIP("fe80::2"), Port: 8, Zone: "eth0"}
	peer := takeAddress(addressed{remote: remote, local: local})
	if peer != "[fe80::1%eth0]:7" || remote.Zone != "" || local.Zone != "" {
		t.Fatalf("peer %q, zones %q and %q", peer, remote.Zone, local.Zone)
	}
}

type addressed struct {
	net.Conn
	remote, local net.Addr
}

func (a addressed) RemoteAddr() net.Addr { return a.remote }
func (a addressed) LocalAddr() net.Addr  { return a.local }
