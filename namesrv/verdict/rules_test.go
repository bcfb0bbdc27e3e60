package verdict

import (
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/waymark-mq/waymark/codec"
	"github.com/waymark-mq/waymark/core"
)

// bench is one judge over one table, with brokers a, b, … that registered at its time 0.
type bench struct {
	t     *testing.T
	table *core.Table
	judge *Judge
	now   int64
	acts  Actions
	// hosts and sources say where the nth broker answers and registers from; nil: each from a host of its own.
	hosts, sources func(int) netip.Addr
}

var anyVersion = codec.DataVersion{Timestamp: 5, Counter: 5}

func newBench(t *testing.T, rules Rules, brokers int) *bench {
	b := &bench{t: t, table: core.NewTable(core.DefaultSettings(), nil), judge: NewJudge(rules), now: int64(time.Hour)}
	b.judge.SetPeers(2, 2)
	for i := range brokers {
		b.register(i)
	}
	return b
}

func nth(i int) Broker { return Broker{"c", fmt.Sprint("b", i), fmt.Sprint("b", i, ":1"), 0} }

// hostOf is the address of the nth host.
func hostOf(i int) netip.Addr { return netip.AddrFrom4([4]byte{10, 0, 0, byte(i)}) }

func (b *bench) host(i int) netip.Addr {
	if b.hosts != nil {
		return b.hosts(i)
	}
	return hostOf(i)
}

func (b *bench) source(i int) netip.Addr {
	if b.sources != nil {
		return b.sources(i)
	}
	return b.host(i)
}

func (b *bench) register(i int) {
	n := nth(i)
	topics := []codec.TopicConfig{{Name: "t", Perm: 6}, {Name: "u", Perm: 6}}
	var out core.Outcome
	b.table.Step(b.now, []core.Command{&core.RegisterBroker{
		Conn: 1, PeerAddr: netip.AddrPortFrom(b.source(i), 1).String(), ClusterName: n.ClusterName, BrokerName: n.BrokerName, BrokerAddr: n.BrokerAddr,
		Body: &codec.RegisterBody{DataVersion: anyVersion, Topics: topics},
	}}, &out)
	b.judge.Know(b.now, b.table.Load())
}

// pass lets the time go by, a tenth of a second at a time, with probes that come to what outcome says.
func (b *bench) pass(d time.Duration, outcome func(Broker) Outcome) {
	for end := b.now + int64(d); b.now < end; {
		b.now += int64(100 * time.Millisecond)
		probes := len(b.acts.Probe)
		b.judge.Due(b.now, 1000, &b.acts)
		for _, p := range b.acts.Probe[probes:] {
			b.judge.Probed(b.now, p.Broker, b.result(p.Broker, outcome(p.Broker)))
		}
	}
}

// result is what comes of a probe of that broker.
func (b *bench) result(of Broker, o Outcome) Result {
	i := 0
	fmt.Sscanf(of.BrokerName, "b%d", &i)
	return Result{Outcome: o, At: b.host(i)}
}

func (b *bench) hear(peer string, kind Kind, i int, age time.Duration) {
	b.judge.Heard(b.now, peer, &Word{Kind: kind, Broker: nth(i), Version: anyVersion, Sign: b.now - int64(age)})
}

func (b *bench) wantDeclared(want int, by string) {
	b.t.Helper()
	got := map[string]int{}
	for _, d := range b.acts.Declare {
		got[d.BrokerName]++
		if d.By != by {
			b.t.Errorf("%s is declared dead by %q, want %q", d.BrokerName, d.By, by)
		}
	}
	if len(got) != want {
		b.t.Errorf("declared dead: %v, want %d", got, want)
	}
}

func always(o Outcome) func(Broker) Outcome { return func(Broker) Outcome { return o } }

