package verdict

import (
	"fmt"
	"testing"
	"time"

	"github.com/waymark-mq/waymark/codec"
	"github.com/waymark-mq/waymark/core"
)

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
	b.makeSuspect()
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

// Brokers whose connections have ended are looked for in all the room that the others leave, and no more.
func TestRoomForLostBrokers(t *testing.T) {
	const brokers, lost, room = 30, 20, 40
	b := newBench(t, probing, brokers)
	for i := range lost {
		n := nth(brokers + i)
		b.judge.Left(b.now, &core.Event{
			Kind: core.EventClosed, ClusterName: n.ClusterName, BrokerName: n.BrokerName, BrokerAddr: n.BrokerAddr, Sign: b.now, Version: anyVersion, ByPeer: true,
		})
	}
	b.now += int64(probing.Interval) // all are due
	var a Actions
	b.judge.Due(b.now, room, &a)
	if len(a.Probe) != room {
		t.Errorf("%d probes begun, want %d", len(a.Probe), room)
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
