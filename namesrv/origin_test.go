package namesrv

import (
	"testing"

	"github.com/waymark-mq/waymark/namesrv/settings"
)

// Where a registration comes from is known for certain by the socket's other end, or by a known proxy; a header that anybody may send proves nothing.
func TestOriginOfRegistration(t *testing.T) {
	anyProxy, known := start(t), start(t, func(c *settings.Settings) { c.ProxyProtocolTrusted = "127.0.0.1" })
	for _, c := range []struct {
		name   string
		server *testServer
		client *client
		want   bool
	}{
		{"direct", anyProxy, anyProxy.dial(), false},
		{"a header of anybody", anyProxy, anyProxy.proxied(inside), true},
		{"a header of a known proxy", known, known.proxied(inside), false},
		{"a known proxy itself", known, known.dial(), false},
	} {
		c.client.register(broker("a"))
		l, ok := c.server.live(cluster, broker("a").addr())
		if !ok || l.Claimed != c.want {
			t.Errorf("%s: %v, claimed %v, want %v", c.name, ok, l.Claimed, c.want)
		}
		c.client.want(broker("a").unregister(), "0")
	}
}
