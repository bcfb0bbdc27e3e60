package core

import "slices"

// event reports what a registration came to, and returns the event to be completed.
func (t *Table) event(kind EventKind, c *RegisterBroker, other string) *Event {
	e := &Event{
		Kind: kind, ClusterName: c.ClusterName, BrokerName: c.BrokerName, BrokerAddr: c.BrokerAddr, BrokerID: c.BrokerID,
		Conn: c.Conn, PeerAddr: c.PeerAddr, Topics: len(c.Body.Topics), Other: other,
	}
	t.effect(e)
	return e
}

// reportRegistered reports what a registration came to that is the live one l now.
func (t *Table) reportRegistered(r *registration, l *Live) {
	kind := EventUnchanged
	switch {
	case r.prev == nil:
		kind = EventRegistered
	case r.newVersion() || r.changed > 0 || r.regroup || !saysTheSame(r.prev, l):
		kind = EventChanged
	}
	e := t.event(kind, r.RegisterBroker, "")
	e.TopicsChanged, e.Gone = r.changed, t.takeGone()
	if kind != EventUnchanged {
		e.Edit = t.edited(r.before, r.BrokerName, l.Cell.key)
	}
}

// saysTheSame reports whether two registrations of an address say the same of the broker itself.
func saysTheSame(a, b *Live) bool {
	return a.BrokerID == b.BrokerID && a.HAServerAddr == b.HAServerAddr && a.TimeoutNanos == b.TimeoutNanos &&
		slices.Equal(a.FilterServers, b.FilterServers)
}

// maxGone bounds the names that are kept for one event. Nobody remembers more.
const maxGone = 10_000

// noteGone keeps the name of a topic that lost its last broker for the event that says why.
func (t *Table) noteGone(topic string) {
	if len(t.gone) < maxGone {
		t.gone = append(t.gone, topic)
	}
}

func (t *Table) takeGone() []string {
	gone := t.gone
	t.gone = nil
	return gone
}
