package netpoll

import (
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/waymark-mq/waymark/codec"
)

// foreigners are first messages as others send them, and what they are called.
var foreigners = []struct{ protocol, hello string }{
	{"HTTP/1", "GET / HTTP/1.1\r\nHost: ns:9876\r\nUser-Agent: curl/8.5.0\r\nAccept: */*\r\n\r\n"},
	{"HTTP/1", "POST /rocketmq/nsaddr HTTP/1.0\r\n\r\n"},
	{"HTTP/1", "HEAD / HTTP/1.0\r\n\r\n"},
	{"HTTP/1", "PUT /x HTTP/1.1\r\n\r\n"},
	{"HTTP/1", "DELETE /x HTTP/1.1\r\n\r\n"},
	{"HTTP/1", "OPTIONS / RTSP/1.0\r\n\r\n"},
	{"HTTP/1", "PATCH /x HTTP/1.1\r\n\r\n"},
	{"HTTP/1", "TRACE / HTTP/1.1\r\n\r\n"},
	{"HTTP/1", "CONNECT ns:9876 HTTP/1.1\r\n\r\n"},
	{"HTTP/1", "PROPFIND / HTTP/1.1\r\n\r\n"},
	{"HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x12\x04\x00\x00\x00\x00\x00"},
	{"SSH", "SSH-2.0-OpenSSH_9.6\r\n"},
	{"RDP", "\x03\x00\x00\x13\x0e\xe0\x00\x00\x00\x00\x00\x01\x00\x08\x00\x03\x00\x00\x00"},
	{"SMB", "\x00\x00\x00\x85\xffSMBr\x00\x00\x00\x00\x18\x53\xc8"},
	{"SMB", "\x00\x00\x00\xc4\xfeSMB\x40\x00\x00\x00\x00\x00"},
	{"Redis", "*1\r\n$4\r\nPING\r\n"},
	{"Redis", "PING\r\n"},
	{"PostgreSQL", "\x00\x00\x00\x08\x04\xd2\x16\x2f"},
	{"PostgreSQL", "\x00\x00\x00\x17\x00\x03\x00\x00user\x00postgres\x00\x00"},
	{"Kafka", "\x00\x00\x00\x2b\x00\x12\x00\x03\x00\x00\x00\x01\x00\x09rdkafka"},
	{"MongoDB", "\x3a\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\xd4\x07\x00\x00\x00\x00\x00\x00admin.$cmd\x00"},
	{"ZooKeeper", "ruok"},
	{"ZooKeeper", "stat\n"},
	{"ZooKeeper", "\x00\x00\x00\x2d\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x75\x30"},
	{"AMQP", "AMQP\x00\x00\x09\x01"},
	{"MQTT", "\x10\x0f\x00\x04MQTT\x04\x02\x00\x3c\x00\x03abc"},
	{"NSQ", "  V2IDENTIFY\n"},
	{"Dubbo", "\xda\xbb\xc2\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x01\x00"},
	{"Java RMI", "JRMI\x00\x02K"},
	{"LDAP", "\x30\x0c\x02\x01\x01\x60\x07\x02\x01\x02\x04\x00\x80\x00"},
	{"SOCKS", "\x05\x01\x00\x00"},
	{"Oracle TNS", "\x00\x3a\x00\x00\x01\x00\x00\x00\x01\x36\x01\x2c\x00\x00\x08\x00"},
	{"SQL Server TDS", "\x12\x01\x00\x34\x00\x00\x00\x00\x00\x00\x15\x00\x06"},
	{"Telnet", "\xff\xfb\x1f\xff\xfb\x20"},
	{"VNC", "RFB 003.008\n"},
	{"SMTP", "EHLO scanner\r\n"},
	{"lines of text", "help\r\n"},
	{"lines of text", "\r\n\r\nhelp\r\n"},
}

// TestForeignersAreRecognised: closed at the byte that decides, and no later than at the end of what came, with the name.
func TestForeignersAreRecognised(t *testing.T) {
	for _, f := range foreigners {
		t.Run(fmt.Sprintf("%s %.12q", f.protocol, f.hello), func(t *testing.T) {
			p, _ := newTestPipe(newEcho(), Options{})
			_, err := p.Feed([]byte(f.hello))
			if is, ok := errors.AsType[*ForeignError](err); !ok || is.Protocol != f.protocol {
				t.Fatalf("ended for %v", err)
			}
			p, _ = newTestPipe(newEcho(), Options{})
			for i := range len(f.hello) { // however little comes at once, it ends; the name may be another by then
				if _, err = p.Feed([]byte(f.hello[i : i+1])); err != nil {
					break
				}
			}
			if err == nil {
				t.Fatal("still open after all of it, byte by byte")
			}
		})
	}
}

