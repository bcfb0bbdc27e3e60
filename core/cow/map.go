// Package cow is a persistent map from strings to values: maps are immutable,
// an Editor makes the next one from the last, and the two share what the edit
// did not touch.
//
//	next := m.Edit()
//	next.Set("a", 1)
//	m = next.Freeze()
//
// A map is 256 shards, each a small open-addressed table. An edit copies a
// shard at its first write and then works in place, so its cost follows the
// number of shards written, at most the number of keys changed, plus one copy
// of the array of shards (2 KB).
//
// Concurrency contract
//
//	Owner:     an Editor belongs to one goroutine.
//	Publish:   Freeze ends all writing; handing the map to others (by an atomic
//	           store, say) is the caller's.
//	Readers:   any goroutine, on any map, for as long as it likes; no lock, no
//	           atomic operation.
//	Mutable:   nothing that a Map reaches.
//	Frees:     the garbage collector.
//	Proved by: TestOldMapsStay, TestReadersWhileEditing.
package cow

import (
	"hash/maphash"
	"iter"
	"unsafe"
)

const (
	shardBits  = 8
	shardCount = 1 << shardBits
)

// seed is the process's own, so that no peer can choose keys that collide.
var seed = maphash.MakeSeed()

func hashOf(key string) uint64 { return maphash.String(seed, key) }

// shardOf takes the top bits of a hash; the shard itself uses the low ones.
func shardOf(hash uint64) int { return int(hash >> (64 - shardBits)) }

// Map is an immutable map. A nil *Map and the zero Map are empty.
type Map[V any] struct {
	shards [shardCount]*shard[V] // nil: no key
	n      int
}

// Get returns the value of key.
func (m *Map[V]) Get(key string) (V, bool) {
	if s := m.slot(hashOf(key), key); s != nil {
		return s.value, true
	}
	var zero V
	return zero, false
}

// GetBytes is Get for a key in bytes, without allocation. stored is the map's
// own string of that key: keep it instead of a copy of the bytes.
func (m *Map[V]) GetBytes(key []byte) (stored string, v V, ok bool) {
	// alias lives for the lookup only; what is returned is the map's.
	alias := unsafe.String(unsafe.SliceData(key), len(key))
	if s := m.slot(hashOf(alias), alias); s != nil {
		return s.key, s.value, true
	}
	return "", v, false
}

func (m *Map[V]) slot(hash uint64, key string) *slot[V] {
	if m == nil {
		return nil
	}
	sh := m.shards[shardOf(hash)]
	if sh == nil {
		return nil
	}
	return sh.find(hash, key)
}

// Len is the number of keys.
func (m *Map[V]) Len() int {
	if m == nil {
		return 0
	}
	return m.n
}

// All yields every key and value. The order is unspecified, and differs from
// process to process.
func (m *Map[V]) All() iter.Seq2[string, V] {
	return func(yield func(string, V) bool) {
		if m == nil {
			return
		}
		for _, sh := range m.shards {
			if sh != nil && !sh.each(yield) {
				return
			}
		}
	}
}

// Edit starts an edit from m, which stays as it is.
func (m *Map[V]) Edit() *Editor[V] { return &Editor[V]{m: m} }
