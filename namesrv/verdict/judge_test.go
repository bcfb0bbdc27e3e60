package verdict

import (
	"fmt"
	"testing"
	"time"
)

// probing are the rules of a fleet that wants to know soon.
var probing = Rules{
	Interval: time.Second, Failures: 3, Removes: true, RemoveAfter: 8 * time.Second, OnWord: true, Period: 40 * time.Second,
}

// TestNoFalseRemoval runs fleets whose network and processes misbehave; nobody dies, so nobody may go.
func TestNoFalseRemoval(t *testing.T) {
	for seed := range 1000 {
		f := newFleet(uint64(seed), 3, 3, probing)
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

// misbehave cuts one server off from one broker, and has brokers and servers stand still for 5 s now and then.
func (f *fleet) misbehave(d time.Duration) {
	pair := [2]int{f.rand.IntN(len(f.servers)), f.rand.IntN(len(f.brokers))}
	f.cut[pair] = dropping + way(f.rand.IntN(2))
	for end := f.now + int64(d); f.now < end; {
		f.run(time.Duration(f.rand.Int64N(int64(8 * time.Second))))
		until := f.now + int64(5*time.Second)
		if f.rand.IntN(2) == 0 {
			f.brokers[f.rand.IntN(len(f.brokers))].pausedUntil = until
		} else {
			f.servers[f.rand.IntN(len(f.servers))].pausedUntil = until
		}
		f.run(6 * time.Second)
	}
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
