package verdict

import (
	"fmt"
	"testing"
	"time"

	"github.com/waymark-mq/waymark/core"
)

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
	// Its last sign may be a registration period old: it is asked at once, and what comes of that is told.
	silence := probing
	silence.Interval = 0
	b = newBench(t, silence, 1)
	b.pass(3*time.Second, always(Answered))
	b.acts = Actions{}
	b.now += int64(20 * time.Second)
	w.Sign = b.now - int64(21*time.Second)
	b.judge.Heard(b.now, "ns2", &w)
	b.pass(time.Second, always(Answered))
	if n := len(b.acts.Probe); n != 1 {
		t.Errorf("probed %d times", n)
	}
	if tell := b.acts.Tell; len(tell) == 0 || tell[len(tell)-1].Kind != Alive || tell[len(tell)-1].Sign < b.now-int64(time.Second) {
		t.Errorf("told %+v", tell)
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
	for k := Unregistered; int(k) < len(kindNames); k++ {
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

// A doubt speaks against nobody; who hears of it asks the broker at once, and tells what it knows and what comes of that.
func TestDoubt(t *testing.T) {
	b := newBench(t, probing, 1)
	b.pass(2*time.Second, always(Answered))
	b.acts = Actions{}
	failed := func() { // one probe
		for len(b.acts.Probe) == 0 {
			b.now += int64(100 * time.Millisecond)
			b.judge.Due(b.now, 1, &b.acts)
		}
		b.judge.Probed(b.now, nth(0), Result{Outcome: Silent})
		b.acts.Probe = nil
		b.judge.Due(b.now, 0, &b.acts)
	}
	failed()
	if tell := b.acts.Tell; len(tell) != 1 || tell[0].Kind != Doubt || len(b.acts.Turned) > 0 {
		t.Errorf("after the first failure told %+v, turned %v", tell, b.acts.Turned)
	}
	for range probing.Failures - 1 {
		failed()
	}
	if tell := b.acts.Tell; tell[len(tell)-1].Kind != Suspect {
		t.Errorf("the suspicion waits: told %+v", tell)
	}

	asked := probing
	asked.Interval = 0
	b = newBench(t, asked, 1)
	b.pass(3*time.Second, always(Answered))
	b.acts = Actions{}
	b.hear("ns2", Doubt, 0, 20*time.Second)
	if s, _ := b.judge.State(nth(0).key()); len(s.Accusers) > 0 {
		t.Errorf("accused by %v", s.Accusers)
	}
	b.pass(time.Second, always(Answered))
	if n := len(b.acts.Probe); n != 1 {
		t.Errorf("probed %d times", n)
	}
	if tell := b.acts.Tell; len(tell) == 0 || tell[len(tell)-1].Kind != Alive || tell[len(tell)-1].Sign < b.now-int64(time.Second) {
		t.Errorf("told %+v", tell)
	}
}
