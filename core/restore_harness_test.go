package core_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/waymark-mq/waymark/codec"
	"github.com/waymark-mq/waymark/core"
)

const grace = int64(10 * time.Second)

// restored makes a table of what a snapshot holds, as another process would, with the same settings and KV table.
func restored(s *core.Snapshot, now int64, c core.Restore) (*core.Table, core.Result) {
	kv := map[string]map[string]string{}
	names, _ := s.KVNamespaces()
	for _, ns := range names {
		kv[ns] = map[string]string{}
		keys, _ := s.KVKeys(ns)
		for _, k := range keys {
			kv[ns][k], _ = s.KV(ns, k)
		}
	}
	table, out := core.NewTable(s.Settings(), kv), core.Outcome{}
	if c.MaxAgeNanos == 0 {
		c.MaxAgeNanos = int64(time.Hour)
	}
	c.State, c.UntilNanos = s.Export(now), now+grace
	table.Step(now, []core.Command{&c}, &out)
	return table, out.Results[0]
}

// restoredBroker is a restored table of one broker, a at h:1, with the topics, and what happens to it.
type restoredBroker struct {
	*testing.T
	*core.Table
	out core.Outcome
}

func registration(counter int64, topics ...string) *core.RegisterBroker {
	body := &codec.RegisterBody{DataVersion: codec.DataVersion{StateVersion: 5, Counter: counter}}
	for _, name := range topics {
		body.Topics = append(body.Topics, codec.TopicConfig{Key: name, Name: name, HasName: true, ReadQueueNums: 4, WriteQueueNums: 4, Perm: 6})
	}
	return &core.RegisterBroker{Conn: 1, ClusterName: "c", BrokerName: "a", BrokerAddr: "h:1", Body: body}
}

func restoreBroker(t *testing.T, topics ...string) *restoredBroker {
	table, out := core.NewTable(core.DefaultSettings(), nil), core.Outcome{}
	table.Step(0, []core.Command{registration(1, topics...), &core.WipeWritePerm{BrokerName: "a"}}, &out)
	table, r := restored(table.Load(), 0, core.Restore{})
	if r.Count != 1 {
		t.Fatalf("%d brokers restored", r.Count)
	}
	return &restoredBroker{T: t, Table: table}
}

func (b *restoredBroker) step(now int64, c core.Command) core.Result {
	b.Table.Step(now, []core.Command{c}, &b.out)
	return b.out.Results[0]
}

// perms are the topics and their permissions, "-" for none.
func (b *restoredBroker) wantPerms(want string) {
	b.Helper()
	s, got := b.Load(), []string{}
	names, _ := s.TopicNames("", "", 100)
	for _, name := range names {
		v, _ := s.Topic(name)
		got = append(got, fmt.Sprint(name, v.Queues[0].Perm))
	}
	if text := strings.Join(got, " "); text != want {
		b.Errorf("topics %q, want %q", text, want)
	}
}

func (b *restoredBroker) wantStatus(want core.RestoreStatus) {
	b.Helper()
	want.Brokers, want.Clusters, want.UntilNanos = 1, 1, grace
	if got, _ := b.Load().Restored(); got != want {
		b.Errorf("%+v, want %+v", got, want)
	}
}
