package core_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/waymark-mq/waymark/codec"
	"github.com/waymark-mq/waymark/core"
)

// Going on behind the last name of each page gives every name once, in order, whatever the size of a page.
func TestTopicNamesByPage(t *testing.T) {
	table := core.NewTable(core.DefaultSettings(), nil)
	c := register()
	var want []string
	for i := range 500 {
		name := fmt.Sprintf("%%RETRY%%%03d", i)
		if i%2 == 0 {
			name = fmt.Sprintf("T/%03d", i)
		}
		c.Body.Topics = append(c.Body.Topics, topic(name, 6))
		want = append(want, name)
	}
	rand.Shuffle(len(c.Body.Topics), func(i, j int) {
		c.Body.Topics[i], c.Body.Topics[j] = c.Body.Topics[j], c.Body.Topics[i]
	})
	table.Step(0, []core.Command{c}, &core.Outcome{})
	want = append(want, "baseTopic")
	slices.Sort(want)
	s := table.Load()
	if n := s.Topics(); n != len(want) {
		t.Errorf("%d topics, want %d", n, len(want))
	}
	for _, prefix := range []string{"", "T/", "T/04", "none"} {
		var in []string
		for _, name := range want {
			if len(name) >= len(prefix) && name[:len(prefix)] == prefix {
				in = append(in, name)
			}
		}
		for _, limit := range []int{1, 7, 250, 501, 1000} {
			var got []string
			for more, after := true, ""; more; {
				var page []string
				page, more = s.TopicNames(prefix, after, limit)
				if len(page) > limit || more && len(page) < limit {
					t.Fatalf("prefix %q: a page of %d, more: %v; the limit is %d", prefix, len(page), more, limit)
				}
				if got = append(got, page...); more {
					after = page[len(page)-1]
				}
			}
			if !slices.Equal(got, in) {
				t.Errorf("prefix %q, limit %d: %d names, want %d: %v", prefix, limit, len(got), len(in), got)
			}
		}
	}
}

// What is shown of a topic and its brokers is what its route is made of.
func TestViews(t *testing.T) {
	table := core.NewTable(core.Settings{OrderMessageEnable: true}, map[string]map[string]string{
		core.OrderTopicConfig: {"T": "Default_Broker:8"}, "empty": {},
	})
	var out core.Outcome
	do := func(c core.Command) { table.Step(0, []core.Command{c}, &out) }
	from := func(addr string, millis int64) registering {
		return func(c *core.RegisterBroker) { c.PeerAddr, c.WallMillis = addr, millis }
	}
	do(register(topics("T"), from("peer:1", 1000), timeout(3*time.Second)))
	do(register(named("Other"), at(otherAddr), inCluster("c2"), on(3), only(topic("T", 4), topic("U", 6), topic("V", 6))))
	do(register(topics("T"), from("peer:2", 2000), on(9), counter(2)))
	do(register(slave, inCluster("c2"), topics("T")))
	s := table.Load()

	v, ok := s.Topic("T")
	if !ok || v.OrderConf != "Default_Broker:8" || len(v.Queues) != 2 {
		t.Fatalf("topic: %+v, %v", v, ok)
	}
	if q := v.Queues[1]; q.Group.Name != "Other" || q.Perm != 4 || q.ReadQueueNums != 8 {
		t.Errorf("second queues: %+v", q)
	}
	if _, ok := s.Topic("nope"); ok {
		t.Error("an unknown topic is there")
	}

	g := v.Queues[0].Group
	l, ok := s.LiveOf(g, masterAddr)
	if !ok || l.From != (core.Peer{Conn: 9, Addr: "peer:2"}) || l.FirstMillis != 1000 || l.WallMillis != 2000 || l.Applied != 2 ||
		l.Topics != 2 || l.TimeoutNanos != int64(120*time.Second) {
		t.Errorf("registration: %+v, %v", l, ok)
	}
	if l, ok := s.LiveOf(g, slaveAddr); !ok || l.ClusterName != "c2" {
		t.Errorf("member under another cluster: %+v, %v", l, ok)
	}
	if _, ok := s.LiveOf(g, otherAddr); ok {
		t.Error("another name's address is a member")
	}

	perms := map[string]map[int32]int{}
	for g, n := range s.TopicsByPerm() {
		perms[g.Name] = n
	}
	if want := map[string]map[int32]int{"Default_Broker": {6: 2}, "Other": {4: 1, 6: 2}}; fmt.Sprint(perms) != fmt.Sprint(want) {
		t.Errorf("topics by permission %v, want %v", perms, want)
	}

	names := func(after string) (names []string) {
		for g := range s.Groups(after) {
			names = append(names, g.Name)
		}
		return names
	}
	if a, b, c := names(""), names("Default_Broker"), names("E"); len(a) != 2 || len(b) != 1 || len(c) != 1 || len(names("Other")) != 0 {
		t.Errorf("groups: %v %v %v", a, b, c)
	}
	clusters := maps.Collect(s.Clusters(""))
	if want := map[string][]string{cluster: {broker}, "c2": {broker, "Other"}}; fmt.Sprint(clusters) != fmt.Sprint(want) {
		t.Errorf("clusters %v, want %v", clusters, want)
	}
	if !s.InCluster("c2", broker) || s.InCluster(cluster, "Other") || s.InCluster("nope", broker) {
		t.Error("members of clusters")
	}
	spaces, keys := s.KVNamespaces()
	if fmt.Sprint(spaces, keys) != "[ORDER_TOPIC_CONFIG empty] [1 0]" {
		t.Errorf("KV %v %v", spaces, keys)
	}
	if keys, ok := s.KVKeys(core.OrderTopicConfig); !ok || len(keys) != 1 {
		t.Errorf("keys %v, %v", keys, ok)
	}
	if _, ok := s.KVKeys("nope"); ok {
		t.Error("an unknown namespace is there")
	}
}

