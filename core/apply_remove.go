package core

import (
	"cmp"
	"slices"
	"strings"
)

// unregister applies UNREGISTER_BROKER (104). The address counts, not the id or
// the cluster; the live entry goes if it is the named broker's.
func (t *Table) unregister(c *UnregisterBroker) {
	e := Event{
		Kind: EventUnregistered, ClusterName: c.ClusterName, BrokerName: c.BrokerName, BrokerAddr: c.BrokerAddr, BrokerID: c.BrokerID,
		Conn: c.By.Conn, PeerAddr: c.By.Addr,
	}
	key := liveKey(c.ClusterName, c.BrokerAddr)
	before := t.stateOf(c.BrokerName, key)
	l, live := t.live.Get(key)
	if live = live && l.BrokerName == c.BrokerName; live {
		e.BrokerID, e.Version = l.BrokerID, l.DataVersion
		if last, ok := l.Cell.Last(); ok {
			e.Sign = last
		}
		t.dropLive(key, l)
	}
	topics, removed := t.removeAddr(c.BrokerName, c.BrokerAddr)
	if live || removed {
		e.Topics, e.Gone, e.Edit = topics, t.takeGone(), t.edited(before, c.BrokerName, key)
		t.effect(&e)
	}
}

// endConnection unregisters every broker that the connection still owns; with a grace, in
// a while and only if there is no sign of life till then. One that has moved to another
// connection stays. With Keep all stay; only their ownership ends.
func (t *Table) endConnection(now int64, c *EndConnection) {
	var cells []*LiveCell
	for cell := range t.owned[c.Conn] {
		cells = append(cells, cell)
	}
	cells = append(cells, c.Touched...)
	slices.SortFunc(cells, func(a, b *LiveCell) int { return strings.Compare(a.key, b.key) })
	grace := t.settings.BrokerCloseGraceMillis * nanosPerMilli
	for _, cell := range slices.Compact(cells) {
		switch {
		case c.Keep:
			cell.owner.CompareAndSwap(uint64(c.Conn), 0)
		case grace > 0 && cell.orphan(c.Conn, now+grace):
			due, _ := cell.deadline(cell.orphanedLast)
			t.wheel.Arm(&cell.timer, due)
		case grace <= 0:
			if last, killed := cell.killOwnedBy(c.Conn); killed {
				t.bury(cell, ending{why: EventClosed, owner: Peer{c.Conn, c.PeerAddr}, sign: last, byPeer: c.ByPeer})
			}
		}
		if cell.registeredBy == c.Conn {
			t.disown(cell)
		}
	}
	delete(t.owned, c.Conn)
}

// declareDead removes a broker on evidence from outside, unless the table knows better.
func (t *Table) declareDead(c *DeclareDead) (removed bool) {
	l, ok := t.live.Get(liveKey(c.ClusterName, c.BrokerAddr))
	if !ok || l.BrokerName != c.BrokerName || l.DataVersion.After(c.Version) {
		return false
	}
	why := EventUnanswered
	if c.By != "" {
		why = EventToldDead
		if _, held := l.Cell.Suspect(); held {
			return false
		}
	}
	owner := l.Cell.Owner()
	last, killed := l.Cell.killSince(c.Since)
	if killed {
		t.bury(l.Cell, ending{why: why, owner: Peer{Conn: owner}, sign: last, word: c.By})
	}
	return killed
}

// tick removes the brokers that were silent for longer than their timeout, unless the expiry
// guard holds them back. Their cells decide, since heartbeats don't touch the wheel.
func (t *Table) tick(now int64, c *Tick) {
	if c.LatenessNanos > 0 {
		for _, l := range t.live.All() {
			l.Cell.shift(c.LatenessNanos, now)
		}
		t.updateRestored(func(r *RestoreStatus) { r.UntilNanos += c.LatenessNanos })
		t.effect(&Event{Kind: EventDeadlinesShifted, LatenessNanos: c.LatenessNanos})
	}
	t.reviewSuspects(now)
	var silent []silence
	t.wheel.Advance(now, func(timer *cellTimer) {
		if last, over, deadline := timer.Value.silent(now); over {
			silent = append(silent, silence{timer.Value, last})
		} else {
			t.wheel.Arm(timer, deadline)
		}
	})
	t.expire(now, t.holdBack(now, silent))
	t.endRestore(now)
	t.endGuard()
}

// expire removes brokers that are silent and, with a last look, still are.
func (t *Table) expire(now int64, silent []silence) {
	var expired []expiry
	for _, s := range silent {
		_, suspect := s.cell.Suspect()
		last, killed, deadline, why := s.cell.killSilent(now)
		switch {
		case !killed:
			t.wheel.Arm(&s.cell.timer, deadline)
			continue
		case suspect:
			t.guard.expired++
		}
		expired = append(expired, expiry{s.cell, last, deadline, why})
	}
	// First due, first gone, to the millisecond, though timers were armed for earlier signs of life.
	slices.SortFunc(expired, func(a, b expiry) int {
		return cmp.Or(cmp.Compare(a.deadline/nanosPerMilli, b.deadline/nanosPerMilli), strings.Compare(a.cell.key, b.cell.key))
	})
	for _, e := range expired {
		owner := e.cell.Owner()
		if t.bury(e.cell, ending{why: e.why, owner: Peer{Conn: owner}, sign: e.last}) && owner != 0 {
			t.effect(&CloseConnection{owner})
		}
	}
}

