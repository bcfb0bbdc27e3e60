package core

import "sync/atomic"

// expiryGuard holds back expiries that come in a mass: when more than a share of all brokers
// is silent at once while their connections are open, it is likelier that the way to them is
// broken than that they all died, and clients do better with yesterday's routes than with none.
// They are marked suspect and stay for a bounded time. Writer only.
//
// An episode begins with the first that are held and ends when none is suspect: each has shown
// life, lost its connection or its slot, or run out of time and expired. While it lasts, the
// suspects count with those that a scan finds silent.
type expiryGuard struct {
	suspects      []*LiveCell // some may have shown life or be gone since the last tick
	held, expired int         // in this episode
}

// suspicion marks a cell as suspect for as long as its last sign of life stays the same, so that
// whoever shows life loses the mark at once and a heartbeat writes nothing more than without it.
//
// Concurrency: stored by the writer, until before last; loaded by any goroutine.
type suspicion struct {
	until atomic.Int64 // when the broker expires after all
	last  atomic.Int64 // LiveCell.last when it was held; dead: it wasn't
}

// Suspect reports whether the broker is silent for longer than its timeout and held back by the
// expiry guard, and until when (monotonic nanoseconds). Any goroutine.
func (c *LiveCell) Suspect() (until int64, ok bool) {
	last := c.suspicion.last.Load()
	return c.suspicion.until.Load(), last != dead && last == c.last.Load()
}

func (c *LiveCell) suspect(last, until int64) {
	c.suspicion.until.Store(until)
	c.suspicion.last.Store(last)
}

func (c *LiveCell) trust() { c.suspicion.last.Store(dead) }

// reviewSuspects drops those from the list that are suspect no more or whose time is over. A
// tick does it before it looks who is silent.
func (t *Table) reviewSuspects(now int64) {
	off := t.settings.ExpiryGuardPercent == 0
	stay := t.guard.suspects[:0]
	for _, c := range t.guard.suspects {
		until, still := c.Suspect()
		switch {
		case !still || !t.guards(c):
			c.trust()
		case off:
			c.suspicion.until.Store(min(until, now-1))
		case until < now:
			continue // its timer knows
		default:
			stay = append(stay, c)
			continue
		}
		if last, alive := c.Last(); alive { // its timer is set for the end of its time
			due, _ := c.deadline(last)
			t.wheel.Arm(&c.timer, due)
		}
	}
	clear(t.guard.suspects[len(stay):])
	t.guard.suspects = stay
}

// guards reports whether the guard may hold the cell's broker: its connection is open, and it has
// a slot to lose.
func (t *Table) guards(c *LiveCell) bool {
	l, ok := t.live.Get(c.key)
	return ok && l.Cell == c && c.owner.Load() != 0 && t.slotOf(l) != nil
}

// holdBack returns those of the silent that are to expire now; the others are suspect from now on.
func (t *Table) holdBack(now int64, silent []silence) []silence {
	percent := t.settings.ExpiryGuardPercent
	if percent <= 0 || len(silent) == 0 {
		return silent
	}
	var fresh, others []silence
	for _, s := range silent {
		if _, over := s.cell.Suspect(); !over && t.guards(s.cell) {
			fresh = append(fresh, s)
		} else {
			others = append(others, s)
		}
	}
	all := t.brokers.slots()
	if int64(len(fresh)+len(t.guard.suspects))*100 <= percent*int64(all) {
		return silent
	}
	until := now + t.settings.ExpiryGuardMaxMillis*nanosPerMilli
	for _, s := range fresh {
		s.cell.suspect(s.last, until)
		t.wheel.Arm(&s.cell.timer, until)
		t.guard.suspects = append(t.guard.suspects, s.cell)
	}
	if len(fresh) > 0 {
		t.guard.held += len(fresh)
		t.effect(&Event{Kind: EventExpiryHeld, Brokers: len(fresh), AllBrokers: all})
	}
	return others
}

// endGuard ends the episode if none is suspect any more.
func (t *Table) endGuard() {
	if t.guard.held > 0 && len(t.guard.suspects) == 0 {
		t.effect(&Event{Kind: EventExpiryGuardEnded, Brokers: t.guard.held, Expired: t.guard.expired})
		t.guard = expiryGuard{}
	}
}
