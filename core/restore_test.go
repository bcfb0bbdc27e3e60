package core_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/waymark-mq/waymark/codec"
	"github.com/waymark-mq/waymark/core"
	"pgregory.net/rapid"
)

const grace = int64(10 * time.Second)

// restored makes a table of what a snapshot holds, as another process would, with the same settings and KV table.
func restored(s *core.Snapshot, now int64, c core.Restore) (*core.Table, core.Result) {
	kv := map[string]map[string]string{}
	names, _ := s.KVNamespaces()
	for _, ns := range names {
		kv[ns] = map[string]string{}
		keys, _ := s.KVKeys(ns)
		for _, k := range keys {
			kv[ns][k], _ = s.KV(ns, k)
		}
	}
	table, out := core.NewTable(s.Settings(), kv), core.Outcome{}
	if c.MaxAgeNanos == 0 {
		c.MaxAgeNanos = int64(time.Hour)
	}
	c.State, c.UntilNanos = s.Export(now), now+grace
	table.Step(now, []core.Command{&c}, &out)
	return table, out.Results[0]
}

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

// restoredBroker is a restored table of one broker, a at h:1, with the topics, and what happens to it.
type restoredBroker struct {
	*testing.T
	*core.Table
	out core.Outcome
}

func registration(counter int64, topics ...string) *core.RegisterBroker {
	body := &codec.RegisterBody{DataVersion: codec.DataVersion{StateVersion: 5, Counter: counter}}
	for _, name := range topics {
		body.Topics = append(body.Topics, codec.TopicConfig{Key: name, Name: name, HasName: true, ReadQueueNums: 4, WriteQueueNums: 4, Perm: 6})
	}
	return &core.RegisterBroker{Conn: 1, ClusterName: "c", BrokerName: "a", BrokerAddr: "h:1", Body: body}
}

func restoreBroker(t *testing.T, topics ...string) *restoredBroker {
	table, out := core.NewTable(core.DefaultSettings(), nil), core.Outcome{}
	table.Step(0, []core.Command{registration(1, topics...), &core.WipeWritePerm{BrokerName: "a"}}, &out)
	table, r := restored(table.Load(), 0, core.Restore{})
	if r.Count != 1 {
		t.Fatalf("%d brokers restored", r.Count)
	}
	return &restoredBroker{T: t, Table: table}
}

func (b *restoredBroker) step(now int64, c core.Command) core.Result {
	b.Table.Step(now, []core.Command{c}, &b.out)
	return b.out.Results[0]
}

// perms are the topics and their permissions, "-" for none.
func (b *restoredBroker) wantPerms(want string) {
	b.Helper()
	s, got := b.Load(), []string{}
	names, _ := s.TopicNames("", "", 100)
	for _, name := range names {
		v, _ := s.Topic(name)
		got = append(got, fmt.Sprint(name, v.Queues[0].Perm))
	}
	if text := strings.Join(got, " "); text != want {
		b.Errorf("topics %q, want %q", text, want)
	}
}

func (b *restoredBroker) wantStatus(want core.RestoreStatus) {
	b.Helper()
	want.Brokers, want.Clusters, want.UntilNanos = 1, 1, grace
	if got, _ := b.Load().Restored(); got != want {
		b.Errorf("%+v, want %+v", got, want)
	}
}

// A heartbeat or a 322 of a restored broker is one of an unknown broker, and prolongs nothing.
func TestRestoredBrokerIsUnknownToItself(t *testing.T) {
	b := restoreBroker(t, "T", "U")
	l, _ := b.Load().Live([]byte("c"), []byte("h:1"))
	if alive, moved := l.Cell.Touch(1, 5); alive || moved || l.Cell.Refresh(5) {
		t.Error("a beat counts")
	}
	r := b.step(6, &core.QueryDataVersion{Conn: 1, ClusterName: "c", BrokerAddr: "h:1", DataVersion: l.DataVersion, HasDataVersion: true})
	if r.Known || !r.Changed {
		t.Errorf("322: %+v", r)
	}
	b.step(7, &core.EndConnection{Conn: 1})
	b.wantPerms("T4 U4")
	b.step(grace, &core.Tick{})
	b.wantPerms("T4 U4")
	b.step(grace+1, &core.Tick{})
	b.wantPerms("")
}

