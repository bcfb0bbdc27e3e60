package core_test

import (
	"fmt"
	"testing"

	"github.com/waymark-mq/waymark/codec"
	"github.com/waymark-mq/waymark/core"
)

// registration of a broker that has n topics called T0 … at the given version.
func benchRegistration(broker, n int, version int64) *core.RegisterBroker {
	b := &codec.RegisterBody{DataVersion: codec.DataVersion{Counter: version, Timestamp: 1}}
	for i := range n {
		name := fmt.Sprintf("T%d", i)
		b.Topics = append(b.Topics, codec.TopicConfig{Key: name, Name: name, HasName: true, ReadQueueNums: 8, WriteQueueNums: 8, Perm: 6})
	}
	return &core.RegisterBroker{
		Conn: core.ConnID(broker + 1), ClusterName: "DefaultCluster", BrokerName: fmt.Sprintf("broker-%d", broker),
		BrokerAddr: fmt.Sprintf("10.0.%d.%d:10911", broker/256, broker%256), ActingMaster: core.ActingFalse, Body: b,
	}
}

func benchTable(brokers, topics int) *core.Table {
	t := core.NewTable(core.DefaultSettings(), nil)
	var out core.Outcome
	for b := range brokers {
		t.Step(1, []core.Command{benchRegistration(b, topics, 1)}, &out)
	}
	return t
}

func BenchmarkRoute(b *testing.B) {
	for _, size := range []struct{ brokers, topics int }{{4, 100}, {4, 10_000}, {4, 200_000}, {300, 1_000}} {
		t := benchTable(size.brokers, size.topics)
		for _, d := range []codec.Dialect{codec.Standard, codec.Legacy} {
			b.Run(fmt.Sprintf("brokers=%d/topics=%d/dialect=%d", size.brokers, size.topics, d), func(b *testing.B) {
				topics := make([][]byte, 1024)
				for i := range topics {
					topics[i] = fmt.Appendf(nil, "T%d", i*7919%size.topics)
				}
				var dst []byte
				b.ReportAllocs()
				for i := 0; b.Loop(); i++ {
					dst, _ = t.Load().AppendRoute(dst[:0], topics[i%len(topics)], core.RouteOptions{Dialect: d})
				}
				b.SetBytes(int64(len(dst)))
			})
		}
	}
}

func BenchmarkRouteMiss(b *testing.B) {
	t := benchTable(4, 10_000)
	b.ReportAllocs()
	for b.Loop() {
		if _, ok := t.Load().AppendRoute(nil, []byte("no such topic"), core.RouteOptions{}); ok {
			b.Fatal("found")
		}
	}
}

func BenchmarkHeartbeat(b *testing.B) {
	t := benchTable(300, 10)
	cluster, addr := []byte("DefaultCluster"), []byte("10.0.1.7:10911")
	b.ReportAllocs()
	for now := int64(2); b.Loop(); now++ {
		l, ok := t.Load().Live(cluster, addr)
		if !ok {
			b.Fatal("unknown")
		}
		l.Cell.Touch(1, now)
	}
}

func BenchmarkRegister(b *testing.B) {
	const topics = 5_000
	step := func(b *testing.B, t *core.Table, now int64, c *core.RegisterBroker) {
		var out core.Outcome
		t.Step(now, []core.Command{c}, &out)
	}
	b.Run(fmt.Sprintf("unchanged/topics=%d", topics), func(b *testing.B) {
		t := benchTable(20, topics)
		c := benchRegistration(3, topics, 1)
		b.ReportAllocs()
		for now := int64(2); b.Loop(); now++ {
			step(b, t, now, c)
		}
	})
	b.Run(fmt.Sprintf("oneTopicChanged/topics=%d", topics), func(b *testing.B) {
		t := benchTable(20, topics)
		c := benchRegistration(3, topics, 1)
		b.ReportAllocs()
		for now := int64(2); b.Loop(); now++ {
			c.Body.DataVersion.Counter++
			c.Body.Topics[int(now)%topics].ReadQueueNums = int32(now%7 + 1)
			step(b, t, now, c)
		}
	})
	b.Run(fmt.Sprintf("allNew/topics=%d", topics), func(b *testing.B) {
		t := benchTable(19, topics)
		c := benchRegistration(19, topics, 1)
		gone := &core.UnregisterBroker{ClusterName: c.ClusterName, BrokerName: c.BrokerName, BrokerAddr: c.BrokerAddr}
		var out core.Outcome
		b.ReportAllocs()
		for now := int64(2); b.Loop(); now++ {
			step(b, t, now, c)
			b.StopTimer()
			t.Step(now, []core.Command{gone}, &out)
			b.StartTimer()
		}
	})
}

// BenchmarkFirstRegistrations is a whole cluster that comes up: every broker registers the topics that all share.
func BenchmarkFirstRegistrations(b *testing.B) {
	for _, size := range []struct{ brokers, topics int }{{20, 5_000}, {300, 10_000}} {
		b.Run(fmt.Sprintf("brokers=%d/topics=%d", size.brokers, size.topics), func(b *testing.B) {
			commands := make([]core.Command, size.brokers)
			for i := range commands {
				commands[i] = benchRegistration(i, size.topics, 1)
			}
			b.ReportAllocs()
			for b.Loop() {
				t := core.NewTable(core.DefaultSettings(), nil)
				var out core.Outcome
				for i := range commands {
					t.Step(1, commands[i:i+1], &out)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*size.brokers), "ns/registration")
		})
	}
}

// BenchmarkScan is 5 s in the life of 100,000 brokers that beat every 30 s: what finding out that none is silent costs. The
// beats themselves are not in it.
func BenchmarkScan(b *testing.B) {
	const brokers, perStep, second = 100_000, 1_000, int64(1_000_000_000)
	t := core.NewTable(core.DefaultSettings(), nil)
	var out core.Outcome
	for from := 0; from < brokers; from += perStep {
		commands := make([]core.Command, perStep)
		for i := range commands {
			c := benchRegistration(from+i, 0, 1)
			c.BrokerAddr = fmt.Sprintf("10.%d.%d.%d:10911", (from+i)/65536, (from+i)/256%256, (from+i)%256)
			commands[i] = c
		}
		t.Step(int64(from)*30*second/brokers, commands, &out)
	}
	s := t.Load()
	if s.Brokers() != brokers {
		b.Fatal(s.Brokers(), "brokers")
	}
	cells := s.Cells()
	now := 30 * second
	for tick := 0; b.Loop(); tick++ {
		now += 5 * second
		b.StopTimer()
		for i := tick % 6; i < len(cells); i += 6 {
			cells[i].Touch(1, now)
		}
		b.StartTimer()
		t.Step(now, []core.Command{&core.Tick{}}, &out)
		if len(out.Effects) > 0 {
			b.Fatal("a broker expired")
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/5/1e7, "%core")
}

func BenchmarkBrokerGone(b *testing.B) {
	const brokers, topics = 100, 2_000
	t := benchTable(brokers, topics)
	c := benchRegistration(7, topics, 1)
	gone := &core.UnregisterBroker{ClusterName: c.ClusterName, BrokerName: c.BrokerName, BrokerAddr: c.BrokerAddr}
	var out core.Outcome
	for now := int64(2); b.Loop(); now++ {
		t.Step(now, []core.Command{gone}, &out)
		b.StopTimer()
		t.Step(now, []core.Command{c}, &out)
		b.StartTimer()
	}
}
