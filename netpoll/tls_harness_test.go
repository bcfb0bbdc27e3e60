package netpoll

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"math/big"
	"net"
	"os"
	"sync"
	"testing"
	"time"
)

// selfSigned is the certificate of these tests' servers.
var selfSigned = sync.OnceValue(func() tls.Certificate {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	template := x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, &template, &template, key.Public(), key)
	if err != nil {
		panic(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
})

func serverTLS() *tls.Config {
	return &tls.Config{Certificates: []tls.Certificate{selfSigned()}, DynamicRecordSizingDisabled: true}
}

// withTLS are options of a server that takes both.
func withTLS(o Options) Options {
	config := serverTLS()
	o.TLSConfig = func() *tls.Config { return config }
	return o
}

func clientTLS() *tls.Config { return &tls.Config{InsecureSkipVerify: true} }

func clientTLSVersion(version uint16) *tls.Config {
	config := clientTLS()
	config.MinVersion, config.MaxVersion = version, version
	return config
}

var tlsVersions = map[string]uint16{"1.2": tls.VersionTLS12, "1.3": tls.VersionTLS13}

// dialTLS connects and shakes hands.
func dialTLS(t testing.TB, s *Server) *tls.Conn {
	t.Helper()
	return secure(t, dial(t, s), clientTLS())
}

func secure(t testing.TB, c net.Conn, config *tls.Config) *tls.Conn {
	t.Helper()
	inside := tls.Client(c, config)
	if err := inside.Handshake(); err != nil {
		t.Fatalf("handshake: %v", err)
	}
	return inside
}

// wireEnd is the client's side of the wire: what it writes goes to out, what it reads comes from in.
type wireEnd struct {
	net.Conn // panics where it is not overridden
	out, in  chan []byte
	rest     []byte
	patience time.Duration // of a Read
}

func newWireEnd() *wireEnd {
	return &wireEnd{out: make(chan []byte, 1024), in: make(chan []byte, 1024), patience: waitLimit}
}

func (w *wireEnd) Write(b []byte) (int, error) {
	w.out <- append([]byte(nil), b...)
	return len(b), nil
}

func (w *wireEnd) Read(b []byte) (int, error) {
	if len(w.rest) == 0 {
		select {
		case w.rest = <-w.in:
		case <-time.After(w.patience):
			return 0, os.ErrDeadlineExceeded
		}
	}
	n := copy(b, w.rest)
	w.rest = w.rest[n:]
	return n, nil
}

func (w *wireEnd) SetWriteDeadline(time.Time) error { return nil }
func (w *wireEnd) Close() error                     { return nil }

// pipeClient speaks TLS to a Pipe. Its bytes are delivered by pump, on the test's goroutine.
type pipeClient struct {
	*tls.Conn
	wire   *wireEnd
	p      *Pipe
	chunk  int // bytes of a read event
	closed error
}

func newPipeClient(p *Pipe, config *tls.Config, chunk int) *pipeClient {
	w := newWireEnd()
	return &pipeClient{Conn: tls.Client(w, config), wire: w, p: p, chunk: chunk}
}

// pump carries bytes both ways until done says so or the server has closed.
func (c *pipeClient) pump(t testing.TB, what string, done func() bool) {
	t.Helper()
	waitFor(t, what, func() bool {
		c.step(nil)
		for {
			select {
			case b := <-c.wire.out:
				for ; len(b) > 0; b = b[min(c.chunk, len(b)):] {
					c.step(b[:min(c.chunk, len(b))])
				}
				continue
			default:
			}
			return done() || c.closed != nil
		}
	})
}

func (c *pipeClient) step(b []byte) {
	answers, err := c.p.Feed(b)
	if len(answers) > 0 {
		c.wire.in <- append([]byte(nil), answers...)
	}
	if err != nil {
		c.closed = err
	}
}

// handshake completes both sides'.
func (c *pipeClient) handshake(t testing.TB) {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- c.Handshake() }()
	over := false
	c.pump(t, "the handshake", func() bool {
		select {
		case err := <-done:
			if over = true; err != nil {
				t.Fatal(err)
			}
		default:
		}
		return over && c.p.Conn().stage != stageTLS
	})
	if c.closed != nil {
		t.Fatalf("closed: %v", c.closed)
	}
}
