package verdict

import (
	"fmt"
	"testing"
	"time"

	"github.com/waymark-mq/waymark/codec"
	"github.com/waymark-mq/waymark/core"
)

// probing are the rules of a fleet that wants to know soon.
var probing = Rules{
	Interval: time.Second, Failures: 3, Removes: true, RemoveAfter: 8 * time.Second, OnWord: true, Period: 40 * time.Second,
}

// TestNoFalseRemoval runs fleets whose network and processes misbehave, of which all servers probe or one does; nobody dies, so nobody may go.
func TestNoFalseRemoval(t *testing.T) {
	for seed := range 1000 {
		f := newFleet(uint64(seed), 3, 3, probing)
		if seed%2 == 1 {
			f.probeOnFirst()
		}
		f.run(10 * time.Second) // every server knows every broker: one that doesn't can't speak for it
		f.loss = 0.05
		f.misbehave(60 * time.Second)
		if len(f.removed) > 0 {
			t.Fatalf("run %d: a broker that lives was removed: %+v", seed, f.removed)
		}
		f.cut = map[[2]int]way{}
		f.run(100 * time.Second)
		for s := range f.servers {
			for b := range f.brokers {
				if !f.has(s, b) {
					t.Fatalf("run %d: server %d doesn't have broker %d in the end", seed, s, b)
				}
			}
		}
	}
}

// misbehave cuts one server off from one broker, and has brokers and servers stand still for 5 s now and then, and brokers register changes.
func (f *fleet) misbehave(d time.Duration) {
	pair := [2]int{f.rand.IntN(len(f.servers)), f.rand.IntN(len(f.brokers))}
	f.cut[pair] = dropping + way(f.rand.IntN(2))
	for end := f.now + int64(d); f.now < end; {
		f.run(time.Duration(f.rand.Int64N(int64(8 * time.Second))))
		f.brokers[f.rand.IntN(len(f.brokers))].change(f.now)
		until := f.now + int64(5*time.Second)
		if f.rand.IntN(2) == 0 {
			f.brokers[f.rand.IntN(len(f.brokers))].pausedUntil = until
		} else {
			f.servers[f.rand.IntN(len(f.servers))].pausedUntil = until
		}
		f.run(6 * time.Second)
	}
}

// TestFleetAgrees: brokers die, come back and lose connections, servers lose sight of one another and of brokers, words come twice and out of
// order. Nobody's word removes a broker that lives, and once all is well again every server has the same.
func TestFleetAgrees(t *testing.T) {
	for seed := range 200 {
		f := newFleet(uint64(seed), 3, 4, probing)
		f.run(10 * time.Second)
		f.loss, f.twice = 0.05, 0.3
		for range 6 {
			f.mishap()
			f.run(time.Duration(f.rand.Int64N(int64(10 * time.Second))))
		}
		for _, r := range f.removed {
			if r.livedAt && r.kind == core.EventToldDead { // of what probes remove see TestNoFalseRemoval: here everything goes wrong at once
				t.Fatalf("run %d: a broker that lives was removed by another's word: %+v", seed, r)
			}
		}
		f.heal()
		f.run(140 * time.Second) // whoever was lost by one server only is back, or gone everywhere
		for s := range f.servers {
			for b, broker := range f.brokers {
				if f.has(s, b) != (broker.dead == open) {
					t.Fatalf("run %d: server %d has broker %d: %v, though it is dead: %v", seed, s, b, f.has(s, b), broker.dead)
				}
			}
		}
	}
}

// probeOnFirst has only the first server probe; the others do at its word.
func (f *fleet) probeOnFirst() {
	others := probing
	others.Interval, others.RemoveAfter = 0, 40*time.Second
	for _, s := range f.servers[1:] {
		s.judge = NewJudge(others)
		s.judge.SetPeers(len(f.servers)-1, len(f.servers)-1)
	}
}

// One server that probes is enough: the others probe at its word, and a broker that has vanished goes there soon after it.
func TestOneServerProbes(t *testing.T) {
	for seed := range 100 {
		f := newFleet(uint64(seed), 3, 3, probing)
		f.probeOnFirst()
		f.run(time.Duration(40+f.rand.Int64N(30)) * time.Second)
		f.brokers[0].dead = dropping
		died := f.now
		f.run(20 * time.Second)
		if len(f.removed) != 3 {
			t.Fatalf("run %d: %d of 3 servers have removed it: %+v", seed, len(f.removed), f.removed)
		}
		if last := time.Duration(f.removed[2].at - died); last > 12*time.Second {
			t.Errorf("run %d: gone everywhere after %v", seed, last)
		}
	}
}

