package netpoll

import (
	"context"
	"errors"
	"net"
	"slices"
	"testing"
	"time"
)

// Pages of ids cover all open connections once, in order; what has ended isn't visited.
func TestCollectByPage(t *testing.T) {
	s := startServer(t, newEcho(), Options{})
	const n = 25
	for range n {
		c := dial(t, s)
		send(t, c, frameOf("here"))
		expect(t, c, frameOf("here"))
	}
	var ids []uint64
	for more := true; more; {
		var page []uint64
		after := uint64(0)
		if len(ids) > 0 {
			after = ids[len(ids)-1]
		}
		if page, more = s.ConnIDs(after, 10); len(page) > 10 {
			t.Fatalf("a page of %d", len(page))
		}
		ids = append(ids, page...)
	}
	if len(ids) != n || !slices.IsSorted(ids) {
		t.Fatalf("ids %v", ids)
	}
	got, err := Collect(t.Context(), s, append(ids, 1000), (*Conn).ID)
	slices.Sort(got)
	if err != nil || !slices.Equal(got, ids) {
		t.Errorf("visited %v, %v; want %v", got, err, ids)
	}
}

// A loop that is busy costs the visitor its time, not more.
func TestCollectFromABusyLoop(t *testing.T) {
	h := newEcho()
	entered, release := make(chan struct{}), make(chan struct{})
	h.onFrame = func(_ *Conn, dst, _ []byte) ([]byte, error) {
		close(entered)
		<-release
		return dst, nil
	}
	s := startServer(t, h, Options{EventLoops: 1})
	send(t, dial(t, s), frameOf("stay"))
	select {
	case <-entered:
	case <-time.After(waitLimit):
		t.Fatal("no frame")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	ids, _ := s.ConnIDs(0, 10)
	if _, err := Collect(ctx, s, ids, (*Conn).ID); !errors.Is(err, context.Canceled) || len(ids) != 1 {
		t.Errorf("ids %v, error %v", ids, err)
	}
	close(release)
}

// A connection ends when nothing is under way on it: no frame begun, no answer owed.
func TestEndQuiet(t *testing.T) {
	h := newEcho()
	var answer func()
	h.onFrame = func(c *Conn, dst, frame []byte) ([]byte, error) {
		c.Pause() // the answer is made elsewhere
		b := append([]byte(nil), frame...)
		answer = func() { c.Send(b); c.Resume() }
		return dst, nil
	}
	s := startServer(t, h, Options{EventLoops: 1})
	c := dial(t, s)
	conn := h.anyConn(t)
	end := func() bool {
		t.Helper()
		ended, err := Collect(t.Context(), s, []uint64{conn.ID()}, func(c *Conn) bool { return c.EndQuiet(ErrDrained) })
		if err != nil || len(ended) != 1 {
			t.Fatal(ended, err)
		}
		return ended[0]
	}
	half := frameOf("whole")
	send(t, c, half[:10])
	waitFor(t, "half a frame", func() bool {
		held, _ := Collect(t.Context(), s, []uint64{conn.ID()}, func(c *Conn) int { return c.inbound() })
		return len(held) == 1 && held[0] == 10
	})
	if end() {
		t.Fatal("ended within a frame")
	}
	send(t, c, half[10:])
	waitFor(t, "the request", func() bool {
		paused, _ := Collect(t.Context(), s, []uint64{conn.ID()}, func(c *Conn) bool { return c.paused > 0 })
		return len(paused) == 1 && paused[0]
	})
	if end() {
		t.Fatal("ended while an answer is being made")
	}
	answer()
	expect(t, c, half)
	for deadline := time.Now().Add(waitLimit); !end(); {
		if time.Now().After(deadline) {
			t.Fatal("a quiet connection stays")
		}
	}
	expectEnd(t, c)
	h.waitClosed(t, ErrDrained)
	if n := stats(t, s).Closed["drained"]; n != 1 {
		t.Errorf("%d counted as drained", n)
	}
}

// keeping is a client's end of the wire that keeps what is written while on is set.
type keeping struct {
	net.Conn
	on   bool
	kept []byte
}

func (k *keeping) Write(p []byte) (int, error) {
	if !k.on {
		return k.Conn.Write(p)
	}
	k.kept = append(k.kept, p...)
	return len(p), nil
}

// Half a TLS record is something under way too, though no byte of the frame in it can be seen.
func TestEndQuietWithinARecord(t *testing.T) {
	h := newEcho()
	s := startServer(t, h, withTLS(Options{EventLoops: 1}))
	wire := &keeping{Conn: dial(t, s)}
	c := secure(t, wire, clientTLS())
	send(t, c, frameOf("before"))
	expect(t, c, frameOf("before"))
	conn := h.anyConn(t)
	ask := func(what func(*Conn) bool) bool {
		t.Helper()
		answers, err := Collect(t.Context(), s, []uint64{conn.ID()}, what)
		if err != nil || len(answers) != 1 {
			t.Fatal(answers, err)
		}
		return answers[0]
	}
	wire.on = true
	send(t, c, frameOf("cut"))
	send(t, wire.Conn, wire.kept[:10])
	waitFor(t, "half a record", func() bool { return ask((*Conn).inRecord) })
	if ask(func(c *Conn) bool { return c.EndQuiet(ErrDrained) }) {
		t.Fatal("ended within a record")
	}
	send(t, wire.Conn, wire.kept[10:])
	expect(t, c, frameOf("cut"))
}
