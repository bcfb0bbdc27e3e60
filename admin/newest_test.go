package admin

import (
	"errors"
	"io"
	"net"
	"testing"
)

// TestNewestConnections: beyond the number the oldest is closed, and one that has ended leaves its place once.
func TestNewestConnections(t *testing.T) {
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ln := keepNewest(inner, 2)
	defer ln.Close()
	var clients, accepted []net.Conn
	come := func() {
		t.Helper()
		c, err := net.Dial("tcp", inner.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		a, err := ln.Accept()
		if err != nil {
			t.Fatal(err)
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
	come()
	come()
	expect(true, true)
	come()
	expect(false, true, true)
	_ = accepted[2].Close()
	_ = accepted[2].Close()
	_ = accepted[0].Close() // which is closed already
	come()
	expect(false, true, false, true)
	come()
	expect(false, false, false, true, true)
}
