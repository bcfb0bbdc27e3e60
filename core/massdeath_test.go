package core_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/waymark-mq/waymark/codec"
	"github.com/waymark-mq/waymark/core"
)

// deadBrokers registers n brokers, each on a connection of its own, at time 0. Each has three
// topics that three have and one that a hundred have.
func deadBrokers(n int) (*core.Table, *core.Outcome) {
	config := func(name string) codec.TopicConfig {
		return codec.TopicConfig{Key: name, Name: name, HasName: true, ReadQueueNums: 4, WriteQueueNums: 4, Perm: 6}
	}
	commands := make([]core.Command, n)
	for i := range commands {
		topics := []codec.TopicConfig{config(fmt.Sprint("many", i/100))}
		for k := range 3 {
			topics = append(topics, config(fmt.Sprint("T", (i+k)%n)))
		}
		commands[i] = &core.RegisterBroker{
			Conn: core.ConnID(i + 1), ClusterName: "c", BrokerName: fmt.Sprint("b", i), BrokerAddr: fmt.Sprintf("h%d:1", i),
			Body: &codec.RegisterBody{DataVersion: codec.DataVersion{Counter: 1}, Topics: topics},
		}
	}
	table, out := core.NewTable(core.DefaultSettings(), nil), new(core.Outcome)
	table.Step(0, commands, out)
	return table, out
}

// Thousands of brokers that go at once are one step and one published snapshot; its work is that of what
// they had, and it tells of each once.
func TestMassDeathIsOneWave(t *testing.T) {
	for _, tt := range []struct {
		name string
		step func(n int) (now int64, batch []core.Command)
		kind core.EventKind
	}{
		{"their connections end", func(n int) (int64, []core.Command) {
			batch := make([]core.Command, n)
			for i := range batch {
				batch[i] = &core.EndConnection{Conn: core.ConnID(i + 1)}
			}
			return 1, batch
		}, core.EventClosed},
		{"they are silent", func(int) (int64, []core.Command) {
			return int64(121 * time.Second), []core.Command{&core.Tick{}}
		}, core.EventExpired},
		{"104 of each", func(n int) (int64, []core.Command) {
			batch := make([]core.Command, n)
			for i := range batch {
				batch[i] = &core.UnregisterBroker{ClusterName: "c", BrokerName: fmt.Sprint("b", i), BrokerAddr: fmt.Sprintf("h%d:1", i)}
			}
			return 1, batch
		}, core.EventUnregistered},
	} {
		t.Run(tt.name, func(t *testing.T) {
			const n = 5000
			table, out := deadBrokers(n)
			before := table.Load()
			now, batch := tt.step(n)
			table.Step(now, batch, out)

			// Each topic loses its brokers one by one, but no list is made for what is less and less.
			if w := out.Work; w.Topics != 4*n || w.Lists > 0 || w.Shards > 3*256 {
				t.Errorf("%+v, want %d topics, no list, 768 shards at most", w, 4*n)
			}
			after := table.Load()
			if after.Brokers() != 0 || string(after.TopicList().Body()) != `{"topicList":[]}` {
				t.Errorf("%d brokers, topics %s are left", after.Brokers(), after.TopicList().Body())
			}
			if before.Brokers() != n {
				t.Errorf("the snapshot of before has %d brokers", before.Brokers())
			}
			events, closes := 0, 0
			for _, e := range out.Effects {
				switch e := e.(type) {
				case *core.Event:
					if e.Kind == tt.kind {
						events++
					}
				case *core.CloseConnection:
					closes++
				}
			}
			wantCloses := 0
			if tt.kind == core.EventExpired {
				wantCloses = n
			}
			if events != n || closes != wantCloses {
				t.Errorf("%d events and %d connections to close, want %d and %d", events, closes, n, wantCloses)
			}
		})
	}
}

