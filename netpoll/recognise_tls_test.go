package netpoll

import (
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"testing"
)

// A foreigner inside TLS, whose bytes come in whatever pieces, is recognised by its first plain bytes and told from one outside; a TLS
// record for each byte is the hardest for that.
func TestForeignersInsideTLS(t *testing.T) {
	for _, f := range foreigners {
		for _, record := range []int{1, 5, 1 << 14} {
			t.Run(fmt.Sprintf("%s %.12q by %d", f.protocol, f.hello, record), func(t *testing.T) {
				p, _ := newTestPipe(newEcho(), withTLS(Options{}))
				c := newPipeClient(p, clientTLS(), 1<<14)
				c.handshake(t)
				for b := []byte(f.hello); len(b) > 0 && c.closed == nil; b = b[min(record, len(b)):] {
					if _, err := c.Write(b[:min(record, len(b))]); err != nil {
						t.Fatal(err)
					}
					c.pump(t, "its bytes", func() bool { return len(c.wire.out) == 0 })
				}
				is, ok := errors.AsType[*ForeignError](c.closed)
				if whole := record > 5; c.closed == nil || whole && (!ok || is.Protocol != f.protocol+" inside TLS") { // in pieces the name may be another
					t.Errorf("ended for %v", c.closed)
				}
			})
		}
	}
}

// Frames inside TLS are served at whatever size of their first piece, and neither a PROXY header nor a hello is one there.
func TestFramesInsideTLSAreNotForeign(t *testing.T) {
	for size := 1; size <= 12; size++ {
		p, _ := newTestPipe(newEcho(), withTLS(Options{}))
		c := newPipeClient(p, clientTLS(), 1<<14)
		c.handshake(t)
		frame := frameOf("hello")
		for _, b := range [][]byte{frame[:size], frame[size:]} {
			if _, err := c.Write(b); err != nil {
				t.Fatal(err)
			}
			c.pump(t, "its bytes", func() bool { return len(c.wire.out) == 0 })
		}
		if n := p.loop.counts.frames; n != 1 || c.closed != nil {
			t.Errorf("first piece of %d bytes: %d frames, closed for %v", size, n, c.closed)
		}
	}
	for _, first := range []string{"PROXY TCP4 192.0.2.1 192.0.2.2 1000 2000\r\n", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\x00"} {
		p, _ := newTestPipe(newEcho(), withTLS(Options{}))
		c := newPipeClient(p, clientTLS(), 1<<14)
		c.handshake(t)
		if _, err := c.Write([]byte(first)); err != nil {
			t.Fatal(err)
		}
		c.pump(t, "the end", func() bool { return false })
		if kind := kindOf(c.closed); kind != closedBadFrame {
			t.Errorf("%.6q: ended for %v", first, c.closed)
		}
	}
}

// A browser that comes by https is named in the log as what it is, and counted with the others.
func TestHTTPSInTheLog(t *testing.T) {
	lines := &lineLog{}
	s := startServer(t, newEcho(), withTLS(Options{Logger: slog.New(slog.NewTextHandler(lines, nil))}))
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}, Timeout: waitLimit}
	if r, err := client.Get("https://" + s.Addr().String() + "/"); err == nil {
		_ = r.Body.Close()
		t.Errorf("answered %s", r.Status)
	}
	waitFor(t, "the end", func() bool { return stats(t, s).Closed["foreign"] > 0 })
	if n := lines.count(`protocol="HTTP/1 inside TLS" meant="a dashboard or an HTTP port"`); n != 1 {
		t.Errorf("%d lines", n)
	}
}
