package cow

import "iter"

// Editor makes a new map out of an old one. It belongs to one goroutine.
type Editor[V any] struct {
	m      *Map[V] // the old map until the first write, then a private one
	owned  [shardCount / 64]uint64
	cloned int
	dirty  bool // m is private
}

// Get returns the value of key as edited so far.
func (e *Editor[V]) Get(key string) (V, bool) { return e.m.Get(key) }

// GetBytes is Get for a key in bytes; see Map.GetBytes.
func (e *Editor[V]) GetBytes(key []byte) (stored string, v V, ok bool) { return e.m.GetBytes(key) }

// Len is the number of keys as edited so far.
func (e *Editor[V]) Len() int { return e.m.Len() }

// All yields every key and value as edited so far. The loop must not write to
// the editor; to edit while walking, walk the old map.
func (e *Editor[V]) All() iter.Seq2[string, V] { return e.m.All() }

// Set gives key the value v. A key that is present keeps its stored string.
func (e *Editor[V]) Set(key string, v V) {
	hash := hashOf(key)
	if e.own(shardOf(hash)).set(hash, key, v) {
		e.m.n++
	}
}

// Delete removes key and reports whether it was present; if not, nothing is copied.
func (e *Editor[V]) Delete(key string) bool {
	hash := hashOf(key)
	if e.m.slot(hash, key) == nil {
		return false
	}
	i := shardOf(hash)
	sh := e.own(i)
	sh.delete(hash, key)
	if sh.live == 0 {
		e.m.shards[i] = nil
	}
	e.m.n--
	return true
}

// Freeze ends the edit and returns its map: the old one itself if nothing was
// written. The editor must not be used afterwards; if it is, it copies anew
// and cannot reach the frozen map.
func (e *Editor[V]) Freeze() *Map[V] {
	e.owned = [len(e.owned)]uint64{}
	e.dirty = false
	return e.m
}

// ShardsCloned is how many shards the edit has copied or begun, 256 at most.
func (e *Editor[V]) ShardsCloned() int { return e.cloned }

// own returns shard i for writing: a copy at the first write of this edit.
func (e *Editor[V]) own(i int) *shard[V] {
	if !e.dirty {
		m := new(Map[V])
		if e.m != nil {
			*m = *e.m
		}
		e.m, e.dirty = m, true
	}
	sh := e.m.shards[i]
	word, bit := i/64, uint64(1)<<(i%64)
	first := e.owned[word]&bit == 0
	switch {
	case sh == nil:
		sh = newShard[V](1)
	case first:
		sh = sh.clone()
	default:
		return sh
	}
	if first {
		e.owned[word] |= bit
		e.cloned++
	}
	e.m.shards[i] = sh
	return sh
}
