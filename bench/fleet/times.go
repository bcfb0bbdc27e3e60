package fleet

import (
	"math"
	"math/rand/v2"

	"github.com/waymark-mq/waymark/bench/phase"
	"github.com/waymark-mq/waymark/profiles"
)

// action is something that a broker does.
type action int

const (
	dies action = iota // of actions due at the same time the first comes first
	comesBack
	registers
	beats
	actions
)

const never = math.MaxInt64

// times say when a broker does what.
type times struct {
	fleet  *profiles.Fleet
	phases phase.Phases
	offset int64 // of this broker's registrations in a period
	pause  func() int64
	next   [actions]int64
}

// times of the broker with that index.
func (f *Fleet) times(index int, rng *rand.Rand, p phase.Phases) *times {
	fleet, brokers := &f.load.Fleet, int64(len(f.brokers))
	t := &times{fleet: fleet, phases: p, next: [actions]int64{never, never, never, never}}
	spread := func(d int64) int64 { return d * int64(index) / brokers }
	t.pause = func() int64 { return int64(rng.Float64() * 2 * float64(fleet.RegisterAfter)) }
	switch {
	case f.load.Cold:
		t.offset = spread(int64(fleet.FillWithin))
		t.next[registers] = p.Measured + t.offset
	case fleet.RegisterAfter > 0:
		t.next[registers] = p.Warmup + t.pause()
	case fleet.Register > 0:
		if !fleet.AtOnce {
			t.offset = spread(int64(fleet.Register))
		}
		t.next[registers] = t.notQuiet(p.Warmup, p.Warmup+t.offset)
	}
	if fleet.Heartbeat > 0 {
		t.next[beats] = p.Warmup + spread(int64(fleet.Heartbeat))
	}
	if index < fleet.Death.Brokers {
		t.next[dies] = p.Measured + int64(fleet.Death.First)
	}
	return t
}

// notQuiet moves a registration that follows one at the time last out of the quiet phase, to the first of the measured phase.
func (t *times) notQuiet(last, next int64) int64 {
	if last < t.phases.Measured && next >= t.phases.Quiet && t.phases.Quiet < t.phases.Measured {
		return t.phases.Measured + t.offset
	}
	return next
}

// each calls do for one action after another until the end. do returns the time at which it was through.
func (t *times) each(do func(what action, due int64) (through int64)) {
	for {
		what := dies
		for a := range actions {
			if t.next[a] < t.next[what] {
				what = a
			}
		}
		due := t.next[what]
		if due >= t.phases.End {
			return
		}
		t.follow(what, due, do(what, due))
	}
}

// follow sets when the next action of the kind comes.
func (t *times) follow(what action, due, through int64) {
	switch what {
	case beats:
		t.next[beats] = due + int64(t.fleet.Heartbeat)
	case registers:
		t.next[registers] = t.afterRegistration(due, through)
	case dies:
		// The dead neither beat nor register.
		t.next = [actions]int64{never, never, never, never}
		if t.fleet.Death.Back > 0 {
			t.next[comesBack] = due + int64(t.fleet.Death.Back)
		}
	case comesBack:
		died := due - int64(t.fleet.Death.Back)
		t.next[comesBack] = never
		if t.fleet.Death.Every > 0 {
			t.next[dies] = died + int64(t.fleet.Death.Every)
		}
		if t.fleet.Heartbeat > 0 {
			t.next[beats] = through + int64(t.fleet.Heartbeat)
		}
		t.next[registers] = t.afterRegistration(due, through)
	}
}

func (t *times) afterRegistration(due, through int64) int64 {
	switch {
	case t.fleet.RegisterAfter > 0:
		return t.notQuiet(due, through+t.pause())
	case t.fleet.Register > 0:
		return t.notQuiet(due, due+int64(t.fleet.Register))
	}
	return never
}