// Under the guard they all stay, with no work, and go in one wave when the time is over.
func TestMassDeathUnderTheGuard(t *testing.T) {
	const n = 1000
	table, out := deadBrokers(n)
	s := core.DefaultSettings()
	s.ExpiryGuardPercent, s.ExpiryGuardMaxMillis = 30, 60_000
	table.Step(1, []core.Command{&core.SetSettings{Settings: s}}, out)
	held := table.Load()
	for now := int64(121 * time.Second); now < int64(180*time.Second); now += int64(5 * time.Second) {
		table.Step(now, []core.Command{&core.Tick{}}, out)
		if table.Load() != held || out.Work != (core.Work{}) {
			t.Fatalf("after %v: %+v, or another snapshot", time.Duration(now), out.Work)
		}
	}
	if got := len(held.Suspects()); got != n {
		t.Errorf("%d suspects, want %d", got, n)
	}
	table.Step(int64(182*time.Second), []core.Command{&core.Tick{}}, out)
	if left := table.Load().Brokers(); left != 0 || out.Work.Topics != 4*n {
		t.Errorf("%d brokers left, %+v", left, out.Work)
	}
}

// Thousands of changed addresses leave one entry behind after their timeout, and nobody hears of the others.
func TestAddressChangesLeaveNothing(t *testing.T) {
	const changes = 10_000
	table, out := core.NewTable(core.DefaultSettings(), nil), new(core.Outcome)
	batch := make([]core.Command, changes)
	for i := range batch {
		batch[i] = &core.RegisterBroker{
			Conn: core.ConnID(i + 1), ClusterName: "c", BrokerName: "a", BrokerAddr: fmt.Sprintf("h%d:1", i), HasTimeout: true, TimeoutMillis: 3000,
			Body: &codec.RegisterBody{Topics: []codec.TopicConfig{{Key: "T", Name: "T", HasName: true}, {Key: "U", Name: "U", HasName: true}}},
		}
	}
	table.Step(0, batch, out)
	if n := table.Load().Brokers(); n != changes {
		t.Fatalf("%d live entries before the timeout, want %d: 322 reads them", n, changes)
	}
	last := fmt.Sprintf("h%d:1", changes-1)
	l, _ := table.Load().Live([]byte("c"), []byte(last))
	l.Cell.Touch(changes, int64(2*time.Second))
	table.Step(int64(4*time.Second), []core.Command{&core.Tick{}}, out)
	if n := table.Load().Brokers(); n != 1 || len(out.Effects) > 0 {
		t.Errorf("%d live entries after it, want 1; effects %v", n, out.Effects)
	}
	if members := string(table.Load().AppendMemberGroup(nil, codec.NullString{}, codec.NullString{S: "a", Valid: true})); members != `{"brokerMemberGroup":{"brokerAddrs":{0:"`+last+`"},"brokerName":"a"}}` {
		t.Errorf("members %s", members)
	}
}

// Static topics that came and went leave no mapping, neither with their broker nor by deletion.
func TestPastMappingsLeaveNothing(t *testing.T) {
	table, out := core.NewTable(core.DefaultSettings(), nil), new(core.Outcome)
	for i := range 2000 {
		topic := fmt.Sprint("T", i)
		remove := core.Command(&core.UnregisterBroker{ClusterName: "c", BrokerName: "a", BrokerAddr: "a:1"})
		if i%2 == 1 {
			remove = &core.DeleteTopic{Topic: topic}
		}
		table.Step(int64(i), []core.Command{&core.RegisterBroker{
			Conn: 1, ClusterName: "c", BrokerName: "a", BrokerAddr: "a:1",
			Body: &codec.RegisterBody{
				DataVersion: codec.DataVersion{Counter: int64(i)},
				Topics:      []codec.TopicConfig{{Key: topic, Name: topic, HasName: true}, {Key: "pad", Name: "pad", HasName: true}},
				Mappings:    []codec.TopicQueueMapping{{Key: topic, Topic: text(topic), BrokerName: text("a")}},
			},
		}}, out)
		if n := table.Load().Mappings(); n != 1 {
			t.Fatalf("cycle %d: %d topics with mappings, want 1", i, n)
		}
		table.Step(int64(i), []core.Command{remove}, out)
		if n := table.Load().Mappings(); n != 0 {
			t.Fatalf("cycle %d: %d topics with mappings are left", i, n)
		}
	}
}
