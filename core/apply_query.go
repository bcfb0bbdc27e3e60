package core

// queryDataVersion answers 322 and counts as a sign of life.
func (t *Table) queryDataVersion(now int64, c *QueryDataVersion, r *Result) {
	l, ok := t.live.Get(liveKey(c.ClusterName, c.BrokerAddr))
	if !ok || l.Provisional {
		r.Changed = true
		return
	}
	t.own(l.Cell, c.Conn)
	l.Cell.Touch(c.Conn, now)
	r.Known, r.DataVersion = true, l.DataVersion
	r.Changed = !c.HasDataVersion || c.DataVersion != l.DataVersion
}
