package core

import "slices"

// maxGroupMembers bounds the ids of one broker name; each change of a group costs as much as
// it has members. Real groups have a handful.
const maxGroupMembers = 1024

// register applies REGISTER_BROKER (103). Whether it is refused or lost is decided
// before anything is written.
//
// Source: behaviour of Apache RocketMQ 5.5.0 as recorded; the order of steps
// shows in its answers.
// Differs: a refused registration leaves nothing behind, a lost one only the
// slot it gave up and its own liveness; negative ids are never the smallest.
func (t *Table) register(now int64, c *RegisterBroker, r *Result) {
	g := t.brokers.group(c.BrokerName)
	known, displaced := "", ""
	if g != nil {
		known, _ = g.addr(c.BrokerID)
	}
	if known != c.BrokerAddr {
		displaced = known
	}
	if displaced != "" && t.losesConflict(c, displaced) {
		t.loseConflict(g, c, displaced)
		r.Conflict = true
		return
	}
	first := known == "" || t.unconfirmed(g, known)
	single := len(c.Body.Topics) == 1 && !c.Body.NullTopicTable
	if (first && single) || (known == "" && g != nil && len(g.Addrs) >= maxGroupMembers) {
		r.Refused = true
		t.event(EventRefused, c, "")
		return
	}
	reg := registration{RegisterBroker: c, first: first, before: t.stateOf(c.BrokerName, liveKey(c.ClusterName, c.BrokerAddr))}
	if t.contradicts(c, g) {
		t.forget(g)
		displaced = ""
	}
	reg.prev = t.takeOver(c)
	if displaced != "" {
		t.replace(&reg, displaced)
	} else {
		t.joinGroup(&reg)
	}
	t.applyTopics(&reg)
	if reg.changed > 0 { // whoever else registered under this name didn't leave its topics so
		reg.group = t.brokers.mark(reg.group)
	}
	l := t.enliven(now, &reg)
	r.MasterAddr, r.HAServerAddr = masterOf(l, reg.group, t.live.Get)
	t.reportRegistered(&reg, l)
}

// registration is a RegisterBroker on its way through the tables.
type registration struct {
	*RegisterBroker
	first   bool // the slot (name, id) was empty, or nobody but a restored broker had it
	before  BrokerState
	prev    *Live // what the address registered before under this name; nil if nothing
	group   *Group
	regroup bool // the members, zone or role of a known group have changed
	changed int  // topics and mappings added, changed or taken off
}

// newVersion reports whether the broker's table may differ from the known one.
func (r *registration) newVersion() bool {
	return r.first || r.prev == nil || r.prev.DataVersion != r.Body.DataVersion
}

// losesConflict reports whether the slot is held by a live broker of a greater stateVersion.
func (t *Table) losesConflict(c *RegisterBroker, holder string) bool {
	l, ok := t.live.Get(liveKey(c.ClusterName, holder))
	return ok && !l.Provisional && l.DataVersion.StateVersion > c.Body.DataVersion.StateVersion
}

// replace puts the broker into the slot of another address.
func (t *Table) replace(r *registration, displaced string) {
	key := liveKey(r.ClusterName, displaced)
	before := t.stateOf(r.BrokerName, key)
	e := t.event(EventReplaced, r.RegisterBroker, displaced)
	t.forgetLive(t.brokers.group(r.BrokerName), displaced)
	t.joinGroup(r)
	e.Edit = t.edited(before, r.BrokerName, key)
}

func (t *Table) loseConflict(g *Group, c *RegisterBroker, holder string) {
	key := liveKey(c.ClusterName, c.BrokerAddr)
	before := t.stateOf(c.BrokerName, key)
	if g.hasAddr(c.BrokerAddr) {
		n := g.clone()
		n.Addrs = without(g.Addrs, func(a Address) bool { return a.Addr == c.BrokerAddr })
		t.brokers.put(n)
	}
	if l, ok := t.live.Get(key); ok && l.BrokerName == c.BrokerName {
		t.dropLive(key, l)
	}
	t.event(EventConflict, c, holder).Edit = t.edited(before, c.BrokerName, key)
}

// takeOver returns what the address registered before under this name; a restored entry is confirmed, and counts as nothing
// registered. If it registered under another name, that one loses it.
func (t *Table) takeOver(c *RegisterBroker) *Live {
	key := liveKey(c.ClusterName, c.BrokerAddr)
	prev, ok := t.live.Get(key)
	switch {
	case ok && prev.Provisional && prev.BrokerName == c.BrokerName:
		t.dropLive(key, prev)
		t.updateRestored(func(r *RestoreStatus) { r.Confirmed++ })
		return nil
	case !ok || prev.BrokerName == c.BrokerName:
		return prev
	}
	before := t.stateOf(prev.BrokerName, key)
	e := t.event(EventMoved, c, prev.BrokerName)
	t.dropLive(key, prev)
	t.removeAddr(prev.BrokerName, c.BrokerAddr)
	e.Gone, e.Edit = t.takeGone(), t.edited(before, prev.BrokerName, key)
	return nil
}

// joinGroup gives the broker its slot and its cluster, and notifies the group if
// the smallest id became smaller.
func (t *Table) joinGroup(r *registration) {
	old := t.brokers.group(r.BrokerName)
	n := &Group{Name: r.BrokerName, ClusterName: r.ClusterName, index: -1}
	var before []Address
	if old != nil {
		n, before = old.clone(), old.Addrs
	}
	n.ActingMaster = r.ActingMaster == ActingTrue
	n.ZoneName = r.ZoneName
	n.Addrs = withAddr(before, r.BrokerID, r.BrokerAddr)
	if old != nil && sameGroup(old, n) {
		n = old
	} else {
		n = t.brokers.put(n)
		r.regroup = old != nil
	}
	r.group = n
	t.brokers.join(r.ClusterName, r.BrokerName)
	if old != nil && old.ClusterName != r.ClusterName {
		t.event(EventTwoClusters, r.RegisterBroker, old.ClusterName)
	}
	if r.BrokerID >= MasterID && r.BrokerID < max(minID(before), MasterID) {
		t.notifyRegistered(n, r.HAServerAddr)
	}
}

