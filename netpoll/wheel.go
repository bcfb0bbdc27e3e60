package netpoll

// A loop's deadlines: a wheel of lists with one entry for each connection. Traffic doesn't touch it: an entry that comes
// due is judged again by its owner and put back if it is alive. So deadlines that only move away cost nothing.

const wheelSlots = 128

type wheelEntry struct {
	conn       *Conn
	next, prev *wheelEntry // nil: not in the wheel
	dueNanos   int64
}

type wheel struct {
	slots     [wheelSlots]wheelEntry // list heads
	stepNanos int64
	position  int64 // steps passed, the last one handled included
}

func (w *wheel) init(stepNanos, nowNanos int64) {
	w.stepNanos = stepNanos
	w.position = nowNanos / stepNanos
	for i := range w.slots {
		w.slots[i].next, w.slots[i].prev = &w.slots[i], &w.slots[i]
	}
}

// set puts e at dueNanos or moves it there. A time beyond the wheel's turn comes up early and is put back.
func (w *wheel) set(e *wheelEntry, dueNanos int64) {
	w.remove(e)
	e.dueNanos = dueNanos
	step := dueNanos/w.stepNanos + 1
	step = min(max(step, w.position+1), w.position+wheelSlots-1)
	head := &w.slots[step%wheelSlots]
	e.prev, e.next = head.prev, head
	e.prev.next, head.prev = e, e
}

func (w *wheel) remove(e *wheelEntry) {
	if e.next == nil {
		return
	}
	e.prev.next, e.next.prev = e.next, e.prev
	e.next, e.prev = nil, nil
}

// each visits every entry, which must stay where it is.
func (w *wheel) each(visit func(*Conn)) {
	for i := range w.slots {
		for e := w.slots[i].next; e != &w.slots[i]; e = e.next {
			visit(e.conn)
		}
	}
}

// advance hands every entry whose slot has passed to due, which may set or remove any entry.
func (w *wheel) advance(nowNanos int64, due func(*Conn)) {
	now := nowNanos / w.stepNanos
	first := max(w.position+1, now-wheelSlots+1)
	for step := first; step <= now; step++ {
		w.position = step
		w.pass(&w.slots[step%wheelSlots], due)
	}
}

// pass empties one slot. Entries that due puts back never land in the same slot, because set looks at position.
func (w *wheel) pass(head *wheelEntry, due func(*Conn)) {
	for head.next != head {
		e := head.next
		w.remove(e)
		due(e.conn)
	}
}
