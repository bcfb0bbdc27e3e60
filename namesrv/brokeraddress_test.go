package namesrv

import (
	"log/slog"
	"strings"
	"testing"
)

func TestDoubtfulAddress(t *testing.T) {
	const remote, here = "192.0.2.1:40000", "127.0.0.1:40000"
	for _, tt := range []struct {
		addr, peer string
		level      slog.Level
		doubt      string
	}{
		{"192.0.2.1:10911", remote, 0, ""},
		{"192.0.2.1:10911", "[::ffff:192.0.2.1]:40000", 0, ""},
		{"[fe80::1%eth0]:10911", "[fe80::1]:40000", 0, ""},
		{"[2001:db8::1]:10911", "[2001:db8::1]:40000", 0, ""},
		{"127.0.0.1:10911", remote, slog.LevelWarn, "it is a loopback address of another machine"},
		{"127.8.0.1:10911", remote, slog.LevelWarn, "it is a loopback address of another machine"},
		{"[::1]:10911", remote, slog.LevelWarn, "it is a loopback address of another machine"},
		{"[::ffff:127.0.0.1]:10911", remote, slog.LevelWarn, "it is a loopback address of another machine"},
		{"0.0.0.0:10911", remote, slog.LevelWarn, "it is the unspecified one"},
		{"0.0.0.0:10911", here, slog.LevelWarn, "it is the unspecified one"},
		{"[::]:10911", remote, slog.LevelWarn, "it is the unspecified one"},
		{"host.docker.internal:10911", remote, slog.LevelWarn, "it is a name that each of them has to resolve"},
		{"10.0.0.5", remote, slog.LevelWarn, "it is no host:port"},
		{"10.0.0.5", here, slog.LevelWarn, "it is no host:port"},
		{"2001:db8::1:10911", remote, slog.LevelWarn, "it is no host:port"},
		{"", remote, slog.LevelWarn, "it is no host:port"},
		{"172.17.0.2:10911", remote, slog.LevelInfo, "the broker connects from another one"},
		{"127.0.0.1:10911", here, 0, ""},
		{"172.17.0.2:10911", here, 0, ""},
		{"a:10911", here, 0, ""},
		{"127.0.0.1:10911", "[::1]:40000", 0, ""},
	} {
		if level, doubt := doubtfulAddress(tt.addr, tt.peer); level != tt.level || doubt != tt.doubt {
			t.Errorf("%q from %s: %v %q, want %v %q", tt.addr, tt.peer, level, doubt, tt.level, tt.doubt)
		}
	}
}

// A broker that registers an address which clients can't reach is served as it says, and told of once.
func TestDoubtfulAddressIsToldOnce(t *testing.T) {
	s := start(t)
	for i, addr := range []string{"127.0.0.1:10911", "0.0.0.0:10911", "host.docker.internal:10911", "10.0.0.5"} {
		c := s.dial()
		if _, err := c.conn.Write([]byte("PROXY TCP4 192.0.2.1 192.0.2.2 1000 2000\r\n")); err != nil {
			t.Fatal(err)
		}
		name := string(rune('a' + i))
		r := broker(name).set("brokerAddr", addr).having(named("Topic-"+name, "Pad")...)
		for range 5 {
			c.register(r)
			c.want(r.unregister(), "0")
		}
		c.register(r)
		c.wantRoute("Topic-"+name, name+"{0="+addr+"} 4/4/6/0")
		c.register(r.again(), r.counter(2))
		if got := s.logged("addr=" + addr + " peer=192.0.2.1:1000"); len(got) != 1 || !strings.Contains(got[0], "level=WARN") {
			t.Errorf("%s: %d lines, want one warning: %v", addr, len(got), got)
		}
	}
	s.dial().register(broker("here").set("brokerAddr", "127.0.0.1:10911", "clusterName", "Other"))
	if got := s.logged("may not reach"); len(got) != 4 {
		t.Errorf("%d lines, want 4: %v", len(got), got)
	}
}
