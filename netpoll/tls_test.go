package netpoll

import (
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"
)

func TestTLSEcho(t *testing.T) {
	for name, version := range tlsVersions {
		t.Run(name, func(t *testing.T) {
			h := newEcho()
			s := startServer(t, h, withTLS(Options{}))
			c := secure(t, dial(t, s), clientTLSVersion(version))
			var all []byte
			for i := range 5000 {
				all = append(all, frameOf(fmt.Sprintf("request %d %s", i, strings.Repeat("x", i%300)))...)
			}
			for _, b := range [][]byte{frameOf("alone"), all, bigFrame(16 << 20), frameOf("last")} {
				go func() { _, _ = c.Write(b) }()
				expect(t, c, b)
			}
			if !h.anyConn(t).TLS() {
				t.Error("the connection doesn't know that it is inside TLS")
			}
			st := stats(t, s)
			if st.Handshakes != 1 || st.TLSConns != 1 || st.Frames != 5003 {
				t.Errorf("handshakes %d, connections %d, frames %d", st.Handshakes, st.TLSConns, st.Frames)
			}
			if err := c.Close(); err != nil {
				t.Fatal(err)
			}
			h.waitClosed(t, io.EOF)
			if st := stats(t, s); st.TLSConns != 0 || st.Closed["peer"] != 1 || st.HeldBytes != 0 {
				t.Errorf("connections %d, ended by the peer %d, held %d", st.TLSConns, st.Closed["peer"], st.HeldBytes)
			}
		})
	}
}

func TestTLSModes(t *testing.T) {
	const preamble = "PROXY TCP4 192.0.2.1 192.0.2.2 1000 2000\r\n"
	required := withTLS(Options{})
	required.RequireTLS = true
	off := Options{TLSConfig: func() *tls.Config { return nil }}
	for _, tc := range []struct {
		name          string
		o             Options
		inTLS         bool
		head          string
		closed        error
		closedAs, end string
	}{
		{"off, plain", off, false, "", nil, "", ""},
		{"off, TLS", off, true, "", ErrTLSHello, "tls", ""},
		{"off, TLS behind PROXY", off, true, preamble, ErrTLSHello, "tls", ""},
		{"permissive, plain", withTLS(Options{}), false, "", nil, "", ""},
		{"permissive, plain behind PROXY", withTLS(Options{}), false, preamble, nil, "", ""},
		{"permissive, TLS", withTLS(Options{}), true, "", nil, "", ""},
		{"permissive, TLS behind PROXY", withTLS(Options{}), true, preamble, nil, "", ""},
		{"required, plain", required, false, "", ErrPlaintext, "plaintext", ""},
		{"required, plain behind PROXY", required, false, preamble, ErrPlaintext, "plaintext", ""},
		{"required, TLS", required, true, "", nil, "", ""},
		{"required, TLS behind PROXY", required, true, preamble, nil, "", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			h := newEcho()
			s := startServer(t, h, tc.o)
			raw := dial(t, s)
			send(t, raw, []byte(tc.head))
			var c net.Conn = raw
			if tc.inTLS {
				c = tls.Client(raw, clientTLS())
			}
			_, err := c.Write(frameOf("hello"))
			if tc.closed != nil {
				if tc.inTLS && err == nil {
					t.Error("the handshake went well")
				}
				h.waitClosed(t, tc.closed)
				if n := stats(t, s).Closed[tc.closedAs]; n != 1 {
					t.Errorf("counted %d times as %s", n, tc.closedAs)
				}
				return
			}
			expect(t, c, frameOf("hello"))
			conn := h.anyConn(t)
			if conn.TLS() != tc.inTLS {
				t.Errorf("TLS is %v", conn.TLS())
			}
			if proxied := conn.RemoteAddr() == "192.0.2.1:1000"; proxied != (tc.head != "") {
				t.Errorf("address %s", conn.RemoteAddr())
			}
		})
	}
}

// The first request may come in one read with the end of the handshake, and everything in pieces of any size.
func TestTLSInAnyPieces(t *testing.T) {
	for name, version := range tlsVersions {
		for _, chunk := range []int{1, 5, 64, 1 << 20} {
			t.Run(fmt.Sprint(name, " ", chunk), func(t *testing.T) {
				p, _ := newTestPipe(newEcho(), withTLS(Options{}))
				c := newPipeClient(p, clientTLSVersion(version), chunk)
				want := append(frameOf("first"), bigFrame(40*kib)...)
				wrote := make(chan error, 1)
				go func() {
					_, err := c.Write(want)
					wrote <- err
				}()
				got, read := make([]byte, len(want)), make(chan error, 1)
				go func() {
					_, err := io.ReadFull(c, got)
					read <- err
				}()
				c.pump(t, "the answers", func() bool { return len(read) == 1 })
				if err := errors.Join(<-wrote, c.closed, <-read); err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(got, want) {
					t.Fatal("answers differ")
				}
			})
		}
	}
}

// helloOf is a client's first flight.
func helloOf(t *testing.T) []byte {
	t.Helper()
	w := newWireEnd()
	w.patience = time.Nanosecond
	if err := tls.Client(w, clientTLS()).Handshake(); err == nil {
		t.Fatal("no server, and the handshake went well")
	}
	return <-w.out
}

