package namesrv

import (
	"fmt"
	"net"
	"os"
	"strings"
	"testing"

	"github.com/waymark-mq/waymark/codec"
	"github.com/waymark-mq/waymark/namesrv/settings"
)

// TestKeepAliveOfBrokers: with brokerKeepAliveSeconds the kernel looks after connections that registrations or heartbeats come on, and after no client's; by
// default after none.
func TestKeepAliveOfBrokers(t *testing.T) {
	query := ask(codec.RequestGetRouteInfoByTopic, "topic", "none")
	for _, tt := range []struct {
		name    string
		seconds int
		request request
		want    bool
	}{
		{"default", 0, broker("a").request(), false},
		{"registration", 3600, broker("a").request(), true},
		{"heartbeat", 3600, broker("a").heartbeat(), true},
		{"query", 3600, query, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := start(t, func(c *settings.Settings) { c.BrokerKeepAliveSeconds = tt.seconds })
			s.dial().register(broker("a"))
			c := s.dial()
			c.call(tt.request)
			c.call(query) // what was set for the one before is set by now
			eventually(t, fmt.Sprint("keepalive timer: ", tt.want), func() bool { return keepAliveTimer(t, s.Addr(), c.conn.LocalAddr()) == tt.want })
		})
	}
}

// keepAliveTimer reports whether the kernel's keepalive timer runs for the server's end of a connection.
func keepAliveTimer(t *testing.T, server string, client net.Addr) bool {
	t.Helper()
	const keepAlive = "02"
	data, err := os.ReadFile("/proc/self/net/tcp")
	if err != nil {
		t.Fatal(err)
	}
	port := func(addr string) string {
		_, text, _ := net.SplitHostPort(addr)
		n := 0
		fmt.Sscan(text, &n)
		return fmt.Sprintf(":%04X", n)
	}
	for line := range strings.Lines(string(data)) {
		f := strings.Fields(line) // sl, local, remote, state, queues, timer:when, …
		if len(f) > 5 && strings.HasSuffix(f[1], port(server)) && strings.HasSuffix(f[2], port(client.String())) {
			timer, _, _ := strings.Cut(f[5], ":")
			return timer == keepAlive
		}
	}
	t.Fatal("no such connection")
	return false
}
