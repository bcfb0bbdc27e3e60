package namesrv

import (
	"fmt"
	"net"
	"testing"

	"github.com/waymark-mq/waymark/namesrv/product"
	"github.com/waymark-mq/waymark/namesrv/settings"
)

// startBeside starts a server with clusterTest, whose product environment is at an address.
func startBeside(t *testing.T, addr string) *testServer {
	t.Helper()
	home := t.TempDir()
	environment := product.Find(func(string) string { return "" }, func(name string) string {
		return map[string]string{"NAMESRV_ADDR": addr}[name]
	}, "center")
	s := newTestServer(t, home, Options{Settings: settings.Default(settings.Env{HomeDir: home}), Product: environment})
	s.mustStart()
	return s
}

// With clusterTest a route that isn't here comes from the product environment. Unlike
// Apache's, the server answers everything else as ever, registrations included.
func TestClusterTest(t *testing.T) {
	there := start(t)
	there.dial().register(broker("p").having(named("There", "Base")...))
	c := startBeside(t, there.Addr()).dial()
	c.register(broker("a"))
	c.wantRoute("Base", "a{0=a:10911} 4/4/6/0")
	c.wantRoute("There", "p{0=p:10911} 4/4/6/0")
	c.want(routeOf("None"), noRoute+"None"+noRouteHelp)
	c.want(ask(105), noRoute+"null"+noRouteHelp)
	c.want(ask(206), `0 {"topicList":["Base","Pad"]}`)
	if a := c.call(routeOf("There").from(317)); a.code != 0 || a.body[:len(`{"brokerDatas":[{"brokerAddrs":{0:`)] != `{"brokerDatas":[{"brokerAddrs":{0:` {
		t.Errorf("old client: %s, want bare ids", a)
	}
	last := c.send(routeOf("There"), routeOf("Base"), routeOf("None"), ask(106))
	for i, code := range []int32{0, 17, 0, 0} {
		if a := c.wait(last - int32(i)); a.code != code {
			t.Errorf("pipelined, %d from the end: %s, want code %d", i, a, code)
		}
	}
	c.send(routeOf("There").oneway())
	c.wantCode(ask(106), 0)
	if len(c.early) > 0 {
		t.Errorf("a one-way query was answered: %v", c.early)
	}
}

// A topic that neither has is answered otherwise while this server drains, and is counted all the same.
func TestClusterTestWhileDraining(t *testing.T) {
	s := startBeside(t, start(t).Addr())
	s.drainWith() // goes no further than not being ready
	s.Drain("test")
	s.dial().want(routeOf("None"), fmt.Sprintf("1 %q", remarkNotReady))
	s.wantCounted(map[string]int{"get_routeinfo_by_topic system_error success": 1})
}

func TestClusterTestUnreachable(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := ln.Addr().String()
	_ = ln.Close()
	s := startBeside(t, addr)
	c := s.dial()
	t.Run("C1_withoutTopic", func(*testing.T) { c.want(ask(105), noRoute+"null"+noRouteHelp) })
	for range 3 {
		c.want(routeOf("None"), noRoute+"None"+noRouteHelp)
	}
	if got := len(s.logged("product environment not asked")); got != 1 {
		t.Errorf("%d lines, want 1 in a minute", got)
	}
	c.wantCode(broker("a").request(), 0)
}
