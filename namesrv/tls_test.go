package namesrv

import (
	"bufio"
	"crypto/tls"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	"github.com/waymark-mq/waymark/codec"
	"github.com/waymark-mq/waymark/namesrv/settings"
	"github.com/waymark-mq/waymark/namesrv/tlsconfig"
)

// startTLS starts a server whose connections may be inside TLS, with system properties given as name, value.
func startTLS(t *testing.T, properties ...string) *testServer {
	t.Helper()
	home := t.TempDir()
	system := map[string]string{"tls.config.file": filepath.Join(home, "none")}
	for i := 0; i+1 < len(properties); i += 2 {
		system[properties[i]] = properties[i+1]
	}
	p, err := tlsconfig.Read(system, func(string) string { return "test" })
	if err != nil {
		t.Fatal(err)
	}
	source, err := tlsconfig.Open(p, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	s := newTestServer(t, home, Options{Settings: settings.Default(settings.Env{HomeDir: home}), TLS: source})
	s.mustStart()
	return s
}

// secure is dial inside TLS.
func (s *testServer) secure() *client {
	s.t.Helper()
	c := s.dial()
	inside := tls.Client(c.conn, &tls.Config{InsecureSkipVerify: true})
	if err := inside.Handshake(); err != nil {
		s.t.Fatal(err)
	}
	c.conn, c.r = inside, bufio.NewReader(inside)
	return c
}

// A broker inside TLS is a broker: it registers, its heartbeats move its ownership, and it goes with its connection.
func TestBrokerInsideTLS(t *testing.T) {
	s := startTLS(t)
	a := broker("a").having(named("T", "U")...)
	plain, first, second := s.dial(), s.secure(), s.secure()
	first.register(a)
	plain.wantRoute("T", second.route("T"))
	if got := plain.route("T"); !strings.Contains(got, "a") {
		t.Fatalf("route %q", got)
	}
	second.call(a.heartbeat()) // now it is this connection's
	cell, _ := s.live(cluster, a.addr())
	if cell == nil {
		t.Fatal("not alive")
	}
	first.close()
	eventually(t, "the first ends", func() bool { return s.net.ConnCount() == 2 })
	s.barrier()
	if got := plain.route("T"); !strings.Contains(got, "a") {
		t.Fatalf("route %q after the connection ended that it had left", got)
	}
	second.close()
	eventually(t, "the broker goes", func() bool { _, alive := s.live(cluster, a.addr()); return !alive })
}

// The requests of one connection take effect in the order sent.
func TestPipelineInsideTLS(t *testing.T) {
	s := startTLS(t, "tls.server.mode", "enforcing")
	c := s.secure()
	a := broker("a").having(many(2000, 4)...)
	last := c.send(a.request(), routeOf("None"), a.unregister(), a.request(), a.heartbeat())
	for opaque := int32(1); opaque <= last; opaque++ {
		if got := c.wait(opaque); (got.code == 0) == (opaque == 2) {
			t.Errorf("answer %d: %v", opaque, got)
		}
	}
	if _, alive := s.live(cluster, a.addr()); !alive {
		t.Error("the registration behind the removal is lost")
	}
	plain := s.dial()
	plain.send(routeOf("T"))
	plain.wantClosed()
}

// A registration of many reads, and a list that is sent off the loop, inside TLS.
func TestLargeRegistrationInsideTLS(t *testing.T) {
	s := startTLS(t)
	c := s.secure()
	c.register(broker("a").having(many(20_000, 8)...))
	if n := strings.Count(c.call(ask(codec.RequestGetAllTopicListFromNameserver)).body, ","); n < 20_000-1 {
		t.Errorf("%d topics", n+1)
	}
}

// Who may name the real peer behind a proxy is a setting; others are ended.
func TestProxyProtocolTrusted(t *testing.T) {
	const header = "PROXY TCP4 192.0.2.1 192.0.2.2 1000 2000\r\n"
	for list, believed := range map[string]bool{"": true, "127.0.0.0/8": true, "10.0.0.1; 127.0.0.1": true, "10.0.0.0/8": false} {
		s := start(t, func(c *settings.Settings) { c.ProxyProtocolTrusted = list })
		c := s.dial()
		if _, err := c.conn.Write([]byte(header)); err != nil {
			t.Fatal(err)
		}
		if !believed {
			c.send(routeOf("None"))
			c.wantClosed()
			continue
		}
		c.wantRoute("None", "none")
		if conn, ok := s.net.Conn(1); !ok || conn.RemoteAddr() != "192.0.2.1:1000" {
			t.Errorf("%q: the peer's address isn't the one that the proxy named", list)
		}
		s.dial().wantRoute("None", "none") // nobody needs a header
	}
}