// Words that must not, and words that must, remove a broker whose last sign of life here is 20 s old.
func TestWordAlone(t *testing.T) {
	off := Rules{Failures: 3, Period: 40 * time.Second, RemoveAfter: 8 * time.Second, Removes: true}
	for _, c := range []struct {
		kind Kind
		age  time.Duration
		want int
	}{
		{Unregistered, 0, 1}, {Unregistered, 18 * time.Second, 1},
		{Unregistered, 20 * time.Second, 0}, // as old as the sign of life here, but for the way
		{Expired, 121 * time.Second, 0}, {Expired, 13 * time.Second, 1},
		{Closed, 0, 0}, {Closed, 13 * time.Second, 0}, // a connection's end alone proves nothing
		{Refused, 0, 0}, {Unanswered, 0, 0}, {Suspect, 0, 0}, {Alive, 0, 0},
	} {
		b := newBench(t, off, 1)
		b.now += int64(20 * time.Second)
		b.hear("ns2", c.kind, 0, c.age)
		b.pass(time.Second, always(Silent))
		t.Run(fmt.Sprint(c.kind, c.age), func(t *testing.T) {
			b.t = t
			b.wantDeclared(c.want, "ns2")
		})
	}
	b := newBench(t, off, 1)
	b.now += int64(60 * time.Second) // two registrations missed, one of which the peer got
	b.hear("ns2", Closed, 0, 10*time.Second)
	b.pass(time.Second, always(Silent))
	b.wantDeclared(1, "ns2")
}

// Words about another registration, name, or no broker at all.
func TestWordOfSomethingElse(t *testing.T) {
	b := newBench(t, probing, 1)
	b.now += int64(20 * time.Second)
	for _, change := range []func(*Word){
		func(w *Word) { w.Version.Counter-- },
		func(w *Word) { w.Version.Timestamp-- },
		func(w *Word) { w.Version.StateVersion-- },
		func(w *Word) { w.BrokerName = "other" },
		func(w *Word) { w.ClusterName = "other" },
		func(w *Word) { w.BrokerAddr = "other:1" },
	} {
		w := Word{Kind: Unregistered, Broker: nth(0), Version: anyVersion, Sign: b.now}
		change(&w)
		b.judge.Heard(b.now, "ns2", &w)
	}
	b.pass(time.Second, always(Answered))
	b.wantDeclared(0, "")
	if s, _ := b.judge.State(nth(0).key()); len(s.Accusers) > 0 {
		t.Errorf("accused by %v", s.Accusers)
	}
}

// A suspicion about a registration that has been followed by another is none here, and who knows that the broker lives says so.
func TestSuspicionOfAnEarlierRegistration(t *testing.T) {
	b := newBench(t, probing, 1)
	w := Word{Kind: Suspect, Broker: nth(0), Version: anyVersion, Sign: b.now - int64(20*time.Second)}
	w.Version.Counter--
	b.judge.Heard(b.now, "ns2", &w)
	b.judge.Due(b.now, 0, &b.acts)
	if tell := b.acts.Tell; len(tell) != 1 || tell[0].Kind != Alive || tell[0].Sign != b.now || tell[0].Version != anyVersion {
		t.Errorf("told %+v", tell)
	}
	if s, _ := b.judge.State(nth(0).key()); len(s.Accusers) > 0 {
		t.Errorf("accused by %v", s.Accusers)
	}
}

// A word from the future is of now.
func TestWordFromTheFuture(t *testing.T) {
	b := newBench(t, probing, 1)
	b.pass(2*time.Second, always(Answered))
	b.hear("ns2", Alive, 0, -time.Hour)
	b.pass(30*time.Second, always(Silent))
	b.wantDeclared(1, "")
}

// If most brokers stop to answer at once it is this server that is cut off, unless a peer has seen the same; one or two may well die together.
func TestIsolatedServerRemovesNobody(t *testing.T) {
	for _, c := range []struct {
		name             string
		brokers, failing int
		accused          int // of the failing ones, by a peer
		alive            int // peers
		want             int
	}{
		{"one of one", 1, 1, 0, 2, 1},
		{"two of two", 2, 2, 0, 2, 2},
		{"three of six", 6, 3, 0, 2, 3},
		{"four of six", 6, 4, 0, 2, 0},
		{"four of six, a peer sees one of them", 6, 4, 1, 2, 1},
		{"one of six, but all peers are gone", 6, 1, 0, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, probing, c.brokers)
			b.judge.SetPeers(2, c.alive)
			b.pass(3*time.Second, always(Answered))
			fails := func(p Broker) Outcome {
				for i := range c.failing {
					if nth(i) == p {
						return Silent
					}
				}
				return Answered
			}
			for range 15 {
				for i := range c.accused {
					b.hear("ns2", Suspect, i, 10*time.Second)
				}
				b.pass(time.Second, fails)
			}
			b.wantDeclared(c.want, "")
		})
	}
}

