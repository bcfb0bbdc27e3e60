package namesrv

import (
	"testing"

	"github.com/waymark-mq/waymark/codec"
	"github.com/waymark-mq/waymark/namesrv/settings"
)

// With the writer parked, queries and heartbeats on all loops go on, and
// registrations queue up. Released, it applies them all.
func TestQueryWhileWriterStalled(t *testing.T) {
	const loops, rounds = 3, 100
	s := start(t, func(c *settings.Settings) { c.EventLoops = loops })
	seed := s.dial()
	seed.register(broker("a"))
	clients := make([]*client, 2*loops)
	for i := range clients {
		clients[i] = s.dial()
		clients[i].wantRoute("Base", "a{0=a:10911} 4/4/6/0")
	}
	s.wantConnsOnAllLoops(loops)
	release := s.parkWriter()

	queued := make([]int32, len(clients))
	for i, c := range clients {
		queued[i] = c.send(broker("b" + string(rune('0'+i))).request())
	}
	for range rounds {
		for _, c := range clients {
			c.wantRoute("Base", "a{0=a:10911} 4/4/6/0")
			c.want(broker("a").heartbeat(), "0")
			c.send(broker("a").query().oneway(), broker("a").heartbeat().oneway())
			c.want(routeOf("None"), `17 "No topic route info in name server for the topic: None\nSee https://rocketmq.apache.org/docs/bestPractice/06FAQ for further details."`)
		}
	}
	for _, c := range clients {
		for _, code := range []int32{codec.RequestGetBrokerClusterInfo, codec.RequestGetAllTopicListFromNameserver,
			codec.RequestGetSystemTopicListFromNS, codec.RequestGetNamesrvConfig, codec.RequestGetUnitTopicList} {
			if a := c.call(ask(code)); a.code != 0 {
				t.Errorf("code %d: %s", code, a)
			}
		}
		c.want(ask(codec.RequestGetKVConfig, "namespace", "n", "key", "k"), `22 "No config item, Namespace: n Key: k" {}`)
	}
	seed.want(broker("a").again().request(), "0 {}") // recognised without the writer
	for _, c := range clients {
		if len(c.early) > 0 {
			t.Errorf("a registration was answered while the writer was parked: %v", c.early)
		}
	}
	if s.writeBytes.Load() == 0 {
		t.Error("no registration is queued: the test shows nothing")
	}

	release()
	for i, c := range clients {
		if got := c.wait(queued[i]).String(); got != "0 {}" {
			t.Errorf("queued registration: %s", got)
		}
	}
	if n := s.table.Load().Brokers(); n != 1+len(clients) {
		t.Errorf("%d brokers, want %d", n, 1+len(clients))
	}
	s.barrier()
	if n := s.writeBytes.Load(); n != 0 {
		t.Errorf("%d bytes still count as queued", n)
	}
}

func (s *testServer) wantConnsOnAllLoops(loops int) {
	s.t.Helper()
	seen := map[int]bool{}
	for id := range uint64(1000) {
		if c, ok := s.net.Conn(id); ok {
			seen[c.Loop()] = true
		}
	}
	if len(seen) != loops {
		s.t.Fatalf("connections on %d loops, want %d", len(seen), loops)
	}
}

// A stalled disk holds up nothing but what has to be stored.
func TestQueryWhilePersisterStalled(t *testing.T) {
	s := start(t)
	c, admin := s.dial(), s.dial()
	release := s.parkWriter()
	// The persister waits for the writer with new settings: as good as a slow disk.
	update := admin.send(ask(codec.RequestUpdateNamesrvConfig).with("enableTopicList=false"))
	put := admin.send(ask(codec.RequestPutKVConfig, "namespace", "n", "key", "k", "value", "v"))
	for range 20 {
		c.want(ask(codec.RequestGetAllTopicListFromNameserver), `0 {"topicList":[]}`)
		c.want(ask(codec.RequestGetTopicsByCluster, "cluster", cluster), `0 {"topicList":[]}`)
	}
	release()
	for _, opaque := range []int32{update, put} {
		if got := admin.wait(opaque).String(); got != "0" {
			t.Errorf("answer %s, want 0", got)
		}
	}
	c.want(ask(codec.RequestGetTopicsByCluster, "cluster", cluster), `1 "disable"`)
	c.want(ask(codec.RequestGetKVConfig, "namespace", "n", "key", "k"), "0 {value=v}")
}
