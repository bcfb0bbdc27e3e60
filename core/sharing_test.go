package core_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/waymark-mq/waymark/codec"
	"github.com/waymark-mq/waymark/core"
)

// sharing registers n brokers, each on a connection of its own, that all have two topics and each one more.
func sharing(n int) []core.Command {
	commands := make([]core.Command, n)
	for i := range commands {
		commands[i] = sharer(i, 4)
	}
	return commands
}

// sharer is the registration of one of them, with so many queues.
func sharer(i int, queues int32) *core.RegisterBroker {
	var topics []codec.TopicConfig
	for _, name := range []string{"all", fmt.Sprint("T", i), "all too"} {
		topics = append(topics, codec.TopicConfig{Key: name, Name: name, HasName: true, ReadQueueNums: queues, WriteQueueNums: queues, Perm: 6})
	}
	return &core.RegisterBroker{
		Conn: core.ConnID(i + 1), ClusterName: "c", BrokerName: fmt.Sprintf("b%04d", i), BrokerAddr: fmt.Sprintf("h%d:1", i),
		ActingMaster: core.ActingTrue,
		Body:         &codec.RegisterBody{DataVersion: codec.DataVersion{Counter: int64(queues)}, Topics: topics},
	}
}

// sharersSlave is a slave of one of them, on another connection.
func sharersSlave(i int) *core.RegisterBroker {
	c := sharer(i, 4)
	c.Conn, c.BrokerID, c.BrokerAddr = c.Conn+10_000, 1, fmt.Sprintf("s%d:1", i)
	return c
}

// ends are the ends of the connections of n brokers.
func ends(n int) []core.Command {
	commands := make([]core.Command, n)
	for i := range commands {
		commands[i] = &core.EndConnection{Conn: core.ConnID(i + 1)}
	}
	return commands
}

// Brokers that share topics and do something in one step cost as much each whether they are few or many, and routes
// are right behind it. Three topics each, of which two have a list in common.
func TestSharingCostsNoMoreForMany(t *testing.T) {
	with := func(more func(i int) core.Command) func(n int) []core.Command {
		return func(n int) (batch []core.Command) {
			for i := range n {
				batch = append(batch, more(i))
			}
			return batch
		}
	}
	for _, tt := range []struct {
		name   string
		before []func(n int) []core.Command // a step each
		step   func(n int) []core.Command
		left   func(n int) int // brokers of the common topics behind it
		route  string          // in the element of each
		copied int             // queues for each broker, at most
	}{
		{"they come", nil, sharing, func(n int) int { return n }, `"perm":6,"readQueueNums":4,`, 3},
		{"they go", []func(int) []core.Command{sharing}, ends, func(int) int { return 0 }, "", 0},
		{
			"half of them go", []func(int) []core.Command{sharing}, func(n int) []core.Command { return ends(n / 2) },
			func(n int) int { return n - n/2 }, `"perm":6,"readQueueNums":4,`, 1,
		},
		{
			"they change", []func(int) []core.Command{sharing}, with(func(i int) core.Command { return sharer(i, 8) }),
			func(n int) int { return n }, `"perm":6,"readQueueNums":8,`, 4,
		},
		{
			"each goes and comes back", []func(int) []core.Command{sharing}, func(n int) (batch []core.Command) {
				for i, end := range ends(n) {
					batch = append(batch, end, sharer(i, 8))
				}
				return batch
			}, func(n int) int { return n }, `"perm":6,"readQueueNums":8,`, 5,
		},
		{
			"masters go, slaves stay", []func(int) []core.Command{sharing, with(func(i int) core.Command { return sharersSlave(i) })}, ends,
			func(n int) int { return n }, `"perm":4,"readQueueNums":4,`, 3,
		},
		{
			"205 of each", []func(int) []core.Command{sharing},
			with(func(i int) core.Command { return &core.WipeWritePerm{BrokerName: fmt.Sprintf("b%04d", i)} }),
			func(n int) int { return n }, `"perm":4,"readQueueNums":4,`, 3,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, n := range []int{500, 1000, 2000} {
				table, out := core.NewTable(core.DefaultSettings(), nil), new(core.Outcome)
				for _, before := range tt.before {
					table.Step(0, before(n), out)
				}
				table.Step(1, tt.step(n), out)
				if most := tt.copied*n + 10; out.Work.Queues > most {
					t.Errorf("%d brokers: %d queues copied, want %d at most", n, out.Work.Queues, most)
				}
				want := tt.left(n)
				for _, topic := range []string{"all", "all too"} {
					route, found := table.Load().AppendRoute(nil, []byte(topic), core.RouteOptions{})
					if found != (want > 0) || strings.Count(string(route), tt.route) != want && found {
						t.Errorf("%d brokers: route of %q: found %v, %d elements with %s, want %d", n, topic, found, strings.Count(string(route), tt.route), tt.route, want)
					}
				}
			}
		})
	}
}