// A hello that stops anywhere is waited for until its deadline, whatever trickles in.
func TestTLSHelloCutAnywhere(t *testing.T) {
	hello := helloOf(t)
	const limit = 10 * time.Second
	o := withTLS(Options{IdleTimeout: 120 * time.Second, HalfFrameTimeout: 60 * time.Second, HandshakeTimeout: limit})
	for n := 1; n < len(hello); n++ {
		if n > 100 && n < len(hello)-100 && n%37 != 0 {
			continue
		}
		p, clock := newTestPipe(newEcho(), o)
		mustFeed(t, p, hello[:n])
		want := ErrTLSTimeout
		wait := limit
		if n < sniffBytes { // nobody knows yet that it is a hello
			want, wait = ErrHalfFrame, 60*time.Second
		}
		if err := clock.pass(p, wait-time.Second); err != nil {
			t.Fatalf("%d bytes: closed early: %v", n, err)
		}
		if n+1 < len(hello) && n != sniffBytes-1 {
			mustFeed(t, p, hello[n:n+1])
		}
		if err := clock.pass(p, 4*time.Second); !errors.Is(err, want) {
			t.Fatalf("%d bytes: %v, want %v", n, err, want)
		}
		p.loop.server.handshakes.ended.Wait() // nothing is left behind
	}
}

// A handshake that stops behind the server's first flight has the same deadline.
func TestTLSHandshakeStops(t *testing.T) {
	p, clock := newTestPipe(newEcho(), withTLS(Options{HandshakeTimeout: 10 * time.Second}))
	mustFeed(t, p, helloOf(t))
	var flight []byte
	waitFor(t, "the server's flight", func() bool { flight = append(flight, mustFeed(t, p, nil)...); return len(flight) > 0 })
	if err := clock.pass(p, 13*time.Second); !errors.Is(err, ErrTLSTimeout) {
		t.Fatalf("got %v", err)
	}
	p.loop.server.handshakes.ended.Wait()
	p.Tick()
	if c := p.loop.counts; c.tlsFailed != 1 || c.closed[closedTLSTimeout] != 1 {
		t.Fatalf("failed %d, timed out %d; want 1, 1", c.tlsFailed, c.closed[closedTLSTimeout])
	}
}

// A record that stops has the deadline of a frame that does, although none of it can be read.
func TestTLSHalfRecord(t *testing.T) {
	o := withTLS(Options{IdleTimeout: 120 * time.Second, HalfFrameTimeout: 10 * time.Second})
	for _, n := range []int{1, 4, 5, 6, 100} {
		p, clock := newTestPipe(newEcho(), o)
		c := newPipeClient(p, clientTLS(), 1<<20)
		c.handshake(t)
		if _, err := c.Write(frameOf(strings.Repeat("x", 200))); err != nil {
			t.Fatal(err)
		}
		record := <-c.wire.out
		mustFeed(t, p, record[:n])
		var err error
		seconds := 0
		for ; err == nil && seconds < 100; seconds++ {
			if err = clock.pass(p, time.Second); err == nil {
				_, err = p.Feed(record[n+seconds : n+seconds+1])
			}
		}
		if err != ErrHalfFrame || seconds < 10 || seconds > 12 {
			t.Fatalf("%d bytes: ended after %d s for %v", n, seconds, err)
		}
	}
}

// An idle connection inside TLS is like any other: a whole record leaves nothing behind.
func TestTLSIdle(t *testing.T) {
	p, clock := newTestPipe(newEcho(), withTLS(Options{IdleTimeout: 30 * time.Second, HalfFrameTimeout: 10 * time.Second}))
	c := newPipeClient(p, clientTLS(), 1<<20)
	c.handshake(t)
	if err := clock.pass(p, 29*time.Second); err != nil {
		t.Fatal(err)
	}
	if err := clock.pass(p, 3*time.Second); err != ErrIdle {
		t.Fatalf("got %v", err)
	}
}

func TestTLSSendFromElsewhere(t *testing.T) {
	h := newEcho()
	s := startServer(t, h, withTLS(Options{}))
	for range 10 {
		c := dialTLS(t, s)
		send(t, c, frameOf("hello"))
		expect(t, c, frameOf("hello"))
		conn := h.anyConn(t)
		var want []byte
		for i := range 100 {
			f := frameOf(fmt.Sprint("sent ", i))
			want = append(want, f...)
			if !conn.Send(f) {
				t.Fatal("not taken")
			}
		}
		conn.Close()
		expect(t, c, want)
		if n, err := c.Read(make([]byte, 1)); n != 0 || err != io.EOF { // not an end that somebody may have made up
			t.Fatalf("read %d bytes, %v", n, err)
		}
		h.waitClosed(t, ErrClosed)
		if conn.Send([]byte("late")) {
			t.Fatal("taken on a gone connection")
		}
	}
	if n := s.UnsentBytes(); n != 0 {
		t.Fatalf("%d unsent bytes remembered", n)
	}
}

// An answer that is computed elsewhere holds up what follows it, inside TLS too.
func TestTLSPauseAndResume(t *testing.T) {
	h := newEcho()
	h.onFrame = func(c *Conn, dst, frame []byte) ([]byte, error) {
		if !bytes.Contains(frame, []byte("later")) {
			return append(dst, frame...), nil
		}
		answer := bytes.Clone(frame)
		c.Pause()
		go func() {
			c.Send(answer)
			c.Resume()
		}()
		return dst, nil
	}
	s := startServer(t, h, withTLS(Options{}))
	c := dialTLS(t, s)
	var all []byte
	for i := range 200 {
		all = append(append(all, frameOf(fmt.Sprint("later ", i))...), frameOf(fmt.Sprint("now ", i))...)
	}
	go func() { _, _ = c.Write(all) }()
	expect(t, c, all)
}
