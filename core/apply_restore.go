package core

import (
	"maps"
	"slices"
	"strings"
)

// What an earlier process knew is provisional: it is in all answers, and nothing else. A restored broker (Live.Provisional)
// counts as unknown to whoever asks for it (322) or beats for it (904), so that it registers; its own registration (103) is applied
// as its first. What no registration has brought by the end of the grace goes then: brokers by their timers, and by endRestore the
// queues and mappings that are still marked as restored, since a topic may have been deleted after the state was written, and the
// parts of a split registration come one after the other.

// RestoreStatus tells how far a restored table is confirmed. It is immutable.
type RestoreStatus struct {
	Brokers, Clusters int   // that were restored
	Confirmed         int   // of these brokers, those that have registered
	ToCome            int   // and those that may still; the others are gone
	UntilNanos        int64 // when those that haven't go, monotonic
}

// Restored tells how far the restored brokers and topics are confirmed; ok is false if nothing was restored, or the grace is over.
// Any goroutine.
func (s *Snapshot) Restored() (r RestoreStatus, ok bool) {
	if s.restored == nil {
		return r, false
	}
	return *s.restored, true
}

// restore applies a Restore: to a table without brokers, and otherwise not at all.
func (t *Table) restore(now int64, c *Restore, r *Result) {
	if len(t.brokers.byName) > 0 || c.UntilNanos <= now {
		return
	}
	x := restoring{
		Table: t, Restore: c, now: now, until: c.UntilNanos,
		groups: map[uint32]*Group{}, settings: map[uint32]uint32{}, lists: make([]*queueList, len(c.State.Lists)),
	}
	x.restoreGroups()
	for i := range c.State.Live {
		x.restoreLive(&c.State.Live[i])
	}
	x.dropUnbacked()
	x.restoreTopics()
	for i := range c.State.Mappings {
		m := &c.State.Mappings[i]
		if t.brokers.group(m.Registrant) != nil {
			t.setMapping(m.Topic, mappingEntry{m.BrokerName, m.Registrant, m.Epoch, m.Info, true})
		}
	}
	if r.Count = t.live.Len(); r.Count == 0 {
		return
	}
	t.restored = &RestoreStatus{Brokers: r.Count, Clusters: len(t.brokers.clusters), ToCome: r.Count, UntilNanos: x.until}
	t.effect(&Event{Kind: EventRestored, Brokers: r.Count, Topics: t.topics.Len()})
}

// restoring is a Restore on its way into the table.
type restoring struct {
	*Table
	*Restore
	now, until int64
	groups     map[uint32]*Group // by their index in the state
	settings   map[uint32]uint32 // index in the state → ours, held until the end
	lists      []*queueList      // by their place in the state; nil: not made yet
}

// fresh reports whether a broker showed life late enough.
func (x *restoring) fresh(l *StateLive) bool {
	return l.AgeNanos <= x.MaxAgeNanos && x.age(l) <= x.MaxAgeNanos // an age may be any number
}

// age is how long ago a broker's last sign of life was.
func (x *restoring) age(l *StateLive) int64 { return max(l.AgeNanos, 0) + max(x.SinceNanos, 0) }

// restoreGroups makes the groups.
func (x *restoring) restoreGroups() {
	for i := range x.State.Groups {
		s := &x.State.Groups[i]
		var addrs []Address
		for _, a := range s.Addrs {
			if len(addrs) < maxGroupMembers {
				addrs = withAddr(addrs, a.BrokerID, a.Addr)
			}
		}
		if len(addrs) == 0 || x.brokers.group(s.Name) != nil || x.groups[s.Index] != nil {
			continue
		}
		x.groups[s.Index] = x.brokers.put(&Group{
			Name: s.Name, ClusterName: s.ClusterName, ZoneName: s.ZoneName, ActingMaster: s.ActingMaster, Addrs: addrs, index: -1,
		})
		x.brokers.join(s.ClusterName, s.Name)
		for _, home := range s.Homes {
			x.brokers.join(home, s.Name)
		}
	}
}

// dropUnbacked takes off addresses that no restored broker stands behind, and groups that have no other.
func (x *restoring) dropUnbacked() {
	for i := range x.State.Groups {
		index := x.State.Groups[i].Index
		g := x.groups[index]
		if g == nil {
			continue
		}
		addrs := without(g.Addrs, func(a Address) bool { return !x.backed(g, a.Addr) })
		switch {
		case len(addrs) == len(g.Addrs):
		case len(addrs) == 0:
			x.brokers.drop(g)
			delete(x.groups, index)
		default:
			n := g.clone()
			n.Addrs = addrs
			x.groups[index] = x.brokers.put(n)
		}
	}
}

