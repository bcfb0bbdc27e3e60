package golden

import (
	"maps"
	"reflect"
)

// Clone returns a model that further steps of m don't change, nor the reverse.
func (m *Model) Clone() *Model {
	c := *m
	c.topics, c.clusters, c.mappings, c.kv = cloneNested(m.topics), cloneNested(m.clusters), cloneNested(m.mappings), cloneNested(m.kv)
	c.filters = maps.Clone(m.filters)
	c.groups = map[string]*group{}
	for name, g := range m.groups {
		copied := *g
		copied.addrs = maps.Clone(g.addrs)
		c.groups[name] = &copied
	}
	c.live = map[brokerKey]*liveEntry{}
	for key, e := range m.live {
		copied := *e
		c.live[key] = &copied
	}
	c.effects = nil
	return &c
}

func cloneNested[K1, K2 comparable, V any](m map[K1]map[K2]V) map[K1]map[K2]V {
	c := map[K1]map[K2]V{}
	for key, inner := range m {
		c[key] = maps.Clone(inner)
	}
	return c
}

// Equal reports whether both hold the same, so that they go on alike.
func (m *Model) Equal(other *Model) bool {
	a, b := *m, *other
	a.now, a.effects, b.now, b.effects = 0, nil, 0, nil // of the last step
	return reflect.DeepEqual(a, b)
}