// A peer that has seen a broker live puts its removal off, again and again; it doesn't take it off the suspects.
func TestVouchedBrokerStays(t *testing.T) {
	b := newBench(t, probing, 1)
	b.pass(2*time.Second, always(Answered))
	for range 30 {
		b.pass(2*time.Second, always(Silent))
		b.hear("ns2", Alive, 0, time.Second)
	}
	b.wantDeclared(0, "")
	if s, _ := b.judge.State(nth(0).key()); !s.Suspect || s.Vouched == 0 {
		t.Errorf("%+v", s)
	}
	asked := 0
	for _, w := range b.acts.Tell {
		if w.Kind == Suspect {
			asked++
		}
	}
	if asked < 20 {
		t.Errorf("the peers were asked %d times in a minute", asked)
	}
	b.pass(10*time.Second, always(Silent))
	b.wantDeclared(1, "")
}

// A server that was cut off asks again before it believes what probes came to meanwhile.
func TestIsolationHasEnded(t *testing.T) {
	for name, brokers := range map[string]int{"by its peers": 1, "by its brokers": leastIsolated} {
		b := newBench(t, probing, brokers)
		b.pass(2*time.Second, always(Answered))
		if brokers < leastIsolated {
			b.judge.SetPeers(2, 0)
		}
		b.pass(30*time.Second, always(Silent))
		b.judge.SetPeers(2, 1)
		healed := func(n Broker) Outcome { // the first is the last that answers again
			if n == nth(0) {
				return Silent
			}
			return Answered
		}
		b.pass(2*time.Second, healed)
		if len(b.acts.Declare) > 0 {
			t.Errorf("%s: declared dead %+v", name, b.acts.Declare)
		}
		b.pass(8*time.Second, healed) // it is dead after all
		b.wantDeclared(1, "")
	}
}

// What couldn't be tried counts for nothing, and a broker never reached stays.
func TestImpossibleProbesProveNothing(t *testing.T) {
	for name, first := range map[string]Outcome{"once reached": Answered, "never reached": Impossible} {
		b := newBench(t, probing, 1)
		b.pass(2*time.Second, always(first))
		b.pass(time.Minute, always(Impossible))
		if len(b.acts.Declare) > 0 || b.judge.Suspects() > 0 {
			t.Errorf("%s: %+v, %d suspects", name, b.acts.Declare, b.judge.Suspects())
		}
	}
	b := newBench(t, probing, 1)
	b.pass(time.Minute, always(Rejected))
	if len(b.acts.Declare) > 0 || b.judge.Suspects() > 0 {
		t.Errorf("never reached and refused: %+v, %d suspects", b.acts.Declare, b.judge.Suspects())
	}
}

// A broker that may not be probed any more isn't suspect for what was seen before, and stays.
func TestForbiddenBrokerStays(t *testing.T) {
	b := newBench(t, probing, 1)
	b.pass(2*time.Second, always(Answered))
	b.pass(4*time.Second, always(Silent))
	if b.judge.Suspects() != 1 {
		t.Fatal("not suspect")
	}
	b.pass(time.Minute, always(Forbidden))
	b.wantDeclared(0, "")
	if s, _ := b.judge.State(nth(0).key()); s.Suspect || !s.Forbidden {
		t.Errorf("%+v", s)
	}
	b.pass(2*time.Second, always(Answered))
	if s, _ := b.judge.State(nth(0).key()); s.Forbidden || !s.Answers {
		t.Errorf("%+v", s)
	}
}

// An address that another has replaced is nobody's any more: it isn't probed, though its life lasts until its timeout.
func TestReplacedAddressIsNotProbed(t *testing.T) {
	b := newBench(t, probing, 1)
	b.pass(2*time.Second, always(Answered))
	var out core.Outcome
	register := func(addr string) {
		b.table.Step(b.now, []core.Command{&core.RegisterBroker{
			Conn: 2, ClusterName: "c", BrokerName: "b0", BrokerAddr: addr, Body: &codec.RegisterBody{DataVersion: anyVersion, Topics: []codec.TopicConfig{{Name: "t", Perm: 6}}},
		}}, &out)
		b.judge.Know(b.now, b.table.Load())
	}
	for i := range 20 { // a container that comes back with another address each time
		register(fmt.Sprint("b0:", 100+i))
	}
	probed := map[string]bool{}
	for _, p := range b.begin(3 * time.Second) {
		probed[p.BrokerAddr] = true
	}
	if len(probed) != 1 || !probed["b0:119"] {
		t.Errorf("probed %v", probed)
	}
	if _, known := b.judge.State(nth(0).key()); known {
		t.Error("the former address is judged")
	}
}

