package newest

import (
	"errors"
	"io"
	"net"
	"testing"
)

// TestNewestConnections: beyond the number the oldest is closed, and one that has ended leaves its place once.
func TestNewestConnections(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	conns := New(2)
	var clients, accepted []net.Conn
	come := func(wantFull bool) {
		t.Helper()
		c, err := net.Dial("tcp", ln.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		a, err := ln.Accept()
		if err != nil {
			t.Fatal(err)
		}
		a, full := conns.Keep(a)
		if full != wantFull {
			t.Errorf("connection %d closes the oldest: %v, want %v", len(clients)+1, full, wantFull)
		}
		t.Cleanup(func() { _ = a.Close() })
		clients, accepted = append(clients, c), append(accepted, a)
	}
	expect := func(open ...bool) {
		t.Helper()
		for i, c := range clients {
			_, _ = accepted[i].Write([]byte{'.'})
			if n, err := c.Read(make([]byte, 1)); open[i] != (n == 1) || !open[i] && !errors.Is(err, io.EOF) {
				t.Errorf("connection %d of %d: %d bytes, %v, want it open: %v", i+1, len(clients), n, err, open[i])
			}
		}
	}
	come(false)
	come(false)
	expect(true, true)
	come(true)
	expect(false, true, true)
	_ = accepted[2].Close()
	_ = accepted[2].Close()
	_ = accepted[0].Close() // which is closed already
	come(false)
	expect(false, true, false, true)
	come(true)
	expect(false, false, false, true, true)
}