// The first registration confirms the broker and brings its own permissions; what it lacks goes at the end of the grace.
func TestRestoredBrokerRegisters(t *testing.T) {
	b := restoreBroker(t, "T", "U", "V")
	if r := b.step(1, registration(1, "T")); !r.Refused {
		t.Error("a single topic was taken")
	}
	b.wantStatus(core.RestoreStatus{ToCome: 1})
	b.step(2, registration(1, "T", "N"))
	b.wantStatus(core.RestoreStatus{Confirmed: 1})
	b.wantPerms("N6 T6 U4 V4")
	b.step(3, registration(1, "U")) // another part of a split round, of the same version
	b.wantPerms("N6 T6 U6 V4")
	b.step(grace+1, &core.Tick{})
	b.wantPerms("N6 T6 U6")
	l, _ := b.Load().Live([]byte("c"), []byte("h:1"))
	if last, alive := l.Cell.Last(); !alive || last != 3 || l.Cell.Owner() != 1 {
		t.Errorf("last sign %d, alive %v, owner %d", last, alive, l.Cell.Owner())
	}
}

// Deletion by registration leaves restored topics to the end of the grace: another part may bring them.
func TestRestoredTopicsOutliveDeletionByRegistration(t *testing.T) {
	b := restoreBroker(t, "T", "U")
	s := core.DefaultSettings()
	s.DeleteTopicWithBrokerRegistration = true
	b.step(1, &core.SetSettings{Settings: s})
	b.step(2, registration(2, "T", "N"))
	b.wantPerms("N6 T6 U4")
	b.step(grace+1, &core.Tick{})
	b.wantPerms("N6 T6")
}

// Another address takes the slot whatever the stateVersion of the restored one.
func TestRestoredBrokerLosesItsSlot(t *testing.T) {
	b := restoreBroker(t, "T", "U")
	c := registration(1, "T", "U")
	c.BrokerAddr, c.Body.DataVersion.StateVersion = "h:2", 1
	if r := b.step(1, c); r.Conflict || r.Refused {
		t.Errorf("%+v", r)
	}
	b.wantStatus(core.RestoreStatus{})
	b.wantPerms("T6 U6")
	if s := b.Load(); s.Brokers() != 1 {
		t.Errorf("%d brokers", s.Brokers())
	}
}

// A broker name that comes back in another cluster leaves nothing in the former.
func TestRestoredBrokerChangesItsCluster(t *testing.T) {
	b := restoreBroker(t, "T", "U")
	c := registration(1, "T", "N")
	c.ClusterName = "d"
	b.step(1, c)
	b.wantPerms("N6 T6")
	if s := b.Load(); s.InCluster("c", "a") || !s.InCluster("d", "a") || s.Brokers() != 1 {
		t.Errorf("cluster information %s, %d brokers", s.ClusterInfo().Body(), s.Brokers())
	}
}

// What refuses connections goes at once, if it hasn't registered.
func TestDropRestored(t *testing.T) {
	drop := &core.DropRestored{Brokers: []core.BrokerAddress{{ClusterName: "c", BrokerAddr: "h:1"}, {ClusterName: "c", BrokerAddr: "h:9"}}}
	b := restoreBroker(t, "T", "U")
	if r := b.step(1, drop); r.Count != 1 {
		t.Errorf("%+v", r)
	}
	b.wantStatus(core.RestoreStatus{})
	b.wantPerms("")
	b = restoreBroker(t, "T", "U")
	b.step(1, registration(1, "T", "U"))
	if r := b.step(2, drop); r.Count != 0 {
		t.Errorf("%+v", r)
	}
	b.wantPerms("T6 U6")
}

// The end of the grace moves with a process that stood still; a 104 removes a restored broker as any other.
func TestRestoredBrokerWaitsAndLeaves(t *testing.T) {
	b := restoreBroker(t, "T", "U")
	b.step(1, &core.Tick{LatenessNanos: grace})
	b.step(2*grace, &core.Tick{})
	b.wantPerms("T4 U4")
	b.step(2*grace+1, &core.Tick{})
	b.wantPerms("")
	b = restoreBroker(t, "T", "U")
	b.step(1, &core.UnregisterBroker{ClusterName: "c", BrokerName: "a", BrokerAddr: "h:1"})
	b.wantPerms("")
	b.wantStatus(core.RestoreStatus{})
}

// Age goes on over restarts, so that a server that restarts all the time doesn't keep the dead.
func TestOldBrokersAreNotRestored(t *testing.T) {
	table, out := core.NewTable(core.DefaultSettings(), nil), core.Outcome{}
	table.Step(0, []core.Command{registration(1, "T", "U")}, &out)
	const second = int64(time.Second)
	limit := core.Restore{SinceNanos: 2 * second, MaxAgeNanos: 15 * second}
	first, r := restored(table.Load(), 9*second, limit) // 11 s old
	if r.Count != 1 {
		t.Fatalf("%+v", r)
	}
	if _, r = restored(first.Load(), 11*second, limit); r.Count != 1 { // 15 s
		t.Errorf("%+v", r)
	}
	if second, r := restored(first.Load(), 11*second+2, limit); r.Count != 0 || second.Load().Topics() != 0 {
		t.Errorf("%+v", r)
	}
}

