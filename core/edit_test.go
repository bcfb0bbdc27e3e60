package core_test

import (
	"reflect"
	"testing"

	"github.com/waymark-mq/waymark/codec"
	"github.com/waymark-mq/waymark/core"
)

// What an operator's command changed is told with what stood there before and stands there now; one that changed nothing tells
// nothing. Events and edits say which command of the step they come of.
func TestEdits(t *testing.T) {
	table := core.NewTable(core.DefaultSettings(), nil)
	step := func(batch ...core.Command) (edits []*core.Edit, events []*core.Event) {
		var out core.Outcome
		table.Step(0, batch, &out)
		for _, e := range out.Effects {
			switch e := e.(type) {
			case *core.Edit:
				edits = append(edits, e)
			case *core.Event:
				events = append(events, e)
			}
		}
		return edits, events
	}
	body := func(perms map[string]int32) *codec.RegisterBody {
		b := &codec.RegisterBody{}
		for _, name := range []string{"R", "S", "T"} {
			b.Topics = append(b.Topics, codec.TopicConfig{Name: name, HasName: true, ReadQueueNums: 4, WriteQueueNums: 4, Perm: perms[name]})
		}
		return b
	}
	register := func(name string, perms map[string]int32) core.Command {
		return &core.RegisterBroker{ClusterName: "c", BrokerName: name, BrokerAddr: name, Body: body(perms)}
	}
	_, events := step(&core.WipeWritePerm{BrokerName: "a"}, register("a", map[string]int32{"R": 6, "S": 6, "T": 4}), register("b", map[string]int32{"R": 6, "S": 6, "T": 6}))
	if len(events) != 2 || events[0].Command != 1 || events[1].Command != 2 {
		t.Fatalf("events %+v", events)
	}
	queue := func(name string, perm int32) codec.QueueData {
		return codec.QueueData{BrokerName: name, ReadQueueNums: 4, WriteQueueNums: 4, Perm: perm}
	}
	other := codec.QueueData{BrokerName: "b", ReadQueueNums: 1, WriteQueueNums: 2, Perm: 6}
	for _, tt := range []struct {
		name    string
		command core.Command
		want    *core.Edit // nil: nothing
	}{
		{"wipe", &core.WipeWritePerm{BrokerName: "a"}, &core.Edit{TopicsChanged: 2, PermsBefore: map[int32]int{6: 2, 4: 1}, PermsAfter: map[int32]int{4: 3}}},
		{"wipe again", &core.WipeWritePerm{BrokerName: "a"}, nil},
		{"wipe nobody", &core.WipeWritePerm{BrokerName: "none"}, nil},
		{"add", &core.AddWritePerm{BrokerName: "a"}, &core.Edit{TopicsChanged: 3, PermsBefore: map[int32]int{4: 3}, PermsAfter: map[int32]int{6: 3}}},
		{"delete of no cluster", &core.DeleteTopic{Topic: "T", ClusterName: "none"}, nil},
		{"delete", &core.DeleteTopic{Topic: "T"}, &core.Edit{TopicsChanged: 1, Before: []codec.QueueData{queue("a", 6), queue("b", 6)}}},
		{"delete again", &core.DeleteTopic{Topic: "T"}, nil},
		{"register", &core.RegisterTopic{Topic: "T", Queues: []codec.QueueData{other}}, &core.Edit{TopicsChanged: 1, After: []codec.QueueData{other}}},
		{"register again", &core.RegisterTopic{Topic: "T", Queues: []codec.QueueData{other}}, nil},
		{"register of nobody", &core.RegisterTopic{Topic: "U", Queues: []codec.QueueData{queue("none", 6)}}, nil},
		{"register more", &core.RegisterTopic{Topic: "T", Queues: []codec.QueueData{queue("a", 6)}},
			&core.Edit{TopicsChanged: 1, Before: []codec.QueueData{other}, After: []codec.QueueData{queue("a", 6), other}}},
	} {
		edits, _ := step(&core.PutKV{Namespace: "n", Key: "k"}, tt.command)
		switch {
		case tt.want == nil && len(edits) > 0:
			t.Errorf("%s: %+v, want none", tt.name, *edits[0])
		case tt.want != nil && len(edits) != 1:
			t.Errorf("%s: %d edits", tt.name, len(edits))
		case tt.want != nil:
			tt.want.Command = 1
			if !reflect.DeepEqual(edits[0], tt.want) {
				t.Errorf("%s: %+v\nwant %+v", tt.name, *edits[0], *tt.want)
			}
		}
	}
}
