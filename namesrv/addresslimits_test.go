package namesrv

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/waymark-mq/waymark/namesrv/settings"
)

// Queries without an answer have a limit for each address, queries with one have none.
func TestMissesPerAddress(t *testing.T) {
	s := start(t, func(c *settings.Settings) { c.MaxMissesPerSecondPerAddress, c.ProxyProtocolTrusted = 3, "127.0.0.1" })
	out, other := s.proxied(outside), s.proxied("172.16.0.10:1")
	out.register(broker("a"))
	misses := func(c *client, n int) (got string) {
		for range n {
			got += fmt.Sprint(" ", c.call(routeOf("None")).code)
		}
		return got
	}
	second := s.proxied("172.16.0.9:2000")
	for range 10 {
		out.wantRoute("Base", "a{0=a:10911} 4/4/6/0")
	}
	if got := misses(out, 2) + misses(second, 3) + misses(other, 3); got != " 17 17 17 2 2 17 17 17" {
		t.Errorf("answers%s", got)
	}
	out.wantRoute("Base", "a{0=a:10911} 4/4/6/0")
	out.send(routeOf("None").oneway())
	s.advance(time.Second)
	if got := misses(out, 4); got != " 17 17 17 2" {
		t.Errorf("a second later:%s", got)
	}
	if got := s.AccessStats().MissesLimited; got != 3 {
		t.Errorf("%d counted, want 3", got)
	}
	if got := s.logged("too many queries of topics without a route"); len(got) != 1 || !strings.Contains(got[0], "from=172.16.0.9 limitPerSecond=3") {
		t.Errorf("%v", got)
	}
	for limit, want := range map[int]string{5: " 17 17 17 17 17 2", 0: " 17 17 17 17 17 17"} {
		s := start(t, func(c *settings.Settings) { c.MaxMissesPerSecondPerAddress = limit })
		if got := misses(s.proxied(outside), 6); got != want {
			t.Errorf("limit %d:%s", limit, got)
		}
	}
}

// Where proxies aren't known, a PROXY header that names a fresh address brings no fresh share.
func TestMissesBehindUnknownProxies(t *testing.T) {
	s := start(t, func(c *settings.Settings) { c.MaxMissesPerSecondPerAddress = 3 })
	got := ""
	for i := range 5 {
		got += fmt.Sprint(" ", s.proxied(fmt.Sprintf("172.16.1.%d:1", i)).call(routeOf("None")).code)
	}
	if got += fmt.Sprint(" ", s.dial().call(routeOf("None")).code); got != " 17 17 17 2 2 2" {
		t.Errorf("answers%s", got)
	}
	if lines := s.logged("too many queries of topics without a route"); len(lines) != 1 || !strings.Contains(lines[0], "from=127.0.0.1 ") {
		t.Errorf("%v", lines)
	}
}

// New connections have a limit for each address of a socket; those that are open stay, and further ones are closed at once.
func TestNewConnectionsPerAddress(t *testing.T) {
	s := start(t, func(c *settings.Settings) { c.MaxNewConnectionsPerSecondPerAddress = 3 })
	var open []*client
	for range 3 {
		c := s.dial()
		c.wantCode(ask(106), 0)
		open = append(open, c)
	}
	for range 5 {
		c := s.dial()
		_ = c.conn.SetReadDeadline(time.Now().Add(waitLimit))
		if _, err := c.conn.Read(make([]byte, 1)); err == nil || err != io.EOF && !strings.Contains(err.Error(), "reset") {
			t.Errorf("a connection over the limit: %v", err)
		}
	}
	open[0].want(configure("enableTopicList=false"), "0") // other settings make it forget nothing
	s.dial().wantClosed()
	s.advance(time.Second)
	s.dial().wantCode(ask(106), 0)
	for _, c := range open {
		c.wantCode(ask(106), 0)
	}
	if got := s.AccessStats().ConnectionsLimited; got != 6 {
		t.Errorf("%d counted, want 6", got)
	}
	if got := s.logged("too many new ones of its address"); len(got) != 1 {
		t.Errorf("%d lines: %v", len(got), got)
	}
	s = start(t)
	for range 10 {
		s.dial().wantCode(ask(106), 0)
	}
}