// Thousands that don't come back go in one step, whose work is that of what they had.
func TestMassLossAtTheEndOfTheGrace(t *testing.T) {
	const n = 5000
	table, out := deadBrokers(n)
	table, _ = restored(table.Load(), 1, core.Restore{})
	table.Step(2+grace, []core.Command{&core.Tick{}}, out)
	if w := out.Work; w.Topics != 4*n || w.Lists > 4*n || w.Shards > 3*256 {
		t.Errorf("%+v, want %d topics, no more lists, 768 shards at most", w, 4*n)
	}
	if s := table.Load(); s.Brokers() != 0 || s.Topics() != 0 {
		t.Errorf("%d brokers, %d topics are left", s.Brokers(), s.Topics())
	}
}

// Restored brokers that share topics and register in one step, or don't bring what they share by the end of the grace, cost as
// much each whether they are few or many. Three topics each, of which two have a list in common.
func TestSharedRestoredTopicsCostNoMoreForMany(t *testing.T) {
	without := func(i int) *core.RegisterBroker {
		c := sharer(i, 4)
		c.Body.Topics = append(c.Body.Topics[1:2:2], codec.TopicConfig{Key: "new", Name: "new", HasName: true, Perm: 6})
		return c
	}
	for _, tt := range []struct {
		name string
		come func(i, n int) *core.RegisterBroker
		left func(n int) int // brokers of the common topics after the grace
	}{
		{"all bring them", func(i, _ int) *core.RegisterBroker { return sharer(i, 4) }, func(n int) int { return n }},
		{"others than before", func(i, _ int) *core.RegisterBroker { return sharer(i, 8) }, func(n int) int { return n }},
		{"nobody brings them", func(i, _ int) *core.RegisterBroker { return without(i) }, func(int) int { return 0 }},
		{
			"half bring them", func(i, n int) *core.RegisterBroker {
				if i < n/2 {
					return sharer(i, 4)
				}
				return without(i)
			}, func(n int) int { return n / 2 },
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, n := range []int{500, 1000, 2000} {
				table, out := core.NewTable(core.DefaultSettings(), nil), new(core.Outcome)
				table.Step(0, sharing(n), out)
				table, _ = restored(table.Load(), 1, core.Restore{})
				batch := make([]core.Command, n)
				for i := range batch {
					batch[i] = tt.come(i, n)
				}
				table.Step(2, batch, out)
				if most := 6 * n; out.Work.Queues > most {
					t.Errorf("%d brokers come: %d queues copied, want %d at most", n, out.Work.Queues, most)
				}
				table.Step(2+grace, []core.Command{&core.Tick{}}, out)
				if most := 2 * n; out.Work.Queues > most {
					t.Errorf("%d brokers, the end of the grace: %d queues copied, want %d at most", n, out.Work.Queues, most)
				}
				for _, topic := range []string{"all", "all too"} {
					route, _ := table.Load().Topic(topic)
					if len(route.Queues) != tt.left(n) {
						t.Errorf("%d brokers: %q has %d, want %d", n, topic, len(route.Queues), tt.left(n))
					}
				}
			}
		})
	}
}

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

// Of a restored broker nobody here has seen a sign of life: its removal is told to no peer, and no peer's word removes it.
func TestRemovalOfARestoredBrokerHasNoSign(t *testing.T) {
	for name, c := range map[string]core.Command{
		"104": &core.UnregisterBroker{ClusterName: "c", BrokerName: "a", BrokerAddr: "h:1"}, "the end of the grace": &core.Tick{},
		"refused": &core.DropRestored{Brokers: []core.BrokerAddress{{ClusterName: "c", BrokerAddr: "h:1"}}},
	} {
		b := restoreBroker(t, "T", "U")
		dead := &core.DeclareDead{ClusterName: "c", BrokerName: "a", BrokerAddr: "h:1", Version: codec.DataVersion{StateVersion: 5, Counter: 1}, Since: grace}
		if r := b.step(grace, dead); r.Removed {
			t.Fatal("declared dead")
		}
		dead.By = "peer"
		if r := b.step(grace, dead); r.Removed {
			t.Fatal("told dead")
		}
		b.wantPerms("T4 U4")
		b.step(grace+1, c)
		b.wantPerms("")
		if e, ok := b.out.Effects[0].(*core.Event); !ok || e.Sign != 0 || e.BrokerAddr != "h:1" {
			t.Errorf("%s: %+v", name, b.out.Effects[0])
		}
	}
}

