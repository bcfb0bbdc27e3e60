package core_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/waymark-mq/waymark/codec"
	"github.com/waymark-mq/waymark/core"
)

// A large text is left where it is, and with what was appended before it makes the same answer; any other answer is whole.
func TestAppendRouteHead(t *testing.T) {
	settings := core.DefaultSettings()
	settings.OrderMessageEnable = true
	enabled := &core.SetSettings{Settings: settings}
	order := &core.PutKV{Namespace: core.OrderTopicConfig, Key: "T1", Value: codec.NullString{S: "broker-0:8", Valid: true}}
	for _, tt := range []struct {
		name    string
		brokers int
		extra   []core.Command
		topic   string
		options core.RouteOptions
		apart   bool
	}{
		{"small", 4, nil, "T0", core.RouteOptions{}, false},
		{"large", 200, nil, "T0", core.RouteOptions{}, true},
		{"large, legacy", 200, nil, "T0", core.RouteOptions{Dialect: codec.Legacy}, true},
		{"large, in a zone", 200, nil, "T0", core.RouteOptions{Zone: []byte("z")}, false},
		{"large, ordered", 200, []core.Command{enabled, order}, "T1", core.RouteOptions{}, false},
		{"large, another is ordered", 200, []core.Command{enabled, order}, "T0", core.RouteOptions{}, true},
		{"none", 200, nil, "None", core.RouteOptions{}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			table := benchTable(tt.brokers, 3)
			var out core.Outcome
			table.Step(2, tt.extra, &out)
			s := table.Load()
			for i := range 2 { // encoded, and kept
				head, tail, found := s.AppendRouteHead([]byte("before"), []byte(tt.topic), tt.options)
				whole, alsoFound := s.AppendRoute([]byte("before"), []byte(tt.topic), tt.options)
				if found != alsoFound || !bytes.Equal(append(head, tail...), whole) {
					t.Fatalf("round %d: found %v and %v, or other answers", i, found, alsoFound)
				}
				if (tail != nil) != tt.apart {
					t.Errorf("round %d: %d bytes are left where they are", i, len(tail))
				}
				if tt.apart && &tail[0] != shared(s, fmt.Sprint("T", 2), tt.options) {
					t.Errorf("round %d: another topic has another text", i)
				}
			}
		})
	}
}

func shared(s *core.Snapshot, topic string, o core.RouteOptions) *byte {
	_, tail, _ := s.AppendRouteHead(nil, []byte(topic), o)
	return &tail[0]
}