// Who did it is in the events, and what changes nothing is none.
func TestEventsOfTools(t *testing.T) {
	table := core.NewTable(core.DefaultSettings(), nil)
	var out core.Outcome
	by := core.Peer{Conn: 7, Addr: "tool:1"}
	table.Step(0, []core.Command{register(topics("T"))}, &out)
	for _, tt := range []struct {
		command core.Command
		want    []string // first and again
	}{
		{&core.WipeWritePerm{By: by, BrokerName: broker}, []string{"write permission wiped Default_Cluster/Default_Broker, 2 of 2 topics", ""}},
		{&core.AddWritePerm{By: by, BrokerName: broker}, []string{"write permission added Default_Cluster/Default_Broker, 2 of 2 topics", ""}},
		{&core.RegisterTopic{By: by, Topic: "U", Queues: queues(broker)}, []string{"topic registered U, 1 brokers", ""}},
		{&core.DeleteTopic{By: by, Topic: "U"}, []string{"topic deleted U, 1 brokers", ""}},
		{&core.PutKV{By: by, Namespace: "n", Key: "k", Value: text("v")}, []string{"KV put n/k", ""}},
		{&core.PutKV{By: by, Namespace: "n", Key: "k", Value: text("w")}, []string{"KV put n/k", ""}},
		{&core.PutKV{By: by, Namespace: "n", Key: "k", Value: codec.NullString{}}, []string{"KV put n/k", ""}},
		{&core.DeleteKV{By: by, Namespace: "n", Key: "k"}, []string{"", ""}},
		{&core.DeleteKV{By: by, Namespace: "none", Key: "k"}, []string{"", ""}},
		{&core.UnregisterBroker{By: by, ClusterName: cluster, BrokerName: broker, BrokerAddr: masterAddr},
			[]string{"unregistered Default_Cluster/Default_Broker#0@127.0.0.1:10911", ""}},
	} {
		for _, want := range tt.want {
			table.Step(0, []core.Command{tt.command}, &out)
			got := ""
			for _, effect := range out.Effects {
				e, ok := effect.(*core.Event)
				if !ok {
					continue // the Edit, which edit_test.go looks at
				}
				got += eventNames[e.Kind] + " " + subject(e)
				if e.Conn != by.Conn || e.PeerAddr != by.Addr {
					t.Errorf("%s: by %d %q", got, e.Conn, e.PeerAddr)
				}
			}
			if got != want {
				t.Errorf("%T: %q, want %q", tt.command, got, want)
			}
		}
	}
}

// A broker that goes tells by whose end it went, also if that is not the connection it registered on.
func TestEventsOfEnds(t *testing.T) {
	table := core.NewTable(core.DefaultSettings(), nil)
	var out core.Outcome
	c := register(topics("T"))
	c.PeerAddr = "broker:1"
	table.Step(0, []core.Command{c}, &out)
	table.Step(int64(time.Hour), []core.Command{&core.Tick{}}, &out)
	e := out.Effects[0].(*core.Event)
	if e.Kind != core.EventExpired || e.Conn != 1 || e.PeerAddr != "broker:1" || len(e.Gone) != 2 {
		t.Errorf("expired: %+v", e)
	}
	table.Step(int64(time.Hour), []core.Command{c}, &out)
	l, _ := table.Load().Live([]byte(cluster), []byte(masterAddr))
	l.Cell.Touch(5, int64(time.Hour))
	table.Step(int64(time.Hour), []core.Command{&core.EndConnection{Conn: 5, PeerAddr: "other:1", Touched: []*core.LiveCell{l.Cell}}}, &out)
	e = out.Effects[0].(*core.Event)
	if e.Kind != core.EventClosed || e.Conn != 5 || e.PeerAddr != "other:1" || e.Origin != "broker:1" {
		t.Errorf("closed: %+v", e)
	}
}