// Accounts of a restored broker go on where those of the process before ended: that it is confirmed is no change.
func TestEditsOfRestoredBrokers(t *testing.T) {
	before := newEditor(false)
	for _, name := range []string{"a", "b"} {
		c := editedBroker(name, 0, 1, "R", "S", "T")
		c.BrokerName = name
		before.step(c)
	}
	e := newEditor(true)
	e.step(&core.Restore{State: before.table.Load().Export(2), UntilNanos: grace, MaxAgeNanos: grace})
	if got, _ := e.step(editedBroker("a", 0, 1, "R", "N")); strings.Join(got, "\n") != "0 registered: [0@a version 1] to [0@a version 1], N none to 4/4/6" {
		t.Errorf("comes: %q", got)
	}
	if got, _ := e.step(editedBroker("a", 0, 2, "S", "N")); strings.Join(got, "\n") != "0 changed: [0@a version 1] to [0@a version 2]" {
		t.Errorf("another part: %q", got)
	}
	e.now = grace
	got, edits := e.step(&core.Tick{})
	want := []string{
		"0 unconfirmed: [0@b version 1] to [], R 4/4/6 to none, S 4/4/6 to none, T 4/4/6 to none",
		"0 topics unconfirmed: [0@a] to [0@a], T 4/4/6 to none",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Fatalf("the end of the grace: %q, want %q", got, want)
	}
	if edits[1].Before.Digest == 0 || edits[1].After.Digest != 0 {
		t.Errorf("digests %x to %x", edits[1].Before.Digest, edits[1].After.Digest)
	}
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

// A slave that will act as master vouches for the topics that it has: its master, from which nothing is heard, leaves them readable.
func TestSlaveVouchesForRestoredTopics(t *testing.T) {
	table, out := core.NewTable(core.DefaultSettings(), nil), core.Outcome{}
	slave := func(topics ...string) *core.RegisterBroker {
		c := registration(1, topics...)
		c.ActingMaster, c.BrokerAddr, c.BrokerID = core.ActingTrue, "h:2", 1
		return c
	}
	master := registration(1, "T", "U")
	master.ActingMaster = core.ActingTrue
	table.Step(0, []core.Command{master, slave("T", "V")}, &out)
	warm, _ := restored(table.Load(), 0, core.Restore{})
	b := &restoredBroker{T: t, Table: warm}
	b.step(1, slave("T", "V"))
	b.wantPerms("T6 U6")
	b.step(grace+1, &core.Tick{})
	b.wantPerms("T4")
	b.step(grace+2, slave("T", "V"))
	b.wantPerms("T4 V4")

	// A master that is confirmed has the say alone.
	warm, _ = restored(table.Load(), 0, core.Restore{})
	b = &restoredBroker{T: t, Table: warm}
	master = registration(1, "U", "W")
	master.ActingMaster = core.ActingTrue
	b.step(1, master)
	b.step(2, slave("T", "V"))
	b.step(grace+1, &core.Tick{})
	b.wantPerms("U6 W6")
}

// The loss of a restored master is told to its group as any other, and its topics aren't written to any more.
func TestLossOfARestoredMasterIsTold(t *testing.T) {
	settings := core.DefaultSettings()
	settings.NotifyMinBrokerIDChanged = true
	table, out := core.NewTable(settings, nil), core.Outcome{}
	master, slave := registration(1, "T", "U"), registration(1)
	master.ActingMaster, slave.ActingMaster = core.ActingTrue, core.ActingTrue
	slave.BrokerAddr, slave.BrokerID = "h:2", 1
	table.Step(0, []core.Command{master, slave}, &out)
	warm, _ := restored(table.Load(), 0, core.Restore{})
	b := &restoredBroker{T: t, Table: warm}
	b.wantPerms("T6 U6")
	b.step(1, &core.DropRestored{Brokers: []core.BrokerAddress{{ClusterName: "c", BrokerAddr: "h:1"}}})
	b.wantPerms("T4 U4")
	want := "tell [h:2] min 1=h:2 offline h:1"
	if got := effectTexts(b.out.Effects); len(got) != 1 || got[0] != want {
		t.Errorf("effects %q, want %q", got, want)
	}
}
