package core

// putKV applies PUT_KV_CONFIG (100).
func (t *Table) putKV(c *PutKV) {
	values := t.kv.edit(c.Namespace)
	old, had := values[c.Key]
	if c.Value.Valid {
		values[c.Key] = c.Value.S
	} else {
		delete(values, c.Key)
	}
	if had != c.Value.Valid || old != c.Value.S {
		t.effect(&Event{Kind: EventKVPut, Namespace: c.Namespace, Key: c.Key, Conn: c.By.Conn, PeerAddr: c.By.Addr})
	}
}

// deleteKV applies DELETE_KV_CONFIG (102). It leaves the namespace, even empty, and doesn't make one.
func (t *Table) deleteKV(c *DeleteKV) {
	if !t.kv.has(c.Namespace) {
		return
	}
	values := t.kv.edit(c.Namespace)
	if _, had := values[c.Key]; had {
		delete(values, c.Key)
		t.effect(&Event{Kind: EventKVDeleted, Namespace: c.Namespace, Key: c.Key, Conn: c.By.Conn, PeerAddr: c.By.Addr})
	}
}