// mishap has one thing go wrong, or be well again.
func (f *fleet) mishap() {
	server, other, broker := f.rand.IntN(len(f.servers)), f.rand.IntN(len(f.servers)), f.rand.IntN(len(f.brokers))
	b := f.brokers[broker]
	switch f.rand.IntN(7) {
	case 0:
		b.dead = dropping + way(f.rand.IntN(2))
	case 1:
		f.revive(b)
	case 2: // a connection ends
		f.step(server, &core.EndConnection{Conn: connOf(broker), ByPeer: true})
	case 3:
		clear(f.cut) // of two that are cut off at once nobody could tell
		clear(f.parted)
		f.cut[[2]int{server, broker}] = way(f.rand.IntN(3))
	case 4:
		clear(f.cut)
		clear(f.parted)
		f.parted[[2]int{min(server, other), max(server, other)}] = f.rand.IntN(2) == 0
	case 5:
		b.pausedUntil = f.now + int64(5*time.Second)
	case 6:
		f.servers[server].pausedUntil = f.now + int64(5*time.Second)
	}
}

// revive starts a dead broker again, which registers a new version at once.
func (f *fleet) revive(b *testBroker) {
	if b.dead == open {
		return
	}
	b.dead, b.born = open, f.now
	b.change(f.now)
}

// change has a broker register a new version everywhere.
func (b *testBroker) change(now int64) {
	b.version.Counter++
	for i := range b.beats {
		b.beats[i] = now
	}
}

func (f *fleet) heal() {
	clear(f.cut)
	clear(f.parted)
	f.loss = 0
}

// TestDeaths measures how long a dead broker stays in anybody's routes.
func TestDeaths(t *testing.T) {
	for _, c := range []struct {
		name string
		how  way
		most time.Duration
	}{
		{"host gone", dropping, 10 * time.Second},
		{"connections refused", refusing, 3 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			var times []time.Duration
			for seed := range 200 {
				f := newFleet(uint64(seed), 3, 3, probing)
				f.run(time.Duration(40+f.rand.Int64N(30)) * time.Second)
				if len(f.removed) > 0 {
					t.Fatalf("removed before its death: %+v", f.removed)
				}
				f.brokers[0].dead = c.how
				died := f.now
				f.run(20 * time.Second)
				if len(f.removed) != 3 {
					t.Fatalf("run %d: %d of 3 servers have removed it: %+v", seed, len(f.removed), f.removed)
				}
				last := f.removed[2].at
				times = append(times, time.Duration(last-died))
				if last-died > int64(c.most) {
					t.Errorf("run %d: gone everywhere after %v: %+v", seed, time.Duration(last-died), f.removed)
				}
			}
			t.Logf("%d deaths, the last after %v", len(times), fmt.Sprint(times[:5]))
		})
	}
}

// A restored broker is nobody's to judge before it has registered: no probe, and peers' words find nobody.
func TestRestoredBrokersAreNotJudged(t *testing.T) {
	b := &testBroker{Broker: Broker{"c", "a", "a:1", 0}, version: codec.DataVersion{Counter: 1}}
	before, table, out := core.NewTable(core.DefaultSettings(), nil), core.NewTable(core.DefaultSettings(), nil), core.Outcome{}
	before.Step(0, []core.Command{b.registration()}, &out)
	table.Step(0, []core.Command{&core.Restore{State: before.Load().Export(0), UntilNanos: int64(time.Hour), MaxAgeNanos: 1}}, &out)
	j := NewJudge(probing)
	j.Know(1, table.Load())
	j.Heard(1, "P", &Word{Kind: Unregistered, Broker: b.Broker, Version: b.version, Sign: 1})
	for i, wantProbed := range []bool{false, true} {
		now := int64(i+1) * int64(time.Minute)
		j.Know(now, table.Load())
		var a Actions
		j.Due(now+int64(time.Second), 1, &a)
		if _, known := j.State(b.key()); known != wantProbed || len(a.Probe) > 0 != wantProbed || len(a.Declare) > 0 {
			t.Errorf("round %d: known %v, %+v", i, known, a)
		}
		table.Step(now, []core.Command{b.registration()}, &out)
	}
}