// Brokers that are slow to answer keep nobody else from being probed.
func TestSlowBrokersDontStarveOthers(t *testing.T) {
	b := newBench(t, probing, 50)
	probed := map[string]int{}
	for range 600 {
		b.now += int64(100 * time.Millisecond)
		b.acts = Actions{}
		b.judge.Due(b.now, 1, &b.acts)
		for _, p := range b.acts.Probe {
			probed[p.BrokerName]++
			b.judge.Probed(b.now, p.Broker, Result{Outcome: Silent})
		}
	}
	for i := range 50 {
		if n := probed[nth(i).BrokerName]; n < 6 {
			t.Errorf("%s was probed %d times", nth(i).BrokerName, n)
		}
	}
}

// A pause of this process is nobody's silence.
func TestPauseProvesNothing(t *testing.T) {
	b := newBench(t, probing, 1)
	b.pass(2*time.Second, always(Answered))
	b.pass(4*time.Second, always(Silent))
	if b.judge.Suspects() != 1 {
		t.Fatal("not suspect")
	}
	b.now += int64(20 * time.Second)
	b.judge.Froze(b.now, int64(20*time.Second))
	if b.judge.Suspects() != 0 {
		t.Error("still suspect")
	}
	b.pass(time.Second, always(Silent))
	b.wantDeclared(0, "")
}

// begin lets a second go by and returns the brokers whose probes have begun; nothing comes of them yet.
func (b *bench) begin(d time.Duration) (probes []Target) {
	for end := b.now + int64(d); b.now < end; {
		b.now += int64(100 * time.Millisecond)
		var a Actions
		b.judge.Due(b.now, 1000, &a)
		probes = append(probes, a.Probe...)
	}
	return probes
}

// What a probe comes to that was under way when this process stood still proves nothing, but for an answer.
func TestProbeUnderWayInAPause(t *testing.T) {
	for _, o := range []Outcome{Silent, Rejected, Answered} {
		b := newBench(t, probing, 1)
		b.pass(2*time.Second, always(Answered))
		if got := b.begin(2 * time.Second); len(got) != 1 {
			t.Fatalf("%d probes begun", len(got))
		}
		b.now += int64(20 * time.Second)
		b.judge.Froze(b.now, int64(20*time.Second))
		b.judge.Probed(b.now, nth(0), b.result(nth(0), o))
		if s, _ := b.judge.State(nth(0).key()); s.Failures != 0 || (o == Answered) != (s.Answered == b.now) {
			t.Errorf("%d: %+v", o, s)
		}
		if got := b.begin(2 * time.Second); len(got) != 1 {
			t.Errorf("%d: %d probes afterwards", o, len(got))
		}
		b.judge.Probed(b.now, nth(0), b.result(nth(0), Silent)) // begun since
		if s, _ := b.judge.State(nth(0).key()); s.Failures != 1 {
			t.Errorf("%d: a failure since counts: %+v", o, s)
		}
	}
}

// A broker that was lost before a pause is looked for after it, whatever the probe under way comes to.
func TestLostInAPause(t *testing.T) {
	b := newBench(t, probing, 0)
	n := nth(0)
	b.judge.Left(b.now, &core.Event{
		Kind: core.EventClosed, ClusterName: n.ClusterName, BrokerName: n.BrokerName, BrokerAddr: n.BrokerAddr, Sign: b.now, Version: anyVersion, ByPeer: true,
	})
	if got := b.begin(time.Second); len(got) != 1 {
		t.Fatalf("%d probes", len(got))
	}
	b.now += int64(5 * time.Second)
	b.judge.Froze(b.now, int64(5*time.Second))
	b.judge.Probed(b.now, n, Result{Outcome: Silent})
	if got := b.begin(time.Second); len(got) != 1 {
		t.Errorf("%d probes after the pause", len(got))
	}
	b.judge.Probed(b.now, n, Result{Outcome: Silent})
	if got := b.begin(time.Second); len(got) != 0 {
		t.Errorf("%d probes of one that is lost", len(got))
	}
}

