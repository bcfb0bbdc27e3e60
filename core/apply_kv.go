package core

// putKV applies PUT_KV_CONFIG (100).
func (t *Table) putKV(c *PutKV) {
	values := t.kv.edit(c.Namespace)
	if c.Value.Valid {
		values[c.Key] = c.Value.S
	} else {
		delete(values, c.Key)
	}
}

// deleteKV applies DELETE_KV_CONFIG (102). It leaves the namespace, even empty, and doesn't make one.
func (t *Table) deleteKV(c *DeleteKV) {
	if t.kv.has(c.Namespace) {
		delete(t.kv.edit(c.Namespace), c.Key)
	}
}
