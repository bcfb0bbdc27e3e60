package core_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/waymark-mq/waymark/core"
	"pgregory.net/rapid"
)

// orphaned reports whether an address of a group has no registration behind it, or in its cluster that of another name, which lost its
// own slot: two clusters shared a name.
func orphaned(s *core.Snapshot) bool {
	for g := range s.Groups("") {
		for _, a := range g.Addrs {
			if l, ok := s.LiveOf(g, a.Addr); !ok || !s.InCluster(l.ClusterName, g.Name) {
				return true
			}
			if l, ok := s.Live([]byte(g.ClusterName), []byte(a.Addr)); ok && l.BrokerName != g.Name {
				return true
			}
		}
	}
	return false
}

// routeReads are all answers but those of 322, which treats restored brokers as unknown.
func routeReads(s *core.Snapshot) (texts []string) {
	for _, text := range allReads(snapshotReads{s}) {
		if !strings.HasPrefix(text, "version ") {
			texts = append(texts, text)
		}
	}
	return texts
}

// TestPropertyRestoredAnswersAreTheSame: whatever happened to a table, one that is restored from it answers as it does, and a second
// one from that. When the grace is over and nobody has registered, nothing is left of it.
func TestPropertyRestoredAnswersAreTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t)
		for range rapid.IntRange(1, 12).Draw(t, "steps") {
			w.step(t)
		}
		s := w.table.Snapshot
		if orphaned(s) {
			t.Skip("an address without a registration isn't restored")
		}
		table, _ := restored(s, w.now, core.Restore{})
		if diff := firstDifference(routeReads(table.Load()), routeReads(s)); diff != "" {
			t.Fatalf("restored: %s", diff)
		}
		again, _ := restored(table.Load(), w.now, core.Restore{})
		if diff := firstDifference(routeReads(again.Load()), routeReads(s)); diff != "" {
			t.Fatalf("restored twice: %s", diff)
		}
		var out core.Outcome
		again.Step(w.now+grace+1, []core.Command{&core.Tick{}}, &out)
		if left := again.Load(); left.Brokers() != 0 || left.Topics() != 0 || left.Mappings() != 0 {
			t.Fatalf("%d brokers, %d topics, %d mappings are left", left.Brokers(), left.Topics(), left.Mappings())
		}
	})
}

// TestPropertyRegistrationsHaveTheLastWord: a restored table whose brokers have registered twice, with the end of the grace in
// between, is what it would be if nothing had been restored.
func TestPropertyRegistrationsHaveTheLastWord(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t)
		register := func() *core.RegisterBroker {
			c := w.drawRegistration(t)
			c.ClusterName, c.HasTimeout = "c1", false                                    // a name in two clusters is in both while one of them is only restored
			c.Body.NullTopicTable = c.Body.NullTopicTable || c.BrokerID != core.MasterID // a slave brings topics only while no master is known
			c.BrokerAddr = fmt.Sprint(c.BrokerName, c.BrokerID, pick(t, "host", []string{":1", ":2"}))
			return c
		}
		batch := func(label string) (commands []core.Command) {
			for range rapid.IntRange(1, 5).Draw(t, label) {
				commands = append(commands, register())
			}
			return commands
		}
		var out core.Outcome
		w.table.table.Step(0, batch("before"), &out)
		warm, _ := restored(w.table.table.Load(), 1, core.Restore{})
		cold := core.NewTable(w.table.table.Load().Settings(), nil)
		after := batch("after")
		for _, table := range []*core.Table{warm, cold} {
			table.Step(2, after, &out)
			table.Step(3+grace, []core.Command{&core.Tick{}}, &out)
			table.Step(4+grace, after, &out)
		}
		if diff := firstDifference(allReads(snapshotReads{warm.Load()}), allReads(snapshotReads{cold.Load()})); diff != "" {
			t.Fatal(diff)
		}
	})
}

// TestPropertyRestoredTableTakesEverything: any commands at a restored table leave its indexes right (in builds with internal
// checks), come to the same in one step, where changes of lists wait, as one by one, and leave nothing provisional once the grace is over.
func TestPropertyRestoredTableTakesEverything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t)
		for range rapid.IntRange(1, 6).Draw(t, "steps before") {
			w.step(t)
		}
		table, _ := restored(w.table.Snapshot, w.now, core.Restore{})
		singly, _ := restored(w.table.Snapshot, w.now, core.Restore{})
		until := w.now + grace
		var out core.Outcome
		for range rapid.IntRange(1, 6).Draw(t, "steps after") {
			w.pass(t)
			batch := rapid.SliceOfN(rapid.Custom(w.drawCommand), 1, 16).Draw(t, "batch")
			for _, c := range batch {
				t.Logf("%d ms: %s", w.now/1e6, describe(c))
				if tick, ok := c.(*core.Tick); ok {
					until += tick.LatenessNanos
				}
				singly.Step(w.now, []core.Command{c}, &out)
			}
			table.Step(w.now, batch, &out)
			if diff := firstDifference(provisionalReads(table.Load()), provisionalReads(singly.Load())); diff != "" {
				t.Fatalf("in one step and one by one: %s", diff)
			}
			if r, ok := table.Load().Restored(); ok && (r.ToCome < 0 || r.Confirmed+r.ToCome > r.Brokers) {
				t.Fatalf("%+v", r)
			}
		}
		table.Step(max(w.now, until)+1, []core.Command{&core.Tick{}}, &out)
		if _, still := table.Load().Restored(); still {
			t.Fatal("the grace isn't over")
		}
		for _, text := range provisionalReads(table.Load()) {
			if strings.HasPrefix(text, "provisional") {
				t.Fatal("after the grace: ", text)
			}
		}
	})
}

