package wheel

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// model is the wheel as a list sorted at each Advance.
type model struct {
	armed map[int]arming
	seq   int
}

type arming struct {
	due int64
	seq int
}

func (m *model) arm(id int, due int64) {
	m.seq++
	m.armed[id] = arming{due, m.seq}
}

func (m *model) advance(now int64, due func(id int)) {
	type called struct {
		id int
		arming
	}
	var batch []called
	for id, a := range m.armed {
		if a.due < now {
			batch = append(batch, called{id, a})
		}
	}
	slices.SortFunc(batch, func(a, b called) int {
		return cmp.Or(cmp.Compare(a.due, b.due), cmp.Compare(a.seq, b.seq))
	})
	for _, c := range batch {
		if m.armed[c.id] == c.arming {
			delete(m.armed, c.id)
			due(c.id)
		}
	}
}

// TestAgainstSortedList arms, moves and disarms at random, from outside and from
// within calls, and compares each call of Advance with the model's.
func TestAgainstSortedList(t *testing.T) {
	const timers = 12
	rapid.Check(t, func(t *rapid.T) {
		tick := rapid.SampledFrom([]int64{1, 7, 100}).Draw(t, "tick")
		now := rapid.SampledFrom([]int64{0, -50, 12345, math.MinInt64 / 4}).Draw(t, "start")
		id := rapid.IntRange(0, timers-1)
		// Nearby, some ticks, some turns of the ring, and far beyond.
		delay := rapid.OneOf(rapid.Int64Range(-3, 3), rapid.Int64Range(-5*tick, 50*tick),
			rapid.Int64Range(0, 4*slotCount*tick), rapid.Int64Range(0, 1<<50))
		w := New[int](tick, now)
		m := &model{armed: map[int]arming{}}
		all := make([]Timer[int], timers)
		for i := range all {
			all[i].Value = i
		}

		// What a call does is drawn when timers are armed, so that the wheel and
		// the model do the same in the order each calls.
		type reaction struct {
			arm, disarm int // ids; -1: none
			delay       int64
		}
		reactions := make([]reaction, timers)
		drawReaction := func(t *rapid.T) reaction {
			r := reaction{arm: -1, disarm: -1}
			switch rapid.IntRange(0, 3).Draw(t, "reaction") {
			case 1:
				r.arm, r.delay = id.Draw(t, "armInCall"), delay.Draw(t, "delayInCall")
			case 2:
				r.disarm = id.Draw(t, "disarmInCall")
			}
			return r
		}
		t.Repeat(map[string]func(*rapid.T){
			"arm": func(t *rapid.T) {
				i, due := id.Draw(t, "id"), now+delay.Draw(t, "delay")
				reactions[i] = drawReaction(t)
				w.Arm(&all[i], due)
				m.arm(i, due)
			},
			"disarm": func(t *rapid.T) {
				i := id.Draw(t, "id")
				w.Disarm(&all[i])
				delete(m.armed, i)
			},
			"advance": func(t *rapid.T) {
				now += delay.Draw(t, "by")
				var got, want []int
				w.Advance(now, func(timer *Timer[int]) {
					got = append(got, timer.Value)
					if timer.Armed() {
						t.Fatalf("timer %d is armed within its call", timer.Value)
					}
					r := reactions[timer.Value]
					if r.arm >= 0 {
						w.Arm(&all[r.arm], now+r.delay)
					}
					if r.disarm >= 0 {
						w.Disarm(&all[r.disarm])
					}
				})
				m.advance(now, func(i int) {
					want = append(want, i)
					r := reactions[i]
					if r.arm >= 0 {
						m.arm(r.arm, now+r.delay)
					}
					delete(m.armed, r.disarm)
				})
				if !slices.Equal(got, want) {
					t.Fatalf("at %d called %v, want %v", now, got, want)
				}
			},
			"": func(t *rapid.T) {
				if w.Len() != len(m.armed) {
					t.Fatalf("Len %d, want %d", w.Len(), len(m.armed))
				}
				for i := range all {
					a, armed := m.armed[i]
					if all[i].Armed() != armed || armed && all[i].Due() != a.due {
						t.Fatalf("timer %d: armed %v for %d, want %v for %d", i, all[i].Armed(), all[i].Due(), armed, a.due)
					}
				}
			},
		})
	})
}

