package cow

import (
	"math/bits"
	"slices"
)

// A shard is a power of two of groups. A group is eight slots and, in one
// word, a tag byte for each of them, so that eight slots are sifted by a few
// instructions and a miss seldom looks at a key.
//
// A tag is 0 for an empty slot, 1 for a deleted one, and 0x80 | the low seven
// bits of the hash for one in use. The bits above those choose the first
// group; the next are 1, 2, 3, … groups on, which visits each once. A search
// ends at a group that has an empty slot: no key was ever pushed past it.
const (
	groupSlots = 8
	// groupLoad is how many slots per group may be other than empty, on average.
	groupLoad = 7

	tagDeleted = 0x01
	tagInUse   = 0x80

	lowBits  = 0x0101010101010101
	highBits = 0x8080808080808080
)

type slot[V any] struct {
	key   string
	value V
}

type group[V any] struct {
	tags  uint64
	slots [groupSlots]slot[V]
}

type shard[V any] struct {
	groups []group[V]
	live   int // slots in use
	filled int // slots in use or deleted
}

// marks are bits 7, 15, … 63 of a word: one for each slot that was meant.
type marks uint64

func (m marks) first() int  { return bits.TrailingZeros64(uint64(m)) / 8 }
func (m marks) rest() marks { return m & (m - 1) }

// matching marks the slots in use whose tag is that of hash. It may mark others
// in use too (a borrow from the byte below), so keys are always compared.
func matching(tags, hash uint64) marks {
	x := tags ^ (lowBits * tagOf(hash))
	return marks((x - lowBits) &^ x & highBits)
}

func empty(tags uint64) marks { return marks(^(tags | tags<<7) & highBits) }
func free(tags uint64) marks  { return marks(^tags & highBits) } // empty or deleted
func inUse(tags uint64) marks { return marks(tags & highBits) }

func tagOf(hash uint64) uint64 { return tagInUse | hash&0x7f }

func firstGroup(hash, mask uint64) uint64 { return hash >> 7 & mask }

func (g *group[V]) setTag(i int, tag uint64) {
	g.tags = g.tags&^(0xff<<(8*i)) | tag<<(8*i)
}

func newShard[V any](groups int) *shard[V] {
	return &shard[V]{groups: make([]group[V], groups)}
}

func (s *shard[V]) clone() *shard[V] {
	return &shard[V]{groups: slices.Clone(s.groups), live: s.live, filled: s.filled}
}

// find returns the slot of key, or nil.
func (s *shard[V]) find(hash uint64, key string) *slot[V] {
	g, i := s.locate(hash, key)
	if g == nil {
		return nil
	}
	return &g.slots[i]
}

func (s *shard[V]) locate(hash uint64, key string) (*group[V], int) {
	mask := uint64(len(s.groups) - 1)
	at := firstGroup(hash, mask)
	for step := uint64(1); ; step++ {
		g := &s.groups[at]
		for m := matching(g.tags, hash); m != 0; m = m.rest() {
			if i := m.first(); g.slots[i].key == key {
				return g, i
			}
		}
		if empty(g.tags) != 0 {
			return nil, 0
		}
		at = (at + step) & mask
	}
}

// set reports whether the key is new.
func (s *shard[V]) set(hash uint64, key string, v V) bool {
	if at := s.find(hash, key); at != nil {
		at.value = v
		return false
	}
	if s.filled == groupLoad*len(s.groups) {
		// A quarter of slack, so that deletions and insertions in turn do not
		// rebuild each time; without deleted slots this doubles.
		s.rebuild(groupsFor(s.live + s.live/4 + 1))
	}
	s.add(hash, key, v)
	return true
}

// add stores a key that is absent; some slot is empty.
func (s *shard[V]) add(hash uint64, key string, v V) {
	mask := uint64(len(s.groups) - 1)
	at := firstGroup(hash, mask)
	for step := uint64(1); free(s.groups[at].tags) == 0; step++ {
		at = (at + step) & mask
	}
	g := &s.groups[at]
	i := free(g.tags).first()
	if g.tags>>(8*i)&tagDeleted == 0 {
		s.filled++
	}
	g.setTag(i, tagOf(hash))
	g.slots[i] = slot[V]{key, v}
	s.live++
}

// delete removes a key that is present.
func (s *shard[V]) delete(hash uint64, key string) {
	g, i := s.locate(hash, key)
	// Only a group that has been full can have had keys pushed past it; such a
	// group has no empty slot and gets none before the next rebuild.
	if empty(g.tags) != 0 {
		g.setTag(i, 0)
		s.filled--
	} else {
		g.setTag(i, tagDeleted)
	}
	g.slots[i] = slot[V]{}
	s.live--
	if len(s.groups) > 1 && s.live < groupLoad*len(s.groups)/4 {
		s.rebuild(groupsFor(2 * s.live))
	}
}

// rebuild moves everything into new groups without deleted slots.
func (s *shard[V]) rebuild(groups int) {
	old := s.groups
	s.groups, s.live, s.filled = make([]group[V], groups), 0, 0
	for i := range old {
		for m := inUse(old[i].tags); m != 0; m = m.rest() {
			at := &old[i].slots[m.first()]
			s.add(hashOf(at.key), at.key, at.value)
		}
	}
}

// groupsFor is the smallest power of two of groups that holds n keys.
func groupsFor(n int) int {
	groups := 1
	for groupLoad*groups < n {
		groups *= 2
	}
	return groups
}

// each reports whether yield wanted all.
func (s *shard[V]) each(yield func(string, V) bool) bool {
	for i := range s.groups {
		g := &s.groups[i]
		for m := inUse(g.tags); m != 0; m = m.rest() {
			at := &g.slots[m.first()]
			if !yield(at.key, at.value) {
				return false
			}
		}
	}
	return true
}
