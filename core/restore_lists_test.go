package core_test

import (
	"fmt"
	"testing"

	"github.com/waymark-mq/waymark/codec"
	"github.com/waymark-mq/waymark/core"
)

// What waits for a list, and what a registration confirms, are told apart within a step.
func TestWaitingChangesOfRestoredLists(t *testing.T) {
	const n = 4
	tick := &core.Tick{}
	part := sharer(2, 4)
	part.Body.Topics = part.Body.Topics[:2]
	parts := []*core.RegisterBroker{sharer(1, 4), sharer(1, 4)} // of one version: the second alone brings what is shared
	parts[0].Body.Topics = append(parts[0].Body.Topics[1:2:2], codec.TopicConfig{Key: "new", Name: "new", HasName: true, Perm: 6})
	parts[1].Body.Topics = append(parts[1].Body.Topics[:1:1], parts[1].Body.Topics[2])
	for name, commands := range map[string][]core.Command{
		"all come":                          sharing(n),
		"a part of a list's topics":         {sharer(0, 4), sharer(1, 4), part, sharer(3, 4)},
		"comes in parts":                    {sharer(0, 4), parts[0], parts[1], sharer(3, 4), tick},
		"comes twice":                       {sharer(0, 4), sharer(1, 4), sharer(1, 4), sharer(2, 8)},
		"its permission, then comes":        {sharer(0, 4), &core.WipeWritePerm{BrokerName: "b0001"}, sharer(1, 4)},
		"its slave comes first":             {sharer(0, 4), sharersSlave(1), sharer(1, 4)},
		"a slave vouches, others come":      {sharer(0, 4), &core.WipeWritePerm{BrokerName: "b0002"}, sharersSlave(2), sharer(3, 4)},
		"some come, the grace ends":         {sharer(0, 4), sharer(1, 4), tick},
		"the grace ends, some come":         {sharer(0, 4), part, tick, sharer(3, 8), sharer(1, 8), part},
		"one goes, one comes":               {&core.UnregisterBroker{ClusterName: "c", BrokerName: "b0001", BrokerAddr: "h1:1"}, sharer(0, 4), sharer(8, 4), tick},
		"refused, then it comes":            {sharer(0, 4), &core.DropRestored{Brokers: []core.BrokerAddress{{ClusterName: "c", BrokerAddr: "h1:1"}}}, sharer(1, 4), sharer(2, 4)},
		"an operator's topic, the end":      {sharer(0, 4), &core.RegisterTopic{Topic: "all", Queues: []codec.QueueData{{BrokerName: "b0002", Perm: 6}}}, part, tick},
		"in another cluster, others follow": {sharer(0, 4), elsewhere(sharer(1, 4)), sharer(2, 4), tick},
	} {
		t.Run(name, func(t *testing.T) {
			for _, now := range []int64{1, 2 + grace} { // ticks end the grace in the latter
				before, out := core.NewTable(core.DefaultSettings(), nil), new(core.Outcome)
				before.Step(0, append(sharing(n), sharersSlave(2)), out)
				together, _ := restored(before.Load(), 1, core.Restore{})
				singly, _ := restored(before.Load(), 1, core.Restore{})
				together.Step(now, commands, out)
				for _, c := range commands {
					singly.Step(now, []core.Command{c}, out)
				}
				if diff := firstDifference(provisionalTopics(together.Load()), provisionalTopics(singly.Load())); diff != "" {
					t.Errorf("in one step and one by one: %s", diff)
				}
			}
		})
	}
}

func elsewhere(c *core.RegisterBroker) *core.RegisterBroker {
	c.ClusterName = "d"
	return c
}

// provisionalTopics are all topics with their brokers and which of them are provisional.
func provisionalTopics(s *core.Snapshot) (texts []string) {
	names, _ := s.TopicNames("", "", 100)
	for _, name := range names {
		v, _ := s.Topic(name)
		for _, q := range v.Queues {
			texts = append(texts, fmt.Sprintf("%s %s %d %d %v", name, q.Group.Name, q.ReadQueueNums, q.Perm, q.Provisional))
		}
	}
	return texts
}