// provisionalReads are all answers, and what is provisional.
func provisionalReads(s *core.Snapshot) []string {
	texts := allReads(snapshotReads{s})
	names, _ := s.TopicNames("", "", 100)
	for _, name := range names {
		v, _ := s.Topic(name)
		for _, q := range v.Queues {
			if q.Provisional {
				texts = append(texts, fmt.Sprintf("provisional: %q of %s", name, q.Group.Name))
			}
		}
	}
	var lives []string
	for l := range s.AllLive() {
		if l.Provisional {
			lives = append(lives, fmt.Sprintf("provisional: %s of %s in %s", l.BrokerAddr, l.BrokerName, l.ClusterName))
		}
	}
	slices.Sort(lives)
	r, _ := s.Restored()
	return append(append(texts, lives...), fmt.Sprintf("%+v", r))
}

// A state that says anything is taken as far as it fits together.
func TestRestoreOfAnything(t *testing.T) {
	far := core.NewStateQueue(1<<31, 1<<31)
	state := &core.State{
		Groups: []core.StateGroup{
			{Index: 7, Name: "a", ClusterName: "c", Homes: []string{"c", "c"}, Addrs: []core.Address{{BrokerID: 0, Addr: "h:1"}, {BrokerID: 0, Addr: "h:1"}, {BrokerID: 1, Addr: "gone:1"}}},
			{Index: 7, Name: "b", ClusterName: "c", Addrs: []core.Address{{Addr: "h:1"}}},
			{Index: 8, Name: "a", ClusterName: "d", Addrs: []core.Address{{Addr: "h:1"}}},
			{Index: 9, Name: "none"},
			{Index: 10, Name: "other", ClusterName: "c", Addrs: []core.Address{{Addr: "h:1"}, {BrokerID: 1, Addr: "h:4"}}}, // h:1 is a's
			{Index: 11, Name: "taken", ClusterName: "c", Addrs: []core.Address{{Addr: "h:1"}}},
		},
		Settings: []core.StateSetting{{Index: 3, Perm: 6}, {Index: 3, Perm: 4}, {Index: 1 << 31}},
		Lists:    [][]core.StateQueue{{core.NewStateQueue(7, 3), core.NewStateQueue(7, 3), far}, {far}, nil},
		Topics:   []core.StateTopic{{Name: "T"}, {Name: "T", List: 1}, {Name: "U", List: 1}, {Name: "V", List: 2}, {Name: "W", List: 1 << 31}},
		Mappings: []core.StateMapping{{Topic: "T", BrokerName: "x", Registrant: "nobody"}, {Topic: "T", BrokerName: "x", Registrant: "a"}},
		Live: []core.StateLive{
			{ClusterName: "c", BrokerName: "a", BrokerAddr: "h:1", AgeNanos: -1, TimeoutNanos: -1}, {ClusterName: "c", BrokerName: "a", BrokerAddr: "h:1"},
			{ClusterName: "d", BrokerName: "a", BrokerAddr: "h:1"}, {ClusterName: "c", BrokerName: "z", BrokerAddr: "h:3"},
			{ClusterName: "c", BrokerName: "other", BrokerAddr: "h:1"}, {ClusterName: "c", BrokerName: "other", BrokerAddr: "h:4"},
			{ClusterName: "c", BrokerName: "taken", BrokerAddr: "h:1"},
		},
	}
	table, out := core.NewTable(core.DefaultSettings(), nil), core.Outcome{}
	table.Step(0, []core.Command{&core.Restore{State: state, UntilNanos: 1, MaxAgeNanos: 1}}, &out)
	s := table.Load()
	names, _ := s.TopicNames("", "", 9)
	var groups []string
	for g := range s.Groups("") {
		groups = append(groups, fmt.Sprint(g.Name, g.Addrs))
	}
	if got := strings.Join(append(groups, names...), ", "); out.Results[0].Count != 2 || got != "a[{0 h:1}], other[{1 h:4}], T" {
		t.Errorf("%d brokers, %s", out.Results[0].Count, got)
	}
	table.Step(2, []core.Command{&core.Tick{}}, &out)
	if s := table.Load(); s.Brokers()+s.Topics()+s.Mappings() != 0 {
		t.Error("something is left")
	}
}