// restoreLive makes the live entry of an address that its group has.
func (x *restoring) restoreLive(s *StateLive) {
	key := liveKey(s.ClusterName, s.BrokerAddr)
	g := x.brokers.group(s.BrokerName)
	if _, known := x.live.Get(key); known || g == nil || !g.hasAddr(s.BrokerAddr) || !x.brokers.inCluster(s.ClusterName, s.BrokerName) || !x.fresh(s) {
		return
	}
	timeout := min(max(s.TimeoutNanos, MinTimeoutMillis*nanosPerMilli), MaxTimeoutMillis*nanosPerMilli)
	l := &Live{
		Cell:        &LiveCell{key: key, timeoutNanos: timeout, orphanedUntil: x.until},
		ClusterName: s.ClusterName, BrokerName: s.BrokerName, BrokerAddr: s.BrokerAddr, BrokerID: s.BrokerID,
		HAServerAddr: s.HAServerAddr, DataVersion: s.DataVersion, FilterServers: s.FilterServers, TimeoutNanos: timeout,
		Provisional: true, Seen: x.now - x.age(s),
		FirstMillis: s.FirstMillis, WallMillis: s.WallMillis, Applied: s.Applied, Topics: s.Topics,
	}
	l.Cell.timer.Value = l.Cell
	l.Cell.trust()
	l.Cell.last.Store(unconfirmed)
	x.Table.filtered += hasFilters(l)
	x.wheel.Arm(&l.Cell.timer, x.until)
	x.live.Set(key, l)
}

func (x *restoring) restoreTopics() {
	for _, s := range x.State.Settings {
		if _, known := x.settings[s.Index]; !known {
			x.settings[s.Index] = x.queues.acquire(queueSetting{s.ReadQueueNums, s.WriteQueueNums, s.Perm, s.TopicSysFlag, true})
		}
	}
	for _, s := range x.State.Topics {
		if _, known := x.topics.Get(s.Name); known || int(s.List) >= len(x.lists) {
			continue
		}
		if to := x.list(s.List); to != noQueues {
			x.setList(x.newTopic(s.Name), to)
		}
	}
	for _, s := range x.State.Settings {
		if setting, held := x.settings[s.Index]; held {
			x.queues.release(setting)
			delete(x.settings, s.Index)
		}
	}
}

// list returns a list of the state as one of ours, which a topic must be given at once; noQueues if nothing of it is left.
func (x *restoring) list(n uint32) *queueList {
	if x.lists[n] != nil {
		return x.lists[n]
	}
	var queues []queue
	for _, q := range x.State.Lists[n] {
		group, index := q.Indexes()
		g, setting, ok := x.groups[group], uint32(0), false
		if g != nil {
			setting, ok = x.settings[index]
		}
		if ok && !slices.ContainsFunc(queues, func(o queue) bool { return o.group() == g.index }) {
			queues = append(queues, makeQueue(g.index, setting))
		}
	}
	slices.SortFunc(queues, func(a, b queue) int {
		return strings.Compare(x.brokers.at(a.group()).Name, x.brokers.at(b.group()).Name)
	})
	x.lists[n] = noQueues
	if len(queues) > 0 {
		x.lists[n] = x.Table.lists.intern(splice{from: noQueues, add: queues})
	}
	return x.lists[n]
}

// dropRestored removes brokers that are still provisional.
func (t *Table) dropRestored(c *DropRestored, r *Result) {
	for _, b := range c.Brokers {
		l, ok := t.live.Get(liveKey(b.ClusterName, b.BrokerAddr))
		if ok && l.Provisional {
			r.Count++
			t.bury(l.Cell, ending{why: EventRefusedConnection})
		}
	}
}

// unconfirmed reports whether only restored brokers stand behind an address of a group.
func (t *Table) unconfirmed(g *Group, addr string) bool {
	if t.restored == nil || g == nil {
		return false
	}
	found := false
	for _, home := range t.brokers.homes[g.Name] {
		if l, ok := t.live.Get(liveKey(home, addr)); ok && l.BrokerName == g.Name {
			if !l.Provisional {
				return false
			}
			found = true
		}
	}
	return found
}

// contradicts reports whether a registration names a cluster that a restored group, of which nobody is confirmed, doesn't know: then
// what was known of the name is over.
func (t *Table) contradicts(c *RegisterBroker, g *Group) bool {
	return t.restored != nil && g != nil && !t.brokers.inCluster(c.ClusterName, c.BrokerName) &&
		!slices.ContainsFunc(g.Addrs, func(a Address) bool { return !t.unconfirmed(g, a.Addr) })
}

// forget removes a group of which nobody is confirmed.
func (t *Table) forget(g *Group) {
	for _, a := range g.Addrs {
		t.forgetLive(g, a.Addr)
	}
	t.removeGroup(g)
}

