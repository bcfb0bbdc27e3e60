package core

// event reports what a registration came to, and returns the event to be completed.
func (t *Table) event(kind EventKind, c *RegisterBroker, other string) *Event {
	e := &Event{
		Kind: kind, ClusterName: c.ClusterName, BrokerName: c.BrokerName, BrokerAddr: c.BrokerAddr, BrokerID: c.BrokerID,
		Conn: c.Conn, PeerAddr: c.PeerAddr, Topics: len(c.Body.Topics), Other: other,
	}
	t.effect(e)
	return e
}

func (t *Table) reportRegistered(r *registration) {
	kind := EventUnchanged
	switch {
	case r.prev == nil:
		kind = EventRegistered
	case r.newVersion() || r.changed > 0:
		kind = EventChanged
	}
	e := t.event(kind, r.RegisterBroker, "")
	e.TopicsChanged, e.Gone = r.changed, t.takeGone()
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
