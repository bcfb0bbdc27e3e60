package namesrv

import (
	"fmt"
	"testing"

	"github.com/waymark-mq/waymark/codec"
	"github.com/waymark-mq/waymark/core"
	"github.com/waymark-mq/waymark/namesrv/settings"
)

// Registrations that came together are applied in steps of a bounded number of
// topics, in their order; each is answered from the step that it was in.
func TestStepsAreBounded(t *testing.T) {
	for _, tt := range []struct {
		name   string
		topics []int // of each registration
		steps  []int // registrations in each
	}{
		{"small ones together", []int{10, 10, 10, 10}, []int{4}},
		{"split", []int{maxStepTopics / 2, maxStepTopics / 2, 10, maxStepTopics / 2, 10, maxStepTopics / 2, 10}, []int{2, 4, 1}},
		{"too large alone", []int{maxStepTopics + 1, maxStepTopics + 1, 10}, []int{1, 1, 1}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newTestServer(t, t.TempDir(), Options{Settings: settings.Default(settings.Env{HomeDir: t.TempDir()})})
			p := s.pipe()
			sess := p.Conn().Context.(*session)
			var answered []int
			var steps []*core.Snapshot
			for i, n := range tt.topics {
				sess.pending.Add(1)
				s.changes.push(change{command: registering(i, n), session: sess, answer: func(dst []byte, _ *core.Result, at *core.Snapshot) []byte {
					answered, steps = append(answered, i), append(steps, at)
					return fmt.Appendf(dst, "%d ", i)
				}})
			}
			w := writer{Server: s.Server}
			w.applyAll()

			var got []int
			want, order := "", true
			for i, at := range steps {
				if i == 0 || at != steps[i-1] {
					got = append(got, 0)
				}
				got[len(got)-1]++
				order = order && answered[i] == i
				want += fmt.Sprintf("%d ", i)
			}
			if !order || fmt.Sprint(got) != fmt.Sprint(tt.steps) {
				t.Errorf("steps of %v, answered %v; want %v in order", got, answered, tt.steps)
			}
			if answers, err := p.Feed(nil); string(answers) != want || len(answered) != len(tt.topics) {
				t.Errorf("answers %q, want %q; %v", answers, want, err)
			}
			if n := sess.pending.Load(); n != 0 {
				t.Errorf("%d still pending", n)
			}
			route, _ := s.table.Load().AppendRoute(nil, []byte("T0"), core.RouteOptions{})
			last := len(tt.topics)
			if line, err := routeLine(string(route)); line != fmt.Sprintf("a{0=a:1} %d/%d/6/0", last, last) {
				t.Errorf("route %s, %v; want that of the last, %d queues", line, err, last)
			}
		})
	}
}

// registering is the broker's registration number i, from 0: n topics of i+1 queues.
func registering(i, n int) core.Command {
	queues := int32(i + 1)
	topics := make([]codec.TopicConfig, n)
	for k := range topics {
		name := fmt.Sprint("T", k%1000) // a body may name a topic twice
		topics[k] = codec.TopicConfig{Key: name, Name: name, HasName: true, ReadQueueNums: queues, WriteQueueNums: queues, Perm: 6}
	}
	return &core.RegisterBroker{Conn: 1, ClusterName: "c", BrokerName: "a", BrokerAddr: "a:1",
		Body: &codec.RegisterBody{DataVersion: codec.DataVersion{Counter: int64(i + 1)}, Topics: topics}}
}