// A batch comes to what its commands come to one by one, whatever waits in between.
func TestWaitingChangesAreSeen(t *testing.T) {
	const n = 5
	twice := sharer(1, 8)
	twice.Body.Topics = append(twice.Body.Topics, sharer(1, 2).Body.Topics...) // the last one counts
	same := sharer(1, 8)
	same.Body.Topics[2] = same.Body.Topics[0]
	part := sharer(2, 8)
	part.Body.Topics = part.Body.Topics[:2]
	for name, commands := range map[string][]core.Command{
		"a part of a list's topics":    {sharer(0, 8), sharer(1, 8), part, sharer(3, 8)},
		"topics brought twice":         {sharer(0, 8), twice, sharer(2, 8)},
		"one topic twice, another not": {sharer(0, 8), same, sharer(2, 8)},
		"comes again behind another":   {sharer(0, 8), sharer(1, 8), sharer(2, 8), sharer(1, 2)},
		"comes twice":                  {sharer(0, 8), sharer(1, 8), sharer(1, 2), sharer(2, 8)},
		"comes and goes":               {sharer(7, 8), sharer(8, 8), ends(9)[8], sharer(9, 8)},
		"its permission, then goes":    {sharer(0, 8), &core.WipeWritePerm{BrokerName: "b0001"}, ends(2)[1], sharer(2, 8)},
		"an operator's new topic":      {sharer(0, 8), ends(2)[1], &core.RegisterTopic{Topic: "all", Queues: []codec.QueueData{{BrokerName: "b0002", Perm: 6}}}},
		"a topic deleted":              {sharer(0, 8), sharer(1, 8), &core.DeleteTopic{Topic: "all", ClusterName: "c"}, sharer(2, 8)},
		"goes, and another comes":      {ends(1)[0], sharer(8, 4), ends(2)[1], sharer(9, 4)},
		"all go, then one comes":       append(ends(n), sharer(1, 8)),
		"one that left has an heir":    {ends(1)[0], sharer(0, 8), ends(1)[0], sharer(8, 8)},
		"both permissions of a name":   {&core.WipeWritePerm{BrokerName: "b0001"}, &core.AddWritePerm{BrokerName: "b0001"}, &core.WipeWritePerm{BrokerName: "b0002"}},
	} {
		t.Run(name, func(t *testing.T) {
			together, singly, out := core.NewTable(core.DefaultSettings(), nil), core.NewTable(core.DefaultSettings(), nil), new(core.Outcome)
			together.Step(0, sharing(n), out)
			together.Step(1, commands, out)
			for _, c := range append(sharing(n), commands...) {
				singly.Step(1, []core.Command{c}, out)
			}
			for _, topic := range []string{"all", "all too", "T0", "T1", "T2", "T8"} {
				got, _ := together.Load().AppendRoute(nil, []byte(topic), core.RouteOptions{})
				want, _ := singly.Load().AppendRoute(nil, []byte(topic), core.RouteOptions{})
				if string(got) != string(want) {
					t.Errorf("%s in one batch:\n%s\none by one:\n%s", topic, got, want)
				}
			}
		})
	}
}
