package namesrv

import (
	"fmt"
	"strings"
	"testing"

	"github.com/waymark-mq/waymark/codec"
	"github.com/waymark-mq/waymark/namesrv/settings"
)

// A header of 1 MiB is served, one byte more ends the connection.
func TestHeaderOfAMebibyte(t *testing.T) {
	s := start(t)
	padded := func(header int) request {
		r := ask(codec.RequestGetBrokerClusterInfo, "pad", "")
		r.fields[0].Value = strings.Repeat("x", header-(len(r.frame(1))-8))
		return r
	}
	c := s.dial()
	c.wantCode(padded(1<<20), 0)
	other := s.dial()
	other.wantCode(ask(codec.RequestGetBrokerClusterInfo), 0)
	c = s.dial()
	c.send(padded(1<<20 + 1))
	c.wantClosed()
	other.wantCode(ask(codec.RequestGetBrokerClusterInfo), 0)
}

// An unregistration whose names are too long together is refused, whichever they are.
func TestLongNamesOfUnregistration(t *testing.T) {
	s := start(t)
	c := s.dial()
	c.register(broker("a"))
	for _, field := range []string{"brokerName", "brokerAddr", "clusterName"} {
		long := broker("a").set(field, strings.Repeat("x", 64<<10))
		c.want(long.unregister(), `1 "names are longer than 64 KiB"`)
	}
	c.wantRoute("Base", "a{0=a:10911} 4/4/6/0")
	if _, ok := s.live(cluster, "a:10911"); !ok {
		t.Error("a is not alive")
	}
	r := broker("a").set("clusterName", strings.Repeat("x", 64<<10-len("a")-len("a:10911"))) // the cluster decides nothing
	c.want(r.unregister(), "0")
	s.dial().wantRoute("Base", "none")
}

// One entry of the KV configuration is bounded, its parts together.
func TestLongKVEntry(t *testing.T) {
	s := start(t)
	c := s.dial()
	const refused = `1 "namespace, key and value are longer than 256 KiB together"`
	long := strings.Repeat("x", 256<<10-2)
	c.want(put("n", "k", long+"x"), refused)
	c.want(put("n", long+"x", "v"), refused)
	c.want(put(long+"x", "k", "v"), refused)
	c.wantCode(get("n", "k"), codec.ResponseQueryNotFound)
	c.wantCode(listKV("n"), codec.ResponseQueryNotFound)
	c.want(put("n", "k", long), "0")
	c.want(get("n", "k"), "0 {value="+long+"}")
}

// A configuration too long to be one is refused and changes nothing.
func TestLongConfiguration(t *testing.T) {
	s := start(t)
	c := s.dial()
	before := c.call(ask(codec.RequestGetNamesrvConfig)).String()
	const line = "enableTopicList=false\n#"
	c.want(configure(line+strings.Repeat("x", 256<<10-len(line)+1)), `1 "more than 256 KiB of configuration"`)
	if got := c.call(ask(codec.RequestGetNamesrvConfig)).String(); got != before {
		t.Errorf("settings\n got %s\nwant %s", got, before)
	}
	c.want(configure(line+strings.Repeat("x", 256<<10-len(line))), "0")
	c.want(ask(codec.RequestGetTopicsByCluster, "cluster", cluster), `1 "disable"`)
}

// Each loop keeps the text of 319; a change shows on all of them with the next request.
func TestConfigurationShowsOnEveryLoop(t *testing.T) {
	const loops = 3
	s := start(t, func(c *settings.Settings) { c.EventLoops = loops })
	clients := make([]*client, 2*loops)
	for i := range clients {
		clients[i] = s.dial()
		clients[i].wantCode(ask(codec.RequestGetNamesrvConfig), 0)
	}
	s.wantConnsOnAllLoops(loops)
	for i, admin := range clients {
		line := fmt.Sprintf("scanNotActiveBrokerInterval=%d\n", 6000+i)
		admin.want(configure(line), "0")
		for _, c := range clients {
			if a := c.call(ask(codec.RequestGetNamesrvConfig)); !strings.Contains(a.body, line) {
				t.Errorf("%q is missing after it was answered", line)
			}
		}
	}
}

// One broker name has up to 1,024 ids; its members stay, and their place is free once they leave.
func TestIdsOfOneBrokerName(t *testing.T) {
	s := start(t)
	c := s.dial()
	member := func(id int) registration { return broker("a").slave(id).raw("") }
	requests := make([]request, 1024)
	for i := range requests {
		requests[i] = member(i).request()
	}
	last := c.send(requests...)
	for i := range requests {
		if a := c.wait(last - int32(i)); a.code != 0 {
			t.Fatalf("member %d: %s", len(requests)-1-i, a)
		}
	}
	c.want(member(1024).request(), `1 "register broker failed" {}`)
	if _, ok := s.live(cluster, member(1024).addr()); ok {
		t.Error("the refused one is alive")
	}
	c.wantCode(member(7).counter(2).request(), 0)
	c.want(member(7).unregister(), "0")
	c.wantCode(member(1024).request(), 0)
	if n := s.table.Load().Brokers(); n != 1024 {
		t.Errorf("%d brokers, want 1,024", n)
	}
}
