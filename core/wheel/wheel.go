// Package wheel is a hashed timing wheel that is told the time: it has no
// clock, no goroutine and no lock, so whatever uses it stays deterministic.
//
// A wheel is a ring of 1,024 slots, each one tick wide, and a timer hangs in
// the slot of its due time, in whichever turn of the ring that falls. Arm and
// Disarm cost the same however many timers there are; Advance looks at the
// slots whose time has come, so a timer is looked at once per turn (1,024
// ticks) until it is due. Ticks choose the cost, not the precision: a timer
// is due to the nanosecond.
//
// A wheel and its timers belong to one goroutine.
package wheel

import (
	"cmp"
	"slices"
)

const (
	slotCount = 1 << 10
	slotMask  = slotCount - 1

	// keptBatch is the longest batch (24 bytes an entry) kept for the next Advance.
	keptBatch = 4096
)

// Timer is an entry of a Wheel, made by its user (the zero Timer is not armed)
// and linked into the wheel itself: arming allocates nothing. It may be part of
// a larger struct but must not be copied or moved while armed.
type Timer[T any] struct {
	// Value leads from the timer back to what it is for.
	Value T

	due        int64
	seq        uint64 // of its arming: breaks ties of due
	next, prev *Timer[T]
	slot       int32
	state      state
}

type state uint8

const (
	idle    state = iota
	linked        // in slots[slot]
	pending       // taken out by an Advance that has not come to it yet
)

// Armed reports whether the timer is to be called. Within its own call it is not.
func (t *Timer[T]) Armed() bool { return t.state != idle }

// Due is the time the timer was last armed for.
func (t *Timer[T]) Due() int64 { return t.due }

// Wheel holds the armed timers. All times are nanoseconds of one monotonic clock
// of any origin.
type Wheel[T any] struct {
	tickNanos int64
	// cursor is the tick, counted from time 0, of the latest Advance: the
	// earliest that may have a timer in its slot.
	cursor int64
	slots  [slotCount]*Timer[T] // heads of lists without order
	n      int
	seq    uint64
	batch  []entry[T] // scratch of Advance
}

type entry[T any] struct {
	due int64
	seq uint64
	t   *Timer[T]
}

// New makes a wheel of tickNanos a slot (taken as 1 if smaller) that stands at now.
func New[T any](tickNanos, now int64) *Wheel[T] {
	w := &Wheel[T]{tickNanos: max(tickNanos, 1)}
	w.cursor = w.tickOf(now)
	return w
}

// Len is the number of armed timers.
func (w *Wheel[T]) Len() int { return w.n }

// Arm sets t to be called by the first Advance whose now is after due. A timer
// that is armed already is moved; due may lie in the past.
func (w *Wheel[T]) Arm(t *Timer[T], due int64) {
	w.Disarm(t)
	w.seq++
	t.due, t.seq = due, w.seq
	w.link(t)
	w.n++
}

// Disarm takes t out; a timer that is not armed stays as it is.
func (w *Wheel[T]) Disarm(t *Timer[T]) {
	switch t.state {
	case idle:
		return
	case linked:
		w.unlink(t)
	}
	t.state = idle
	w.n--
}

// Advance takes out every timer that is due strictly before now and calls due
// for each, in the order of due times and, within one, of arming.
//
// due may arm and disarm any timer: one that is disarmed or moved before its
// turn is not called, and one that is armed for a time before now is called by
// the next Advance, so that a timer in the past cannot hold this one forever.
// due must not call Advance.
//
// The cost is that of the ticks since the last Advance, 1,024 at most, of the
// timers in their slots and of sorting those that are due, however far now
// jumps. A now before an earlier one calls only what is due by it.
func (w *Wheel[T]) Advance(now int64, due func(*Timer[T])) {
	batch := w.collect(now)
	slices.SortFunc(batch, func(a, b entry[T]) int {
		return cmp.Or(cmp.Compare(a.due, b.due), cmp.Compare(a.seq, b.seq))
	})
	for _, e := range batch {
		if e.t.state == pending { // not disarmed or moved since
			e.t.state = idle
			w.n--
			due(e.t)
		}
	}
	clear(batch) // the scratch keeps no timer alive
	if cap(batch) <= keptBatch {
		w.batch = batch[:0]
	}
}

// collect moves the cursor to now and unlinks what is due.
func (w *Wheel[T]) collect(now int64) []entry[T] {
	batch := w.batch
	w.batch = nil
	from, to := w.cursor, max(w.cursor, w.tickOf(now))
	w.cursor = to
	// Both slots at the ends are looked at: time may stand amid a tick.
	last := min(uint64(to)-uint64(from), slotMask)
	for i := uint64(0); i <= last; i++ {
		for t := w.slots[(uint64(from)+i)&slotMask]; t != nil; {
			next := t.next
			if t.due < now {
				w.unlink(t)
				t.state = pending
				batch = append(batch, entry[T]{t.due, t.seq, t})
			}
			t = next
		}
	}
	return batch
}

func (w *Wheel[T]) link(t *Timer[T]) {
	slot := max(w.tickOf(t.due), w.cursor) & slotMask
	head := w.slots[slot]
	t.next, t.prev, t.slot, t.state = head, nil, int32(slot), linked
	if head != nil {
		head.prev = t
	}
	w.slots[slot] = t
}

// unlink takes t out of its slot's list; the caller gives it its next state.
func (w *Wheel[T]) unlink(t *Timer[T]) {
	if t.prev != nil {
		t.prev.next = t.next
	} else {
		w.slots[t.slot] = t.next
	}
	if t.next != nil {
		t.next.prev = t.prev
	}
	t.next, t.prev = nil, nil
}

// tickOf rounds towards time 0, so the tick there is two wide. All that matters
// is that a later time is never in an earlier tick.
func (w *Wheel[T]) tickOf(nanos int64) int64 { return nanos / w.tickNanos }
