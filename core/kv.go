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
}

func newNamespace(values map[string]string) *kvNamespace {
	dst := []byte(`{"table":{`)
	for i, k := range sortedKeys(values) {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = codec.AppendString(dst, k)
		dst = append(dst, ':')
		dst = codec.AppendString(dst, values[k])
	}
	return &kvNamespace{values, append(dst, "}}"...)}
}

func newKVTable(kv map[string]map[string]string) *kvTable {
	t := &kvTable{make(map[string]*kvNamespace, len(kv))}
	for ns, values := range kv {
		t.namespaces[ns] = newNamespace(maps.Clone(values))
	}
	return t
}

// with returns the table with one namespace's values changed by edit.
func (t *kvTable) with(namespace string, edit func(values map[string]string)) *kvTable {
	values := map[string]string{}
	if n, ok := t.namespaces[namespace]; ok {
		values = maps.Clone(n.values)
	}
	edit(values)
	c := &kvTable{maps.Clone(t.namespaces)}
	c.namespaces[namespace] = newNamespace(values)
	return c
}

// KV returns a value of the KV configuration.
func (s *Snapshot) KV(namespace, key string) (string, bool) {
	n, ok := s.kv.namespaces[namespace]
	if !ok {
		return "", false
	}
	v, ok := n.values[key]
	return v, ok
}

// KVTable is the body of the answer to 219; ok is false for an unknown
// namespace. The result is shared; read only.
func (s *Snapshot) KVTable(namespace string) (table []byte, ok bool) {
	n, ok := s.kv.namespaces[namespace]
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