func sameGroup(a, b *Group) bool {
	return a.ActingMaster == b.ActingMaster && a.ZoneName == b.ZoneName && slices.Equal(a.Addrs, b.Addrs)
}

// applyTopics stores the topics of a master or of the prime slave of a 5.x group.
func (t *Table) applyTopics(r *registration) {
	prime := r.ActingMaster != ActingAbsent && r.BrokerID > MasterID && r.BrokerID == minID(r.group.Addrs)
	if r.Body.NullTopicTable {
		return
	}
	if r.BrokerID != MasterID && !prime {
		t.vouch(r)
		return
	}
	if t.settings.DeleteTopicWithBrokerRegistration && len(r.Body.Mappings) == 0 {
		t.deleteMissing(r)
	}
	deleted := r.changed
	mask := int32(-1)
	if prime && r.ActingMaster == ActingTrue {
		mask = ^int32(permWrite)
	}
	all := r.newVersion()
	a := t.newArrival(r.group, all)
	for i := range r.Body.Topics {
		if c := &r.Body.Topics[i]; c.HasName {
			a.topic(c.Name, queueSetting{c.ReadQueueNums, c.WriteQueueNums, c.Perm & mask, c.TopicSysFlag, false})
		}
	}
	a.end()
	r.changed += a.changed
	if !all && deleted > 0 && r.changed > deleted {
		t.event(EventPartsDelete, r.RegisterBroker, "")
	}
	for i := range r.Body.Mappings {
		m := &r.Body.Mappings[i]
		if (all || t.newMapping(m, r.BrokerName)) && t.setMapping(m.Key, newMappingEntry(m, r.BrokerName)) {
			r.changed++
		}
	}
}

// deleteMissing takes the broker off the topics that the registration lacks
// (deleteTopicWithBrokerRegistration), but for restored ones: they may come with its next part, and go at the end of the grace.
func (t *Table) deleteMissing(r *registration) {
	t.settle()
	sent := make(map[string]struct{}, len(r.Body.Topics))
	for i := range r.Body.Topics {
		sent[r.Body.Topics[i].Key] = struct{}{}
	}
	for _, id := range t.topicsOf(r.group) {
		name := t.index.names[id]
		if _, ok := sent[name]; !ok && !t.restoredTopic(name, r.group) {
			t.removeQueue(name, r.group)
			r.changed++
		}
	}
}

// enliven makes the registration the live one of its address. The cell stays the
// same from one registration to the next, since heartbeats hold it.
func (t *Table) enliven(now int64, r *registration) *Live {
	key := liveKey(r.ClusterName, r.BrokerAddr)
	l := &Live{
		ClusterName: r.ClusterName, BrokerName: r.BrokerName, BrokerAddr: r.BrokerAddr, BrokerID: r.BrokerID,
		HAServerAddr: r.HAServerAddr, DataVersion: r.Body.DataVersion, Memo: r.Memo,
		From: Peer{r.Conn, r.PeerAddr}, Claimed: r.Claimed, FirstMillis: r.WallMillis, WallMillis: r.WallMillis, Applied: 1, Topics: len(r.Body.Topics),
		group: r.group.index, generation: r.group.generation, settings: t.settings,
	}
	if r.Body.HasFilterServers {
		l.FilterServers = r.Body.FilterServers
	}
	if r.prev != nil {
		l.Cell, l.FirstMillis, l.Applied = r.prev.Cell, r.prev.FirstMillis, r.prev.Applied+1
		if !r.Body.HasFilterServers {
			l.FilterServers = r.prev.FilterServers
		}
		t.filtered -= hasFilters(r.prev)
	} else {
		l.Cell = &LiveCell{key: key}
		l.Cell.timer.Value = l.Cell
		l.Cell.trust()
	}
	t.filtered += hasFilters(l)
	timeout, clamped := clampTimeout(r.RegisterBroker)
	if clamped && l.Cell.timeoutNanos != timeout {
		t.event(EventTimeoutClamped, r.RegisterBroker, "")
	}
	l.TimeoutNanos = timeout
	l.Cell.timeoutNanos, l.Cell.orphanedUntil = timeout, 0
	t.own(l.Cell, r.Conn)
	l.Cell.Touch(r.Conn, now)
	last, _ := l.Cell.Last()
	t.wheel.Arm(&l.Cell.timer, last+timeout)
	t.live.Set(key, l)
	return l
}

func hasFilters(l *Live) int {
	if len(l.FilterServers) > 0 {
		return 1
	}
	return 0
}

// own lists the cell under the connection that registered it.
func (t *Table) own(cell *LiveCell, conn ConnID) {
	if cell.registeredBy == conn {
		return
	}
	t.disown(cell)
	cell.registeredBy = conn
	cells, ok := t.owned[conn]
	if !ok {
		cells = map[*LiveCell]struct{}{}
		t.owned[conn] = cells
	}
	cells[cell] = struct{}{}
}

func (t *Table) disown(cell *LiveCell) {
	cells := t.owned[cell.registeredBy]
	delete(cells, cell)
	if len(cells) == 0 {
		delete(t.owned, cell.registeredBy)
	}
	cell.registeredBy = 0
}
