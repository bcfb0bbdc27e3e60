package core

// event reports what a registration came to, and returns the event to be completed.
func (t *Table) event(kind EventKind, c *RegisterBroker, other string) *Event {
	e := &Event{
		Kind: kind, ClusterName: c.ClusterName, BrokerName: c.BrokerName, BrokerAddr: c.BrokerAddr, BrokerID: c.BrokerID,
		Conn: c.Conn, Topics: len(c.Body.Topics), Other: other,
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
	t.event(kind, r.RegisterBroker, "").TopicsChanged = r.changed
}
