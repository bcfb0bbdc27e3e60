package core_test

import (
	"testing"

	"github.com/waymark-mq/waymark/codec"
	"github.com/waymark-mq/waymark/core"
)

// Thousands that don't come back go in one step, whose work is that of what they had.
func TestMassLossAtTheEndOfTheGrace(t *testing.T) {
	const n = 5000
	table, out := deadBrokers(n)
	table, _ = restored(table.Load(), 1, core.Restore{})
	table.Step(2+grace, []core.Command{&core.Tick{}}, out)
	if w := out.Work; w.Topics != 4*n || w.Lists > 4*n || w.Shards > 3*256 {
		t.Errorf("%+v, want %d topics, no more lists, 768 shards at most", w, 4*n)
	}
	if s := table.Load(); s.Brokers() != 0 || s.Topics() != 0 {
		t.Errorf("%d brokers, %d topics are left", s.Brokers(), s.Topics())
	}
}

// Restored brokers that share topics and register in one step, or don't bring what they share by the end of the grace, cost as
// much each whether they are few or many. Three topics each, of which two have a list in common.
func TestSharedRestoredTopicsCostNoMoreForMany(t *testing.T) {
	without := func(i int) *core.RegisterBroker {
		c := sharer(i, 4)
		c.Body.Topics = append(c.Body.Topics[1:2:2], codec.TopicConfig{Key: "new", Name: "new", HasName: true, Perm: 6})
		return c
	}
	for _, tt := range []struct {
		name string
		come func(i, n int) *core.RegisterBroker
		left func(n int) int // brokers of the common topics after the grace
	}{
		{"all bring them", func(i, _ int) *core.RegisterBroker { return sharer(i, 4) }, func(n int) int { return n }},
		{"others than before", func(i, _ int) *core.RegisterBroker { return sharer(i, 8) }, func(n int) int { return n }},
		{"nobody brings them", func(i, _ int) *core.RegisterBroker { return without(i) }, func(int) int { return 0 }},
		{
			"half bring them", func(i, n int) *core.RegisterBroker {
				if i < n/2 {
					return sharer(i, 4)
				}
				return without(i)
			}, func(n int) int { return n / 2 },
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, n := range []int{500, 1000, 2000} {
				table, out := core.NewTable(core.DefaultSettings(), nil), new(core.Outcome)
				table.Step(0, sharing(n), out)
				table, _ = restored(table.Load(), 1, core.Restore{})
				batch := make([]core.Command, n)
				for i := range batch {
					batch[i] = tt.come(i, n)
				}
				table.Step(2, batch, out)
				if most := 6 * n; out.Work.Queues > most {
					t.Errorf("%d brokers come: %d queues copied, want %d at most", n, out.Work.Queues, most)
				}
				table.Step(2+grace, []core.Command{&core.Tick{}}, out)
				if most := 2 * n; out.Work.Queues > most {
					t.Errorf("%d brokers, the end of the grace: %d queues copied, want %d at most", n, out.Work.Queues, most)
				}
				for _, topic := range []string{"all", "all too"} {
					route, _ := table.Load().Topic(topic)
					if len(route.Queues) != tt.left(n) {
						t.Errorf("%d brokers: %q has %d, want %d", n, topic, len(route.Queues), tt.left(n))
					}
				}
			}
		})
	}
}
