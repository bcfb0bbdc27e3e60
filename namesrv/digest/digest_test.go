package digest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/waymark-mq/waymark/codec"
	"github.com/waymark-mq/waymark/core"
	"github.com/waymark-mq/waymark/namesrv/peers"
)

// registration is one of broker i with so many topics; variant changes what is to be seen of it.
func registration(i, topics, variant int) *core.RegisterBroker {
	c := &core.RegisterBroker{
		ClusterName: fmt.Sprintf("c%d", i%3), BrokerName: fmt.Sprintf("b%03d", i), BrokerAddr: fmt.Sprintf("10.0.%d.%d:10911", i/250, i%250),
		Conn: core.ConnID(i + 1),
		Body: &codec.RegisterBody{DataVersion: codec.DataVersion{Timestamp: int64(1 + variant), Counter: int64(variant)}},
	}
	for n := range topics {
		name := fmt.Sprintf("topic-%05d", n)
		c.Body.Topics = append(c.Body.Topics, codec.TopicConfig{Key: name, Name: name, HasName: true, ReadQueueNums: 8, WriteQueueNums: 8, Perm: 6})
	}
	if variant > 0 && topics > 0 {
		c.Body.Topics[variant%topics].Perm = 4
		c.Body.Topics[(variant+1)%topics].ReadQueueNums = int32(variant)
	}
	return c
}

func apply(t *core.Table, commands ...core.Command) {
	for _, c := range commands {
		t.Step(1, []core.Command{c}, &core.Outcome{})
	}
}

// canonical is what answers are made of, as text: the slow way.
func canonical(s *core.Snapshot) string {
	var lines []string
	for g := range s.Groups("") {
		lines = append(lines, fmt.Sprintf("group %q %q %v %v %v", g.Name, g.ClusterName, g.ZoneName, g.ActingMaster, g.Addrs))
	}
	names, _ := s.TopicNames("", "", 1<<20)
	for _, name := range names {
		v, _ := s.Topic(name)
		for _, q := range v.Queues {
			lines = append(lines, fmt.Sprintf("topic %q %q %d %d %d %d", name, q.Group.Name, q.ReadQueueNums, q.WriteQueueNums, q.Perm, q.TopicSysFlag))
		}
	}
	for m := range s.StaticMappings() {
		lines = append(lines, fmt.Sprintf("mapping %q %q %s", m.Topic, m.BrokerName, m.Info))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// TestEqualTables: two tables' digests are equal exactly if the tables are, whatever way they came there.
func TestEqualTables(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 7))
	equal, different := 0, 0
	for range 300 {
		a, b := core.NewTable(core.DefaultSettings(), nil), core.NewTable(core.DefaultSettings(), nil)
		variants := []int{0, 0, 0, 0, 0, 0}
		variants[random.IntN(6)] = random.IntN(3) // b's: mostly none differs
		for _, i := range random.Perm(6) {
			apply(a, registration(i, 5, 0))
		}
		for _, i := range random.Perm(6) {
			r := registration(i, 5, 2)
			apply(b, r, &core.UnregisterBroker{ClusterName: r.ClusterName, BrokerName: r.BrokerName, BrokerAddr: r.BrokerAddr})
			apply(b, registration(i, 5, variants[i]))
		}
		if random.IntN(4) == 0 {
			apply(b, &core.WipeWritePerm{BrokerName: "b000"})
		}
		da, db := new(Cache).Of(a.Load()), new(Cache).Of(b.Load())
		same := canonical(a.Load()) == canonical(b.Load())
		if same != (da.Sum == db.Sum) {
			t.Fatalf("tables equal: %v, digests %+v and %+v\n%s\n--\n%s", same, da.Sum, db.Sum, canonical(a.Load()), canonical(b.Load()))
		}
		if same {
			equal++
		} else {
			different++
			if d := Diff(da.Brokers, db.Brokers, 10); d.None() {
				t.Fatal("no broker differs")
			}
		}
	}
	if equal < 20 || different < 20 {
		t.Errorf("%d equal and %d different: the test is no test", equal, different)
	}
}

