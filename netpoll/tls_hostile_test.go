package netpoll

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/tls"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
	"net"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/waymark-mq/waymark/internal/invariants"
	"github.com/waymark-mq/waymark/internal/raceflag"
)

// Hellos beyond what may wait are closed at once and counted; who is connected doesn't notice, and who comes when there is
// room again is served.
func TestTLSHandshakeFlood(t *testing.T) {
	h := newEcho()
	o := withTLS(Options{EventLoops: 1, MaxHandshakes: 2, HandshakeTimeout: -1})
	const most = 2 * (1 + waitingHandshakes)
	s := startServer(t, h, o)
	inside, plain := dialTLS(t, s), dial(t, s)
	waitFor(t, "the first handshake", func() bool { return s.handshakes.pending.Load() == 0 })
	hello := helloOf(t)
	var flood []net.Conn
	for range most {
		c := dial(t, s)
		send(t, c, hello)
		flood = append(flood, c)
	}
	waitFor(t, "all of them", func() bool { return s.handshakes.pending.Load() == most })
	if n := len(s.handshakes.begun); n > 2 {
		t.Errorf("%d handshakes have begun", n)
	}
	const more = 5
	for range more {
		c := dial(t, s)
		send(t, c, hello)
		expectEnd(t, c)
	}
	for _, c := range []net.Conn{inside, plain} {
		send(t, c, frameOf("still here"))
		expect(t, c, frameOf("still here"))
	}
	if st := stats(t, s); st.HandshakesRefused != more || st.Closed["tls_busy"] != more {
		t.Errorf("refused %d, closed for it %d; want %d", st.HandshakesRefused, st.Closed["tls_busy"], more)
	}
	for _, c := range flood {
		_ = c.Close()
	}
	waitFor(t, "their end", func() bool { return s.handshakes.pending.Load() == 0 })
	c := dialTLS(t, s)
	send(t, c, frameOf("again"))
	expect(t, c, frameOf("again"))
	if st := stats(t, s); st.HandshakesFailed != most {
		t.Errorf("failed %d, want %d", st.HandshakesFailed, most)
	}
}

// Handshakes that wait for their peer hold no place among those that compute.
func TestTLSWaitingPeersDontBlockOthers(t *testing.T) {
	s := startServer(t, newEcho(), withTLS(Options{EventLoops: 1, HandshakeTimeout: -1}))
	hello := helloOf(t)
	waiting := 2 * cap(s.handshakes.compute)
	for range waiting {
		c := dial(t, s)
		send(t, c, hello)
		_, _ = io.ReadFull(c, make([]byte, 5)) // the server's turn is over
	}
	c := dialTLS(t, s)
	send(t, c, frameOf("hello"))
	expect(t, c, frameOf("hello"))
	if n := s.handshakes.pending.Load(); n != int64(waiting) {
		t.Errorf("%d handshakes under way, want %d", n, waiting)
	}
}

// What comes behind a hello that is not answered yet is held, and counts.
func TestTLSInputDuringHandshake(t *testing.T) {
	h := newEcho()
	s := startServer(t, h, withTLS(Options{EventLoops: 1, HandshakeTimeout: -1, MaxFrameBytes: 1 << 20, MaxHeldBytes: 1 << 20}))
	for range cap(s.handshakes.compute) {
		s.handshakes.compute <- struct{}{} // nobody gets on
	}
	c := dial(t, s)
	send(t, c, helloOf(t))
	waitFor(t, "the hello", func() bool { return stats(t, s).HeldBytes > 0 })
	go func() { _, _ = c.Write(make([]byte, 4<<20)) }()
	h.waitClosed(t, ErrInputOverflow)
	for range cap(s.handshakes.compute) {
		<-s.handshakes.compute
	}
	waitFor(t, "the handshake's end", func() bool { return stats(t, s).HandshakesFailed == 1 })
	if st := stats(t, s); st.HeldBytes != 0 {
		t.Errorf("%d bytes held", st.HeldBytes)
	}
}

func TestTLSRubbish(t *testing.T) {
	hello := helloOf(t)
	flipped := bytes.Clone(hello)
	flipped[9] ^= 0xff // within the hello's length
	for _, tc := range []struct {
		name string
		head []byte
		want error
	}{
		{"no record", []byte("\x16GET / HTTP/1.1\r\n\r\n"), ErrTLSHandshake},
		{"record of the greatest length", append([]byte("\x16\x03\x01\xff\xff"), make([]byte, 70_000)...), ErrTLSHandshake},
		{"SSL 3.0 hello", []byte("\x16\x03\x00\x00\x2d\x01\x00\x00\x29\x03\x00" + strings.Repeat("x", 40)), ErrTLSHandshake},
		{"hello longer than what comes", flipped, ErrTLSTimeout},
		{"hello and a frame in the clear", append(bytes.Clone(hello), frameOf("plain")...), ErrTLSHandshake},
		{"hello twice", append(bytes.Clone(hello), hello...), ErrTLSHandshake},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p, clock := newTestPipe(newEcho(), withTLS(Options{HandshakeTimeout: 10 * time.Second}))
			_, err := p.Feed(tc.head)
			if tc.want == ErrTLSTimeout {
				err = clock.pass(p, 13*time.Second)
			}
			for end := time.Now().Add(waitLimit); err == nil && time.Now().Before(end); time.Sleep(time.Millisecond) {
				_, err = p.Feed(nil)
			}
			if !errors.Is(err, tc.want) {
				t.Fatalf("got %v, want %v", err, tc.want)
			}
		})
	}
}

