package core_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/waymark-mq/waymark/codec"
	"github.com/waymark-mq/waymark/core"
	"github.com/waymark-mq/waymark/internal/raceflag"
)

// manyLists is a table in which each topic Ti has a list of queues of its own: i+1 to read.
func manyLists(brokers, topics int) *core.Table {
	t := core.NewTable(core.DefaultSettings(), nil)
	var out core.Outcome
	for b := range brokers {
		c := benchRegistration(b, topics, 1)
		for i := range c.Body.Topics {
			c.Body.Topics[i].ReadQueueNums = int32(i + 1)
		}
		t.Step(1, []core.Command{c}, &out)
	}
	return t
}

// More lists than texts are kept of, in number and in bytes: answers are right, the first time and later.
func TestRouteTextsAreBounded(t *testing.T) {
	const brokers, topics = 150, 600 // 18 MB of answers
	s := manyLists(brokers, topics).Load()
	var dst []byte
	for range 2 {
		for i := range topics {
			var found bool
			dst, found = s.AppendRoute(dst[:0], fmt.Appendf(nil, "T%d", i), core.RouteOptions{})
			var route struct {
				BrokerDatas []struct{ BrokerName string }
				QueueDatas  []struct {
					BrokerName    string
					ReadQueueNums int
				}
			}
			if err := json.Unmarshal(dst, &route); !found || err != nil || len(route.BrokerDatas) != brokers || len(route.QueueDatas) != brokers {
				t.Fatalf("T%d: found %v, %v, %d brokers", i, found, err, len(route.BrokerDatas))
			}
			for k, q := range route.QueueDatas {
				if q.ReadQueueNums != i+1 || q.BrokerName != route.BrokerDatas[k].BrokerName {
					t.Fatalf("T%d: queues %+v of %s", i, q, route.BrokerDatas[k].BrokerName)
				}
			}
		}
	}
	if raceflag.Enabled {
		return
	}
	topic := make([]byte, 0, 16)
	if n := testing.AllocsPerRun(1, func() {
		for i := range topics {
			topic = fmt.Appendf(topic[:0], "T%d", i)
			dst, _ = s.AppendRoute(dst[:0], topic, core.RouteOptions{})
		}
	}); n > topics { // Appendf's boxed numbers
		t.Errorf("%v allocations for %d answers given before", n, topics)
	}
}

// What a change makes the next readers encode: the texts of the lists that are new, all of them when an address is.
func TestRouteTextsAfterAChange(t *testing.T) {
	const topics = 200
	changed := func() *core.RegisterBroker {
		c := benchRegistration(0, topics, 2)
		for i := range c.Body.Topics {
			c.Body.Topics[i].ReadQueueNums = int32(i + 1)
		}
		return c
	}
	more := benchRegistration(3, topics, 1)
	more.Body.Topics = more.Body.Topics[:2]
	for _, tt := range []struct {
		name        string
		command     core.Command
		least, most int // texts encoded
	}{
		{"nothing", changed(), 0, 0},
		{"one topic", func() core.Command {
			c := changed()
			c.Body.Topics[7].Perm = codec.PermRead
			return c
		}(), 0, 1}, // none where another list has its place
		{"one topic gone", &core.DeleteTopic{Topic: "T7"}, 0, 0},
		{"an address", func() core.Command {
			c := changed()
			c.BrokerAddr = "10.9.9.9:10911"
			c.Body.DataVersion.StateVersion++
			return c
		}(), topics / 2, topics}, // some have no place of their own
		{"a broker", more, topics / 2, topics},
	} {
		t.Run(tt.name, func(t *testing.T) {
			table := manyLists(3, topics)
			var dst []byte
			ask := func() {
				for i := range topics {
					dst, _ = table.Load().AppendRoute(dst[:0], fmt.Appendf(nil, "T%d", i), core.RouteOptions{})
				}
			}
			ask()
			before := table.Load().RouteTexts()
			if len(before) < topics/2 {
				t.Fatalf("%d texts kept of %d: the test shows little", len(before), topics)
			}
			var out core.Outcome
			table.Step(2, []core.Command{tt.command}, &out)
			ask()
			encoded := 0
			for text := range table.Load().RouteTexts() {
				if !before[text] {
					encoded++
				}
			}
			if encoded < tt.least || encoded > tt.most {
				t.Errorf("%d texts encoded, want %d to %d", encoded, tt.least, tt.most)
			}
		})
	}
}

// Lists come and go while no group changes, as when a topic is changed on one broker after another: their texts make room.
func TestRouteTextsSurviveChurn(t *testing.T) {
	const brokers, changes = 200, 1000
	table := benchTable(brokers, 3)
	var out core.Outcome
	kept := 0
	for i := range changes {
		c := benchRegistration(i%brokers, 3, int64(i+2))
		c.Body.Topics[i%3].ReadQueueNums = int32(i + 9)
		table.Step(int64(i+2), []core.Command{c}, &out)
		for range 2 {
			for topic := range 3 {
				if _, tail, _ := table.Load().AppendRouteHead(nil, fmt.Appendf(nil, "T%d", topic), core.RouteOptions{}); tail != nil {
					kept++
				}
			}
		}
	}
	if all := changes * 3 * 2; kept < all*8/10 {
		t.Errorf("%d of %d answers had a text", kept, all)
	}
}
