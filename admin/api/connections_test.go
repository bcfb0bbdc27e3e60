package api

import (
	"crypto/tls"
	"fmt"
	"testing"

	"github.com/waymark-mq/waymark/codec"
	"github.com/waymark-mq/waymark/namesrv/settings"
)

// A connection says whether it is inside TLS, and by way of which proxy its peer comes.
func TestConnectionsSayHowTheyCome(t *testing.T) {
	f := start(t, func(c *settings.Settings) { c.ProxyProtocolTrusted = "127.0.0.1" })
	plain, proxied := f.dial(), f.dial()
	if _, err := fmt.Fprint(proxied.conn, "PROXY TCP4 192.0.2.7 127.0.0.1 4321 9876\r\n"); err != nil {
		t.Fatal(err)
	}
	via := proxied.addr()
	inside := f.dial()
	at := inside.addr()
	inside.conn = tls.Client(inside.conn, &tls.Config{InsecureSkipVerify: true})
	for _, p := range []*peer{plain, proxied, inside} {
		p.ask(codec.ResponseSuccess, codec.RequestGetBrokerClusterInfo, "")
	}
	type view struct {
		Peer, Via string
		TLS       bool
	}
	var got struct{ Connections []view }
	f.get(200, "connections", &got)
	want := []view{{plain.addr(), "", false}, {"192.0.2.7:4321", via, false}, {at, "", true}}
	for i := range want {
		if len(got.Connections) != len(want) || got.Connections[i] != want[i] {
			t.Fatalf("%+v, want %+v", got.Connections, want)
		}
	}
}