// TestRestoredTable: one that was restored is the same as another's whose brokers have registered.
func TestRestoredTable(t *testing.T) {
	table, warm := core.NewTable(core.DefaultSettings(), nil), core.NewTable(core.DefaultSettings(), nil)
	for i := range 4 {
		apply(table, registration(i, 5, i%2))
	}
	apply(warm, &core.Restore{State: table.Load().Export(1), UntilNanos: 10, MaxAgeNanos: 1}, registration(2, 5, 0))
	if got, want := new(Cache).Of(warm.Load()).Sum, new(Cache).Of(table.Load()).Sum; got != want || want.Routes == 0 {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// TestSwapped: what is at one broker and not at another is told from the other way round, and so is whose queues a topic's are.
func TestSwapped(t *testing.T) {
	tables := []*core.Table{}
	for _, perms := range [][4]int32{{6, 4, 4, 6}, {4, 6, 6, 4}, {6, 4, 6, 4}, {6, 6, 4, 4}} {
		table := core.NewTable(core.DefaultSettings(), nil)
		for i := range 2 {
			r := registration(i, 2, 0)
			r.Body.Topics[0].Perm, r.Body.Topics[1].Perm = perms[2*i], perms[2*i+1]
			apply(table, r)
		}
		tables = append(tables, table)
	}
	seen := map[uint64]bool{}
	for _, table := range tables {
		seen[new(Cache).Of(table.Load()).Sum.Routes] = true
	}
	if len(seen) != len(tables) {
		t.Errorf("%d digests of %d tables", len(seen), len(tables))
	}
}

// TestMappings: a static mapping that is missing, of another epoch or of another broker name is told from what the rest of the table has, and in the
// topics of that broker.
func TestMappings(t *testing.T) {
	table := func(topic, of string, epoch int64) *Table {
		table := core.NewTable(core.DefaultSettings(), nil)
		for i := range 2 {
			r := registration(i, 3, 0)
			if i == 0 && of != "" {
				r.Body.Mappings = []codec.TopicQueueMapping{{Key: topic, BrokerName: codec.NullString{S: of, Valid: true}, Epoch: epoch, TotalQueues: 2}}
			}
			apply(table, r)
		}
		return new(Cache).Of(table.Load())
	}
	base := table("topic-00001", "b000", 1)
	if again := table("topic-00001", "b000", 1); again.Sum != base.Sum {
		t.Errorf("the same: %+v and %+v", again.Sum, base.Sum)
	}
	if unknown, none := table("no such topic", "b000", 1), table("", "", 0); unknown.Sum != none.Sum {
		t.Errorf("a mapping of a topic that nobody is answered: %+v and %+v", unknown.Sum, none.Sum)
	}
	for name, other := range map[string]*Table{
		"none": table("", "", 0), "of another topic": table("topic-00002", "b000", 1), "of a later epoch": table("topic-00001", "b000", 2),
		"of another broker": table("topic-00001", "b001", 1), "of no broker": table("topic-00001", "gone", 1),
	} {
		if other.Sum.Routes == base.Sum.Routes {
			t.Errorf("%s: the same digest", name)
		}
		here, _ := base.List(peers.Topics, "b000")
		there, _ := other.List(peers.Topics, "b000")
		if d := Diff(here, there, 10); !slices.Contains(d.Other, "topic-00001") {
			t.Errorf("%s: topics of b000 differ in %+v", name, d)
		}
		d := Diff(base.Brokers, other.Brokers, 10)
		if want := name == "of no broker"; !slices.Contains(d.Other, "b000") || slices.Contains(d.OnlyThere, "gone") != want {
			t.Errorf("%s: brokers differ in %+v", name, d)
		}
	}
}

// TestPages: a list by pages is the whole list.
func TestPages(t *testing.T) {
	kv := map[string]map[string]string{"": {"k": "v"}, "NS": {}, "empty": {}}
	for i := range 300 {
		kv["NS"][fmt.Sprint(i)] = strings.Repeat("x", i*10)
	}
	table := core.NewTable(core.DefaultSettings(), kv)
	for i := range 40 {
		apply(table, registration(i, 3000/(i+1)+2, 0))
	}
	d := new(Cache).Of(table.Load())
	for _, q := range []peers.Query{{What: peers.Brokers}, {What: peers.Topics, Of: "b000"}, {What: peers.Namespaces}, {What: peers.Entries, Of: "NS"}, {What: peers.Clusters}, {What: peers.Entries, Of: "empty"}} {
		want, ok := d.List(q.What, q.Of)
		var got []peers.Entry
		pages := 0
		for more := true; more; pages++ {
			p := d.Page(q)
			if !p.Known || !ok || (p.More && len(p.Entries) == 0) {
				t.Fatalf("%+v: page %+v", q, p)
			}
			for _, e := range p.Entries {
				q.After, q.Behind = e.Name, true
			}
			got, more = append(got, p.Entries...), p.More
		}
		if !slices.Equal(got, want) {
			t.Errorf("%+v: %d entries in pages, %d in all", q, len(got), len(want))
		}
		if q.What == peers.Topics && (pages < 2 || len(got) != 3002) {
			t.Errorf("%d topics in %d pages", len(got), pages)
		}
	}
	for _, q := range []peers.Query{{What: peers.Topics, Of: "none"}, {What: peers.Entries, Of: "none"}, {What: 99}} {
		if p := d.Page(q); p.Known || len(p.Entries) > 0 {
			t.Errorf("%+v: %+v", q, p)
		}
	}
}

// TestKV: the digest of the KV configuration follows its entries, and is worked out anew only when they change.
func TestKV(t *testing.T) {
	table := core.NewTable(core.DefaultSettings(), map[string]map[string]string{"n": {"a": "bc"}})
	var c Cache
	first := c.Of(table.Load()).Sum
	apply(table, registration(1, 2, 0))
	if d := c.Of(table.Load()).Sum; d.KV != first.KV || d.Routes == first.Routes {
		t.Errorf("routes changed, KV didn't: %+v, %+v", first, d)
	}
	apply(table, &core.PutKV{Namespace: "n", Key: "ab", Value: codec.NullString{S: "c", Valid: true}}, &core.DeleteKV{Namespace: "n", Key: "a"})
	if d := c.Of(table.Load()).Sum; d.KV == first.KV {
		t.Error("KV changed")
	}
}

// TestDiff names what differs, and how much more there is.
func TestDiff(t *testing.T) {
	list := func(s string) (l []peers.Entry) {
		for _, f := range strings.Fields(s) {
			l = append(l, peers.Entry{Name: f[:1], Digest: uint64(f[1])})
		}
		return l
	}
	d := Diff(list("a1 b1 c1 e1 f1 h1"), list("b1 c2 d1 f2 g1"), 2)
	if fmt.Sprint(d) != "{[a e] [d g] [c f] 1}" {
		t.Errorf("%v", d)
	}
	if d := Diff(list("a1"), list("a1"), 2); !d.None() {
		t.Errorf("%v", d)
	}
}

func BenchmarkTable(b *testing.B) {
	table := core.NewTable(core.DefaultSettings(), nil)
	for i := range 300 {
		apply(table, registration(i, 10_000, 0))
	}
	s := table.Load()
	for b.Loop() {
		newTable(s, nil)
	}
}