func TestAdvance(t *testing.T) {
	const far = math.MaxInt64
	tests := []struct {
		name     string
		tick     int64
		start    int64
		due      []int64 // armed in this order
		advances []int64
		want     string // indexes called, by advance
	}{
		{"strictly before now", 10, 0, []int64{5}, []int64{5, 6}, "[[] [0]]"},
		{"on a tick's edge", 10, 0, []int64{10, 9}, []int64{10, 11}, "[[1] [0]]"},
		{"by due, then arming", 10, 0, []int64{7, 3, 7, 3}, []int64{9}, "[[1 3 0 2]]"},
		{"a turn later, same slot", 10, 0, []int64{5, 5 + 10*slotCount}, []int64{9, 10 * slotCount, 10*slotCount + 6}, "[[0] [] [1]]"},
		{"many turns in one jump", 10, 0, []int64{90000, 10, 70000}, []int64{1e12}, "[[1 2 0]]"},
		{"to the end of time", 1, math.MinInt64, []int64{far - 1, 0, far}, []int64{far}, "[[1 0]]"},
		{"armed in the past", 10, 1000, []int64{3}, []int64{1000}, "[[0]]"},
		{"before time 0", 10, -25, []int64{-15, -20}, []int64{-20, -15, -14}, "[[] [1] [0]]"},
		{"time goes back", 10, 0, []int64{500, 1500}, []int64{400, 100, 600, 1501}, "[[] [] [0] [1]]"},
		{"armed in the past, then time goes back", 10, 1000, []int64{3}, []int64{2, 4}, "[[] [0]]"},
		{"tick below 1", 0, 0, []int64{5}, []int64{6}, "[[0]]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := New[int](tt.tick, tt.start)
			for i, due := range tt.due {
				w.Arm(&Timer[int]{Value: i}, due)
			}
			got := make([][]int, len(tt.advances))
			for i, now := range tt.advances {
				w.Advance(now, func(timer *Timer[int]) { got[i] = append(got[i], timer.Value) })
			}
			if s := fmt.Sprint(got); s != tt.want {
				t.Errorf("called %s, want %s", s, tt.want)
			}
		})
	}
}

// TestEverySlotIsVisited: one timer in each slot, and a jump that covers them all.
func TestEverySlotIsVisited(t *testing.T) {
	for _, ticks := range []int64{slotCount - 1, slotCount, slotCount + 1, 10 * slotCount} {
		w := New[int](10, 70)
		for i := range int64(slotCount) {
			w.Arm(new(Timer[int]), 70+10*i)
		}
		called := 0
		w.Advance(70+10*ticks+1, func(*Timer[int]) { called++ })
		if called != slotCount || w.Len() != 0 {
			t.Errorf("%d ticks: %d timers called, %d left", ticks, called, w.Len())
		}
	}
}

// TestArmedInThePastWithinACall: such a timer waits for the next Advance.
func TestArmedInThePastWithinACall(t *testing.T) {
	w := New[struct{}](10, 0)
	calls := 0
	var timer Timer[struct{}]
	again := func(timer *Timer[struct{}]) {
		calls++
		w.Arm(timer, 5)
	}
	w.Arm(&timer, 5)
	for i := range 3 {
		w.Advance(100, again)
		if calls != i+1 {
			t.Fatalf("%d calls after Advance %d", calls, i+1)
		}
	}
}

// TestBatchKeepsNothing: the scratch keeps no timer reachable, and a big one goes.
func TestBatchKeepsNothing(t *testing.T) {
	for _, n := range []int{1, keptBatch * 2} {
		w := New[int](10, 0)
		for range n {
			w.Arm(new(Timer[int]), 5)
		}
		w.Advance(6, func(*Timer[int]) {})
		if cap(w.batch) > keptBatch {
			t.Errorf("%d timers: a batch of %d is kept", n, cap(w.batch))
		}
		for _, e := range w.batch[:cap(w.batch)] {
			if e.t != nil {
				t.Fatalf("%d timers: the batch keeps one", n)
			}
		}
	}
}

func TestSteadyStateDoesNotAllocate(t *testing.T) {
	w := New[int](10, 0)
	all := make([]Timer[int], 100)
	now := int64(0)
	for i := range all {
		w.Arm(&all[i], int64(i))
	}
	rearm := func(timer *Timer[int]) { w.Arm(timer, now+50) }
	if n := testing.AllocsPerRun(100, func() { now += 60; w.Advance(now, rearm) }); n != 0 {
		t.Errorf("%v allocations an Advance", n)
	}
}