// TestFourBytesAreEnough: a GET's first four bytes end the connection; the beginning of a PROXY header and of a TLS hello don't.
func TestFourBytesAreEnough(t *testing.T) {
	for head, closed := range map[string]bool{
		"GET ": true, "PRI ": true, "SSH-": true, "\xff\xff\xff\xff": true, "\x00\x00\x00\x03": true, "\x01\x00\x00\x01": true,
		"GET": false, "PROX": false, "\r\n\r\n": false, "\x16\x03\x01\x02": false, "\x01\x00\x00\x00": false, "\x00\x00\x00\x08": false,
	} {
		p, _ := newTestPipe(newEcho(), Options{MaxFrameBytes: codec.DefaultMaxFrameBytes + lengthBytes})
		if _, err := p.Feed([]byte(head)); (err != nil) != closed {
			t.Errorf("%q: %v", head, err)
		}
	}
}

// A TLS hello is one also where frames may be so long that its first bytes could be a length.
func TestHelloIsNoLongFrame(t *testing.T) {
	p, _ := newTestPipe(newEcho(), Options{MaxFrameBytes: 1 << 30})
	if _, err := p.Feed([]byte("\x16\x03\x01\x00\xc8\x01\x00\x00\xc4\x03\x03\x00")); !errors.Is(err, ErrTLSHello) {
		t.Errorf("ended for %v", err)
	}
}

// TestForeignerBehindProxyHeader: the proxy's health check or a browser behind it.
func TestForeignerBehindProxyHeader(t *testing.T) {
	const proxy = "PROXY TCP4 192.0.2.1 192.0.2.2 1000 2000\r\n"
	for _, chunk := range []int{len(proxy), len(proxy) + 4, 1 << 20} {
		p, _ := newTestPipe(newEcho(), Options{})
		var err error
		for b := []byte(proxy + "GET / HTTP/1.1\r\n\r\n"); len(b) > 0 && err == nil; b = b[min(chunk, len(b)):] {
			_, err = p.Feed(b[:min(chunk, len(b))])
		}
		if is, ok := errors.AsType[*ForeignError](err); !ok || is.Protocol != "HTTP/1" {
			t.Errorf("ended for %v", err)
		}
	}
}

// TestNoFrameIsForeign: no frame that can be parsed is taken for something else, at whatever size of its first piece.
func TestNoFrameIsForeign(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 5_000 {
		h := codec.Header{Code: random.Int32N(1000), Opaque: random.Int32(), Version: codec.ServerVersion, Flag: random.Int32()}
		if random.IntN(2) == 0 {
			h.ExtFields = []codec.ExtField{{Name: "topic", Value: foreigners[random.IntN(len(foreigners))].hello}}
		}
		body := make([]byte, random.IntN(70_000)*random.IntN(2))
		b := codec.AppendFrame(nil, codec.SerializeType(random.IntN(2)), &h, body)
		for n := range min(40, len(b)) {
			if err := recognise(b[:n], codec.DefaultMaxFrameBytes); err != nil {
				t.Fatalf("%d bytes %q: %v", n, b[:n], err)
			}
		}
	}
}

// TestForeignersInTheLog: thousands of scanners of a kind are a line a minute that says what they were and how many.
func TestForeignersInTheLog(t *testing.T) {
	lines, clock := &lineLog{}, &fakeClock{}
	o := Options{Logger: slog.New(slog.NewTextHandler(lines, nil)), Now: clock.now}
	o.setDefaults()
	s := newServer(o)
	l := newLoop(s, 0, newEcho().NewLoop())
	l.pipe = &Pipe{loop: l}
	feed := func(hello string) {
		c := &Conn{id: 1, peer: "192.0.2.9:4711", loop: l, io: &pipeEnd{arrived: []byte(hello), fresh: []byte(hello)}}
		l.opened(c)
		l.traffic(c)
		if !c.gone.Load() {
			t.Fatalf("%.20q is still open", hello)
		}
	}
	for range 300 * 200 / 50 { // 5 minutes of 200 a second, every 50th
		feed("GET / HTTP/1.1\r\n\r\n")
		feed("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
		feed("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\x00")
		feed("\xfe\xdc\xba\x98\x76\x54\x32\x10\x00\x00\x00\x00")
		clock.nanos += int64(250 * time.Millisecond)
	}
	if n := lines.count("\n"); n > 4*5 {
		t.Errorf("%d lines of four kinds in five minutes", n)
	}
	for text, want := range map[string]int{
		`protocol=HTTP/1 meant="a dashboard or an HTTP port"`: 5, "protocol=HTTP/2": 5, "TLS hello": 5, "skipped=239": 16, "peer=192.0.2.9:4711": 20,
	} {
		if n := lines.count(text); n != want {
			t.Errorf("%d lines with %s, want %d", n, text, want)
		}
	}
}

// TestForeignersOverTCP: each is ended at once, without a reset that would hide the end, nothing leaks, and frames are
// served beside them.
func TestForeignersOverTCP(t *testing.T) {
	h := newEcho()
	s := startServer(t, h, Options{})
	good := dial(t, s)
	for range 5 {
		for _, f := range foreigners {
			c := dial(t, s)
			send(t, c, []byte(f.hello))
			expectEnd(t, c)
			_ = c.Close()
		}
		send(t, good, frameOf("x"))
		expect(t, good, frameOf("x"))
	}
	waitFor(t, "all to end", func() bool { return s.ConnCount() == 1 })
	if n := stats(t, s).Closed["foreign"]; n != uint64(5*len(foreigners)) {
		t.Fatalf("foreign counted %d times", n)
	}
}