// Inside TLS there are frames: bytes in the clear, and another PROXY header or hello, end it.
func TestTLSInsideIsFrames(t *testing.T) {
	hello := helloOf(t)
	for _, tc := range []struct {
		name  string
		clear bool
		bytes []byte
		want  string
	}{
		{"a frame in the clear", true, frameOf("plain"), "tls_record"},
		{"a hello in the clear", true, hello, "tls_record"},
		{"a PROXY header inside", false, []byte("PROXY UNKNOWN\r\n" + string(frameOf("x"))), "bad_frame"},
		{"a hello inside", false, hello, "bad_frame"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := startServer(t, newEcho(), withTLS(Options{}))
			raw := dial(t, s)
			c := secure(t, raw, clientTLS())
			send(t, c, frameOf("first"))
			expect(t, c, frameOf("first"))
			if tc.clear {
				send(t, raw, tc.bytes)
			} else {
				send(t, c, tc.bytes)
			}
			if n, err := c.Read(make([]byte, 100)); n > 0 || err == nil {
				t.Errorf("answered with %d bytes", n)
			}
			waitFor(t, "its end", func() bool { return stats(t, s).Closed[tc.want] == 1 })
		})
	}
}

// A client that asks for another handshake over TLS 1.2 is refused: it could make the server compute for nothing.
func TestTLSRenegotiationRefused(t *testing.T) {
	var keys bytes.Buffer
	config := clientTLSVersion(tls.VersionTLS12)
	config.CipherSuites = []uint16{tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256}
	config.KeyLogWriter = &keys
	s := startServer(t, newEcho(), withTLS(Options{}))
	wire := &recorder{TCPConn: dial(t, s)}
	c := secure(t, wire, config)
	send(t, c, frameOf("first"))
	expect(t, c, frameOf("first"))

	const clientHello = "\x01\x00\x00\x29\x03\x03" // 41 bytes: version, random, no session, one suite, no compression
	body := clientHello + strings.Repeat("r", 32) + "\x00\x00\x02\xc0\x2b\x01\x00"
	send(t, wire.TCPConn, sealRecord(t, keys.String(), wire.read.Bytes(), 2, 22, []byte(body)))
	if n, err := c.Read(make([]byte, 1)); n > 0 || err == nil || !strings.Contains(err.Error(), "remote error") {
		t.Errorf("read %d bytes, %v; want an alert", n, err)
	}
	waitFor(t, "its end", func() bool { return stats(t, s).Closed["tls_record"] == 1 })
	if st := stats(t, s); st.Handshakes != 1 {
		t.Errorf("%d handshakes", st.Handshakes)
	}
}

// recorder keeps what the server sent.
type recorder struct {
	*net.TCPConn
	read bytes.Buffer
}

func (r *recorder) Read(b []byte) (int, error) {
	n, err := r.TCPConn.Read(b)
	r.read.Write(b[:n])
	return n, err
}

// sealRecord makes a client's record of TLS 1.2 with AES-128-GCM, whose keys follow from the key log and the random in
// the server's hello (RFC 5246, 6.3; RFC 5288).
func sealRecord(t *testing.T, keyLog string, serverSent []byte, sequence uint64, kind byte, plain []byte) []byte {
	t.Helper()
	words := strings.Fields(keyLog) // CLIENT_RANDOM random master
	clientRandom, err1 := hex.DecodeString(words[1])
	master, err2 := hex.DecodeString(words[2])
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	const toRandom = 5 + 4 + 2 // record header, message header, version
	seed := append(append([]byte("key expansion"), serverSent[toRandom:toRandom+32]...), clientRandom...)
	block := prf(master, seed, 2*16+2*4)
	key, salt := block[:16], block[32:36]
	gcm, err := aes.NewCipher(key)
	if err != nil {
		t.Fatal(err)
	}
	aead, err := cipher.NewGCM(gcm)
	if err != nil {
		t.Fatal(err)
	}
	explicit := binary.BigEndian.AppendUint64(nil, sequence)
	additional := append(bytes.Clone(explicit), kind, 3, 3)
	additional = binary.BigEndian.AppendUint16(additional, uint16(len(plain)))
	sealed := aead.Seal(nil, append(bytes.Clone(salt), explicit...), plain, additional)
	record := binary.BigEndian.AppendUint16([]byte{kind, 3, 3}, uint16(len(explicit)+len(sealed)))
	return append(append(record, explicit...), sealed...)
}

// prf is P_SHA256 of RFC 5246, 5; seed has its label in front.
func prf(secret, seed []byte, n int) (out []byte) {
	sum := func(parts ...[]byte) []byte {
		h := hmac.New(sha256.New, secret)
		for _, p := range parts {
			h.Write(p)
		}
		return h.Sum(nil)
	}
	for a := sum(seed); len(out) < n; a = sum(a) {
		out = append(out, sum(a, seed)...)
	}
	return out[:n]
}

// What a connection inside TLS holds of the heap while nothing happens.
func TestTLSIdleConnectionMemory(t *testing.T) {
	if raceflag.Enabled || invariants.Enabled {
		t.Skip("this build holds more")
	}
	s := startServer(t, newEcho(), withTLS(Options{}))
	heap := func() uint64 {
		var m runtime.MemStats
		for range 3 {
			runtime.GC()
		}
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	const conns = 100
	var raws []net.Conn
	ask := func(n int) {
		for range n {
			raw := dial(t, s)
			c := tls.Client(raw, clientTLS())
			send(t, c, frameOf("hello"))
			expect(t, c, frameOf("hello"))
			raws = append(raws, raw)
		}
	}
	ask(20)
	before := heap()
	ask(conns)
	each := (heap() - before) / conns
	t.Logf("%d bytes each", each)
	if each > 24*kib {
		t.Errorf("%d bytes each", each)
	}
	runtime.KeepAlive(raws)
}