// expiry is a cell that was silent for longer than its timeout, since deadline.
type expiry struct {
	cell           *LiveCell
	last, deadline int64
	why            EventKind
}

// ending is how a broker went.
type ending struct {
	why    EventKind
	owner  Peer   // whose end or silence it was
	sign   int64  // its last sign of life
	word   string // the nameserver that says so, if any
	byPeer bool   // the connection's other end ended it
}

// bury removes what stood behind a cell that is dead already, and reports whether the
// broker still had its slot. Without one (another address took it, or the name belongs to
// another cluster) it goes quietly.
func (t *Table) bury(cell *LiveCell, end ending) bool {
	l, ok := t.live.Get(cell.key)
	if !ok || l.Cell != cell {
		return false
	}
	before := t.stateOf(l.BrokerName, cell.key)
	t.dropLive(cell.key, l)
	if t.slotOf(l) == nil {
		return false
	}
	topics, _ := t.removeAddr(l.BrokerName, l.BrokerAddr)
	owner := end.owner
	if owner.Addr == "" && owner.Conn == l.From.Conn {
		owner = l.From
	}
	if l.Provisional { // its life was another process's to see
		end.sign = 0
	}
	t.effect(&Event{
		Kind: end.why, ClusterName: l.ClusterName, BrokerName: l.BrokerName, BrokerAddr: l.BrokerAddr, BrokerID: l.BrokerID,
		Conn: owner.Conn, PeerAddr: owner.Addr, Topics: topics, Other: end.word, Gone: t.takeGone(),
		Sign: end.sign, Version: l.DataVersion, ByPeer: end.byPeer, Origin: l.Origin(),
		Edit: t.edited(before, l.BrokerName, cell.key),
	})
	return true
}

// slotOf is the group that the broker's end takes its address from; nil if there is none. A restored broker, whose entry is gone
// already, leaves nothing behind, whatever its cluster, but an address that another entry stands behind.
func (t *Table) slotOf(l *Live) *Group {
	g := t.brokers.group(l.BrokerName)
	switch {
	case g == nil || !g.hasAddr(l.BrokerAddr):
		return nil
	case l.Provisional && t.backed(g, l.BrokerAddr), !l.Provisional && g.ClusterName != l.ClusterName:
		return nil
	}
	return g
}

// backed reports whether a live entry stands behind an address of a group.
func (t *Table) backed(g *Group, addr string) bool {
	return slices.ContainsFunc(t.brokers.homes[g.Name], func(home string) bool {
		l, ok := t.live.Get(liveKey(home, addr))
		return ok && l.BrokerName == g.Name
	})
}

// dropLive takes a live entry out of everything that leads to it.
func (t *Table) dropLive(key string, l *Live) {
	l.Cell.last.Store(dead)
	t.wheel.Disarm(&l.Cell.timer)
	t.disown(l.Cell)
	t.filtered -= hasFilters(l)
	t.live.Delete(key)
	if l.Provisional {
		t.updateRestored(func(r *RestoreStatus) { r.ToCome-- })
	}
}

// removeAddr takes an address out of a broker group, and the group with its
// queues out of everything if that was the last. It returns how many topics were
// touched and whether the address was there.
func (t *Table) removeAddr(brokerName, addr string) (topics int, removed bool) {
	g := t.brokers.group(brokerName)
	if g == nil || !g.hasAddr(addr) {
		return 0, false
	}
	rest := without(g.Addrs, func(a Address) bool { return a.Addr == addr })
	if len(rest) == 0 {
		return t.removeGroup(g), true
	}
	n := g.clone()
	n.Addrs = rest
	t.brokers.put(n)
	if n.ActingMaster && !n.hasMaster() {
		topics, _ = t.setPerm(n.Name, withoutWrite, func(int32, int32, int) {})
		n = t.brokers.group(brokerName)
	}
	if least := minID(rest); n.ActingMaster && least != noID && least != minID(g.Addrs) {
		t.notifyOffline(n, addr)
	}
	return topics, true
}

// removeGroup takes a broker name out of all topics, mappings and clusters, and returns how many topics had it.
func (t *Table) removeGroup(g *Group) (topics int) {
	if t.lists.hasJoined(g.index) {
		t.settle()
	}
	if t.edits != nil {
		for l := range t.lists.of(g.index) {
			t.noteList(l, g, nil)
		}
	}
	topics, ended := t.lists.leave(g.index)
	t.topicsChanged += topics
	topics += t.removeTopicsOf(ended)
	t.removeMappingsOf(g.Name)
	t.brokers.drop(g)
	return topics
}

// removeTopicsOf removes the topics of lists that have no queue left, and returns how many they are.
func (t *Table) removeTopicsOf(lists []*queueList) (topics int) {
	for _, l := range lists {
		for _, id := range slices.Clone(l.topics) {
			r, _ := t.topics.Get(t.index.names[id])
			t.removeTopic(r)
			topics++
		}
	}
	return topics
}
