package core

import (
	"maps"

	"github.com/waymark-mq/waymark/codec"
)

// kvTable is the KV configuration; immutable, copied per change.
type kvTable struct{ namespaces map[string]*kvNamespace }

// kvNamespace is one namespace, never changed once made; it stays when its last key is deleted.
type kvNamespace struct {
	values map[string]string
	table  []byte // {"table":{…}}: answer to 219, body of registration answers
	// strict is what OrderConfStrict leaves of it; nil: all, as nothing in it is an order configuration that clients can't read.
	strict *kvNamespace
}

func newNamespace(name string, values map[string]string) *kvNamespace {
	n := encodeNamespace(values)
	if name == OrderTopicConfig {
		if readable := readableOrderConf(values); len(readable) < len(values) {
			n.strict = encodeNamespace(readable)
		}
	}
	return n
}

func encodeNamespace(values map[string]string) *kvNamespace {
	dst := []byte(`{"table":{`)
	for i, k := range sortedKeys(values) {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = codec.AppendString(dst, k)
		dst = append(dst, ':')
		dst = codec.AppendString(dst, values[k])
	}
	return &kvNamespace{values: values, table: append(dst, "}}"...)}
}

func newKVTable(kv map[string]map[string]string) *kvTable {
	t := &kvTable{make(map[string]*kvNamespace, len(kv))}
	for ns, values := range kv {
		t.namespaces[ns] = newNamespace(ns, maps.Clone(values))
	}
	return t
}

// kvDraft is the writer's copy of the KV configuration during one batch: the
// namespaces that the batch changes, each copied once and encoded once at its end.
type kvDraft struct {
	*kvTable
	edited map[string]map[string]string
}

func (d *kvDraft) has(namespace string) bool {
	_, known := d.namespaces[namespace]
	_, edited := d.edited[namespace]
	return known || edited
}

// edit returns a namespace's values for writing, made if it isn't there.
func (d *kvDraft) edit(namespace string) map[string]string {
	if values, ok := d.edited[namespace]; ok {
		return values
	}
	values := map[string]string{}
	if n, ok := d.namespaces[namespace]; ok {
		values = maps.Clone(n.values)
	}
	if d.edited == nil {
		d.edited = map[string]map[string]string{}
	}
	d.edited[namespace] = values
	return values
}

// freeze returns the table of the next snapshot.
func (d *kvDraft) freeze() *kvTable {
	if len(d.edited) == 0 {
		return d.kvTable
	}
	t := &kvTable{maps.Clone(d.namespaces)}
	for namespace, values := range d.edited {
		t.namespaces[namespace] = newNamespace(namespace, values)
	}
	return t
}

// namespace is what is served of a namespace.
func (s *Snapshot) namespace(name string) (n *kvNamespace, ok bool) {
	n, ok = s.kv.namespaces[name]
	if ok && s.settings.OrderConfStrict && n.strict != nil {
		n = n.strict
	}
	return n, ok
}

// KV returns a value of the KV configuration.
func (s *Snapshot) KV(namespace, key string) (string, bool) {
	n, ok := s.namespace(namespace)
	if !ok {
		return "", false
	}
	v, ok := n.values[key]
	return v, ok
}

// KVTable is the body of the answer to 219; ok is false for an unknown
// namespace. The result is shared; read only.
func (s *Snapshot) KVTable(namespace string) (table []byte, ok bool) {
	n, ok := s.namespace(namespace)
	if !ok {
		return nil, false
	}
	return n.table, true
}

// OrderTable is the body of the answer to a registration, nil if there is none.
func (s *Snapshot) OrderTable() []byte {
	if !s.settings.ReturnOrderTopicConfigToBroker {
		return nil
	}
	table, _ := s.KVTable(OrderTopicConfig)
	return table
}
