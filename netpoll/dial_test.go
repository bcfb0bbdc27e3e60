package netpoll

import (
	"fmt"
	"net"
	"testing"
	"time"
)

func listenLocal(t *testing.T) net.Listener {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ln.Close() })
	return ln
}

func acceptOne(t *testing.T, ln net.Listener) net.Conn {
	t.Helper()
	_ = ln.(*net.TCPListener).SetDeadline(time.Now().Add(waitLimit))
	c, err := ln.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(waitLimit))
	return c
}

func newTestNotifier(t *testing.T, o NotifierOptions) *Notifier {
	o.Logger = quietLogger()
	n := NewNotifier(o)
	t.Cleanup(n.Close)
	return n
}

func TestNotifierKeepsItsConnection(t *testing.T) {
	ln := listenLocal(t)
	n := newTestNotifier(t, NotifierOptions{})
	addr := ln.Addr().String()
	n.Notify(addr, frameOf("one"))
	c := acceptOne(t, ln)
	expect(t, c, frameOf("one"))
	for i := range 10 {
		f := frameOf(fmt.Sprint("more ", i))
		n.Notify(addr, f)
		expect(t, c, f)
	}
	waitFor(t, "the counter", func() bool { return n.Stats() == NotifierStats{Sent: 11} })
}

func TestNotifierConnectsAgain(t *testing.T) {
	ln := listenLocal(t)
	n := newTestNotifier(t, NotifierOptions{})
	addr := ln.Addr().String()
	for i := range 5 {
		f := frameOf(fmt.Sprint("life ", i))
		n.Notify(addr, f)
		c := acceptOne(t, ln)
		expect(t, c, f)
		_ = c.Close() // the broker restarts
		waitFor(t, "the notifier to notice", func() bool { return goroutines("(*Notifier).connect") == 0 })
	}
	if st := n.Stats(); st.Failed+st.Dropped != 0 {
		t.Fatalf("%+v", st)
	}
}

func TestNotifierDeadAddressDelaysNobody(t *testing.T) {
	dead := listenLocal(t)
	refused := dead.Addr().String()
	_ = dead.Close()
	ln := listenLocal(t)
	n := newTestNotifier(t, NotifierOptions{ConnectTimeout: time.Second})
	for range 10 {
		n.Notify(refused, frameOf("lost"))
		n.Notify("no port", frameOf("lost"))
	}
	n.Notify(ln.Addr().String(), frameOf("arrives"))
	expect(t, acceptOne(t, ln), frameOf("arrives"))
	waitFor(t, "the failures", func() bool { return n.Stats() == NotifierStats{Sent: 1, Failed: 20} })
}

func TestNotifierBounds(t *testing.T) {
	ln := listenLocal(t) // never accepts; its backlog takes the connection, its buffers some bytes
	n := newTestNotifier(t, NotifierOptions{QueueFrames: 2, MaxAddrs: 1, SendTimeout: 50 * time.Millisecond})
	big := bigFrame(16 << 20)
	for range 10 {
		n.Notify(ln.Addr().String(), big)
	}
	n.Notify("127.0.0.1:1", frameOf("one address too many"))
	st := n.Stats()
	if st.Dropped < 8 {
		t.Fatalf("dropped %d, want 8 or 7 and the other address's", st.Dropped)
	}
	waitFor(t, "the rest to fail", func() bool { st := n.Stats(); return st.Failed+st.Dropped == 11 })
}

func TestNotifierForgetsIdleAddresses(t *testing.T) {
	ln := listenLocal(t)
	n := newTestNotifier(t, NotifierOptions{IdleTimeout: 20 * time.Millisecond})
	n.Notify(ln.Addr().String(), frameOf("x"))
	c := acceptOne(t, ln)
	expect(t, c, frameOf("x"))
	expectEnd(t, c)
	waitFor(t, "the address to be forgotten", func() bool {
		n.mu.Lock()
		defer n.mu.Unlock()
		return len(n.peers) == 0
	})
	n.Notify(ln.Addr().String(), frameOf("again"))
	expect(t, acceptOne(t, ln), frameOf("again"))
}

func TestNotifierClose(t *testing.T) {
	ln := listenLocal(t)
	before := ourGoroutines()
	n := NewNotifier(NotifierOptions{Logger: quietLogger()})
	n.Notify(ln.Addr().String(), frameOf("x"))
	expect(t, acceptOne(t, ln), frameOf("x"))
	n.Close()
	n.Close()
	n.Notify(ln.Addr().String(), frameOf("late"))
	if st := n.Stats(); st.Dropped != 1 {
		t.Fatalf("%+v", st)
	}
	waitFor(t, "the goroutines to end", func() bool { return ourGoroutines() <= before })
}
