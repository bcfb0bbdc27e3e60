package core

import "github.com/waymark-mq/waymark/codec"

func (t *Table) putKV(c *PutKV) {
	t.kv = t.kv.with(c.Namespace, func(values map[string]string) {
		if c.Value.Valid {
			values[c.Key] = c.Value.S
		} else {
			delete(values, c.Key)
		}
	})
}

// deleteKV leaves the namespace, even empty; it doesn't make one.
func (t *Table) deleteKV(c *DeleteKV) {
	if _, ok := t.kv.namespaces[c.Namespace]; ok {
		t.kv = t.kv.with(c.Namespace, func(values map[string]string) { delete(values, c.Key) })
	}
}

// queryDataVersion answers 322 and counts as a sign of life.
func (t *Table) queryDataVersion(now int64, c *QueryDataVersion, r *Result) {
	l, ok := t.live.Get(liveKey(c.ClusterName, c.BrokerAddr))
	if !ok {
		r.Changed = true
		return
	}
	t.own(l.Cell, c.Conn)
	l.Cell.Touch(c.Conn, now)
	r.Known, r.DataVersion = true, l.DataVersion
	r.Changed = !c.HasDataVersion || c.DataVersion != l.DataVersion
}

// notifyRegistered tells the group that its smallest id has become smaller: all
// but the new smallest, or that one if it is alone.
func (t *Table) notifyRegistered(g *Group, haServerAddr codec.NullString) {
	min := minID(g.Addrs)
	t.notify(g, haServerAddr, codec.NullString{}, func(a Address) bool { return len(g.Addrs) > 1 && a.BrokerID == min })
}

// notifyOffline tells the rest of the group that its smallest id has left.
func (t *Table) notifyOffline(g *Group, offlineAddr string) {
	t.notify(g, codec.NullString{}, codec.NullString{S: offlineAddr, Valid: true}, func(Address) bool { return false })
}

func (t *Table) notify(g *Group, haBrokerAddr, offlineAddr codec.NullString, skip func(Address) bool) {
	if !t.settings.NotifyMinBrokerIDChanged {
		return
	}
	n := &NotifyMinBrokerID{MinBrokerID: minID(g.Addrs), OfflineBrokerAddr: offlineAddr, HABrokerAddr: haBrokerAddr}
	n.MinBrokerAddr, _ = g.addr(n.MinBrokerID)
	for _, a := range without(g.Addrs, skip) {
		n.Recipients = append(n.Recipients, a.Addr)
	}
	t.effect(n)
}

// event reports what a registration came to.
func (t *Table) event(kind EventKind, c *RegisterBroker, other string) {
	t.effect(&Event{
		Kind: kind, ClusterName: c.ClusterName, BrokerName: c.BrokerName, BrokerAddr: c.BrokerAddr, BrokerID: c.BrokerID,
		Conn: c.Conn, Topics: len(c.Body.Topics), Other: other,
	})
}

func (t *Table) reportRegistered(r *registration) {
	kind := EventUnchanged
	switch {
	case r.prev == nil:
		kind = EventRegistered
	case r.newVersion() || r.changed > 0:
		kind = EventChanged
	}
	t.event(kind, r.RegisterBroker, "")
	t.out.Effects[len(t.out.Effects)-1].(*Event).TopicsChanged = r.changed
}
