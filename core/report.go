package core

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