// forgetLive drops the restored entries of an address of a group.
func (t *Table) forgetLive(g *Group, addr string) {
	if t.restored == nil {
		return
	}
	for _, home := range t.brokers.homes[g.Name] {
		key := liveKey(home, addr)
		if l, ok := t.live.Get(key); ok && l.BrokerName == g.Name && l.Provisional {
			t.dropLive(key, l)
		}
	}
}

// vouch applies the topics of a slave that would bring them if the smaller ids of its group weren't there, of which nobody is
// confirmed: what was restored and it has too stays as it is beyond the grace. So a master that doesn't come back leaves the routes
// that its loss would have left.
func (t *Table) vouch(r *registration) {
	if t.restored == nil || r.ActingMaster == ActingAbsent || r.BrokerID <= MasterID {
		return
	}
	for _, a := range r.group.Addrs {
		if a.BrokerID >= MasterID && a.BrokerID < r.BrokerID && !t.unconfirmed(r.group, a.Addr) {
			return
		}
	}
	if t.lists.hasJoined(r.group.index) {
		t.settle()
	}
	for i := range r.Body.Topics {
		name := r.Body.Topics[i].Name
		route, ok := t.topics.Get(name)
		if !ok || !t.restoredQueue(route.list, r.group) {
			continue
		}
		s := t.queues.table.at(route.list.queues[route.list.find(r.group.index)].setting()).queueSetting
		s.restored = false
		t.setQueue(name, r.group, s, true)
		r.changed++
	}
	for i := range r.Body.Mappings {
		m := &r.Body.Mappings[i]
		if t.newMapping(m, r.BrokerName) && t.setMapping(m.Key, newMappingEntry(m, r.BrokerName)) {
			r.changed++
		}
	}
}

// updateRestored replaces the status, which a snapshot may have.
func (t *Table) updateRestored(change func(*RestoreStatus)) {
	if t.restored != nil {
		r := *t.restored
		change(&r)
		t.restored = &r
	}
}

// endRestore ends the grace: what is still marked as restored goes. The brokers have gone by their timers, in the same tick.
func (t *Table) endRestore(now int64) {
	if t.restored == nil || t.restored.UntilNanos >= now {
		return
	}
	e := &Event{Kind: EventRestoreEnded, Brokers: t.restored.Confirmed, AllBrokers: t.restored.Brokers}
	t.settle()
	for _, g := range slices.SortedFunc(maps.Values(t.brokers.byName), func(a, b *Group) int { return strings.Compare(a.Name, b.Name) }) {
		e.TopicsChanged += t.dropUnconfirmed(g)
	}
	t.settle()
	for _, name := range sortedKeys(t.mapped) {
		for _, topic := range sortedKeys(t.mapped[name]) {
			t.removeMapping(topic, func(m mappingEntry) bool { return m.restored })
		}
	}
	t.restored = nil
	t.effect(e)
}

// dropUnconfirmed takes a group off the topics of which its queues are still marked as restored, and returns how many they were. Its
// work is that of its lists: they are made anew once for all groups, which come by name, when what waits is settled.
func (t *Table) dropUnconfirmed(g *Group) (topics int) {
	before := t.stateOf(g.Name, "")
	var ended []*queueList
	for l := range t.lists.of(g.index) {
		if !t.restoredQueue(l, g) {
			continue
		}
		topics += len(l.topics)
		t.noteList(l, g, nil)
		t.unmapAll(l, g)
		if t.lists.part(l, g.index) {
			ended = append(ended, l)
		} else {
			t.topicsChanged += len(l.topics)
		}
	}
	t.removeTopicsOf(ended)
	if topics > 0 {
		t.effect(&Event{
			Kind: EventTopicsUnconfirmed, ClusterName: g.ClusterName, BrokerName: g.Name, BrokerID: noID,
			TopicsChanged: topics, Gone: t.takeGone(), Edit: t.edited(before, g.Name, ""),
		})
	}
	return topics
}

// unmapAll removes the mappings that a broker name has of the topics of a list.
func (t *Table) unmapAll(l *queueList, g *Group) {
	mapped := t.mapped[g.Name]
	for _, id := range l.topics {
		name := t.index.names[id]
		if _, ok := mapped[name]; ok {
			t.removeMapping(name, func(e mappingEntry) bool { return e.brokerName == g.Name })
		}
	}
}

// restoredTopic reports whether the group's queues of a topic that it has are marked as restored.
func (t *Table) restoredTopic(topic string, g *Group) bool {
	r, ok := t.topics.Get(topic)
	return ok && t.restoredQueue(r.list, g)
}

// restoredQueue reports whether a list's queues of the group are marked as restored.
func (t *Table) restoredQueue(l *queueList, g *Group) bool {
	i := l.find(g.index)
	return i >= 0 && t.queues.table.at(l.queues[i].setting()).restored
}