// A broker whose connection has ended is looked for at the address that it registered from, also if the table was looked at in between.
func TestLostIsLookedForWhereItWas(t *testing.T) {
	for addr, want := range map[string]string{"10.1.2.3:40000": "10.1.2.3", "": "invalid IP"} {
		b := newBench(t, probing, 0)
		n := nth(0)
		b.judge.Left(b.now, &core.Event{
			Kind: core.EventClosed, ClusterName: n.ClusterName, BrokerName: n.BrokerName, BrokerAddr: n.BrokerAddr, Sign: b.now, Version: anyVersion, ByPeer: true,
			PeerAddr: "10.9.9.9:1", Origin: addr,
		})
		if got := b.begin(time.Second); len(got) != 1 || got[0].Origin.String() != want {
			t.Errorf("registered from %q: %+v", addr, got)
		}
	}
}

// After an answer a broker is asked again an interval later, not at once.
func TestAnswerEndsTheHurry(t *testing.T) {
	rules := probing
	rules.Interval = 10 * time.Second
	b := newBench(t, rules, 1)
	b.pass(11*time.Second, always(Answered))
	b.pass(15*time.Second, always(Silent))
	if b.judge.Suspects() != 1 {
		t.Fatal("not suspect")
	}
	b.pass(time.Second, always(Answered))
	if s, _ := b.judge.State(nth(0).key()); s.Suspect {
		t.Fatal("not probed every second while it is suspect")
	}
	if got := b.begin(7 * time.Second); len(got) != 0 {
		t.Errorf("probed %d times more", len(got))
	}
}

// Others' words aren't passed on, nor ends of this server's own making or of brokers that nobody knew.
func TestWhatPeersAreTold(t *testing.T) {
	b := newBench(t, probing, 0)
	for _, c := range []struct {
		event core.Event
		want  Kind
	}{
		{core.Event{Kind: core.EventUnregistered, Sign: 1}, Unregistered},
		{core.Event{Kind: core.EventUnregistered}, 0},
		{core.Event{Kind: core.EventExpired, Sign: 1}, Expired},
		{core.Event{Kind: core.EventClosed, Sign: 1, ByPeer: true}, Closed},
		{core.Event{Kind: core.EventClosed, Sign: 1}, 0},
		{core.Event{Kind: core.EventUnanswered, Sign: 1}, Unanswered},
		{core.Event{Kind: core.EventToldDead, Sign: 1}, 0},
		{core.Event{Kind: core.EventRegistered, Sign: 1}, 0},
	} {
		var a Actions
		b.judge.Left(b.now, &c.event)
		b.judge.Due(b.now, 0, &a)
		got := Kind(0)
		if len(a.Tell) > 0 {
			got = a.Tell[0].Kind
		}
		if got != c.want {
			t.Errorf("%+v: told %v, want %v", c.event, got, c.want)
		}
	}
}

// What is kept and told is bounded, whoever says what.
func TestWordsAreBounded(t *testing.T) {
	b := newBench(t, probing, 2*maxAsked)
	for i := range 100 {
		b.hear(fmt.Sprint("ns", i), Suspect, 0, time.Minute)
	}
	if s, _ := b.judge.State(nth(0).key()); len(s.Accusers) != maxAccusers {
		t.Errorf("%d accusers, want %d", len(s.Accusers), maxAccusers)
	}
	b.pass(2*time.Second, always(Answered))
	told := 0
	for range 100 {
		b.acts.Tell = nil
		b.pass(100*time.Millisecond, always(Silent))
		told = max(told, len(b.acts.Tell))
	}
	if told == 0 || told > maxAsked {
		t.Errorf("%d words at a time, want 1 to %d", told, maxAsked)
	}
}

func TestKindNames(t *testing.T) {
	for k := Unregistered; k <= Alive; k++ {
		if got, ok := ParseKind(k.String()); !ok || got != k {
			t.Errorf("%d: %q is %d, %v", k, k.String(), got, ok)
		}
	}
	for _, name := range []string{"", "Alive", "dead"} {
		if k, ok := ParseKind(name); ok {
			t.Errorf("%q is %v", name, k)
		}
	}
	if s := Kind(200).String(); s != "" {
		t.Errorf("200 is %q", s)
	}
}
