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
	if raceflag.Enabled {
		t.Skip("counts allocations")
	}
	const topics = 200
	names := make([][]byte, topics)
	for i := range names {
		names[i] = fmt.Appendf(nil, "T%d", i)
	}
	changed := func(topics int) *core.RegisterBroker {
		c := benchRegistration(0, topics, 2)
		for i := range c.Body.Topics {
			c.Body.Topics[i].ReadQueueNums = int32(i + 1)
		}
		return c
	}
	for _, tt := range []struct {
		name        string
		command     core.Command
		least, most int // texts encoded
	}{
		{"nothing", changed(topics), 0, 0},
		{"one topic", func() core.Command {
			c := changed(topics)
			c.Body.Topics[7].Perm = codec.PermRead
			return c
		}(), 0, 1}, // none where another list has its place
		{"an address", func() core.Command {
			c := changed(topics)
			c.BrokerAddr = "10.9.9.9:10911"
			c.Body.DataVersion.StateVersion++
			return c
		}(), topics / 2, topics}, // some have no place of their own
	} {
		t.Run(tt.name, func(t *testing.T) {
			table := manyLists(3, topics)
			dst := make([]byte, 0, 1<<16)
			ask := func() {
				for _, name := range names {
					dst, _ = table.Load().AppendRoute(dst[:0], name, core.RouteOptions{})
				}
			}
			ask()
			var out core.Outcome
			table.Step(2, []core.Command{tt.command}, &out)
			ran := false
			allocs := testing.AllocsPerRun(1, func() {
				if !ran { // the first is not counted
					ran = true
					return
				}
				ask()
			})
			const least, most = 2, 16 // of one text, which grows as it is put together
			if allocs < float64(tt.least*least) || allocs > float64(tt.most*most) {
				t.Errorf("%v allocations, want those of %d to %d texts", allocs, tt.least, tt.most)
			}
		})
	}
}
