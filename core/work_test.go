package core_test

import (
	"testing"

	"github.com/waymark-mq/waymark/codec"
	"github.com/waymark-mq/waymark/core"
	"github.com/waymark-mq/waymark/internal/invariants"
	"github.com/waymark-mq/waymark/internal/raceflag"
)

// A command's work follows what differs, whatever the size of its table and of the cluster.
func TestWork(t *testing.T) {
	if raceflag.Enabled {
		t.Skip("counts what one goroutine does")
	}
	const topics = 5000
	other := func(change func(c *core.RegisterBroker)) core.Command {
		c := benchRegistration(3, topics, 2)
		change(c)
		return c
	}
	gone := func(broker int) core.Command {
		c := benchRegistration(broker, 0, 1)
		return &core.UnregisterBroker{ClusterName: c.ClusterName, BrokerName: c.BrokerName, BrokerAddr: c.BrokerAddr}
	}
	for _, tt := range []struct {
		name    string
		brokers int            // that have all topics
		before  []core.Command // what comes behind their registrations
		command core.Command
		topics  int // in each registration
		want    core.Work
	}{
		// The live entry is new with each registration: one shard.
		{"unchanged", 20, nil, benchRegistration(3, topics, 1), topics, core.Work{Shards: 1}},
		{"new version, nothing else", 20, nil, benchRegistration(3, topics, 2), topics, core.Work{Shards: 1}},
		{"zone", 20, nil, other(func(c *core.RegisterBroker) { c.ZoneName = codec.NullString{S: "z", Valid: true} }), topics, core.Work{Shards: 1}},
		{"one topic changed", 20, nil, other(func(c *core.RegisterBroker) { c.Body.Topics[7].ReadQueueNums++ }), topics, core.Work{Topics: 1, Lists: 1, Shards: 2}},
		{"one topic more", 20, nil, benchRegistration(3, topics+1, 2), topics, core.Work{Topics: 1, Lists: 1, Shards: 2}},
		{"as many topics as others have", 19, nil, benchRegistration(19, topics, 1), topics, core.Work{Topics: topics, Lists: 1, Shards: 257}},
		{"the first of all", 0, nil, benchRegistration(0, topics, 1), topics, core.Work{Topics: topics, Lists: 1, Shards: 257}},
		{"the 301st", 300, nil, benchRegistration(300, 1000, 1), 1000, core.Work{Topics: 1000, Lists: 1, Shards: 257}},
		{"no more writing to all", 20, nil, &core.WipeWritePerm{BrokerName: "broker-3"}, topics, core.Work{Topics: topics, Lists: 1, Shards: 256}},
		{"gone, of all topics", 20, nil, gone(3), topics, core.Work{Topics: topics, Lists: 1, Shards: 257}},
		{"gone, of ten topics", 19, []core.Command{benchRegistration(19, 10, 1)}, gone(19), topics, core.Work{Topics: 10, Shards: 11}},
		{"ended, of ten topics", 19, []core.Command{benchRegistration(19, 10, 1)}, &core.EndConnection{Conn: 20}, topics, core.Work{Topics: 10, Shards: 11}},
		{"gone, without topics", 20, []core.Command{benchRegistration(20, 0, 1)}, gone(20), topics, core.Work{Shards: 1}},
		{"a scan", 20, nil, &core.Tick{}, topics, core.Work{}},
		{"a query", 20, nil, &core.QueryDataVersion{ClusterName: "DefaultCluster", BrokerAddr: "10.0.0.3:10911", Conn: 1}, topics, core.Work{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			table := core.NewTable(core.DefaultSettings(), nil)
			var commands []core.Command
			for b := range tt.brokers {
				commands = append(commands, benchRegistration(b, tt.topics, 1))
			}
			var out core.Outcome
			table.Step(1, append(commands, tt.before...), &out)
			table.Step(2, []core.Command{tt.command}, &out)
			got := out.Work
			if got.Topics != tt.want.Topics || got.Lists != tt.want.Lists || got.Shards > tt.want.Shards {
				t.Errorf("%+v, want %+v, fewer shards allowed", got, tt.want)
			}
		})
	}
}

// A step counts what all of its commands came to, and nothing of the step before.
func TestWorkOfASeries(t *testing.T) {
	table := core.NewTable(core.DefaultSettings(), nil)
	var out core.Outcome
	for _, tt := range []struct {
		commands []core.Command
		want     core.Work
	}{
		{[]core.Command{benchRegistration(0, 2, 1), benchRegistration(1, 2, 1)}, core.Work{Topics: 4, Lists: 2, Shards: 4}},
		{[]core.Command{benchRegistration(0, 2, 1)}, core.Work{Shards: 1}},
		{nil, core.Work{}},
	} {
		table.Step(1, tt.commands, &out)
		if out.Work.Topics != tt.want.Topics || out.Work.Lists != tt.want.Lists || out.Work.Shards > tt.want.Shards {
			t.Errorf("%d commands: %+v, want %+v", len(tt.commands), out.Work, tt.want)
		}
	}
}

// A known DataVersion leaves queues as they are, whatever settings it comes with: the table doesn't take
// those in for each topic, only to let them go again.
func TestWorkOfOtherSettingsUnderAKnownVersion(t *testing.T) {
	if raceflag.Enabled || invariants.Enabled {
		t.Skip("this build allocates by itself")
	}
	const topics = 5000
	table := benchTable(2, topics)
	c := benchRegistration(1, topics, 1)
	for i := range c.Body.Topics {
		c.Body.Topics[i].Perm = codec.PermRead
	}
	var out core.Outcome
	if n := testing.AllocsPerRun(1, func() { table.Step(2, []core.Command{c}, &out) }); n > 100 || out.Work.Topics != 0 {
		t.Errorf("%v allocations, %+v", n, out.Work)
	}
}
