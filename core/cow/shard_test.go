package cow

import (
	"math/bits"
	"math/rand/v2"
	"strconv"
	"testing"
)

// check fails unless the shard's counts, tags and bounds agree, and returns the
// longest search of any key, in groups.
func (s *shard[V]) check(t *testing.T) int {
	t.Helper()
	if bits.OnesCount(uint(len(s.groups))) != 1 {
		t.Fatalf("%d groups: no power of two", len(s.groups))
	}
	live, deleted, longest := 0, 0, 0
	for i := range s.groups {
		g := &s.groups[i]
		for j := range groupSlots {
			switch tag := g.tags >> (8 * j) & 0xff; {
			case tag&tagInUse != 0:
				live++
				longest = max(longest, s.probes(t, g.slots[j].key))
				if tag != tagOf(hashOf(g.slots[j].key)) {
					t.Fatalf("tag %#x of %q", tag, g.slots[j].key)
				}
			case tag == tagDeleted:
				deleted++
				fallthrough
			case tag == 0:
				if g.slots[j].key != "" {
					t.Fatalf("a free slot keeps %q alive", g.slots[j].key)
				}
			default:
				t.Fatalf("tag %#x", tag)
			}
		}
	}
	if live != s.live || live+deleted != s.filled {
		t.Fatalf("%d live and %d deleted, counted as %d live, %d filled", live, deleted, s.live, s.filled)
	}
	if s.filled > groupLoad*len(s.groups) {
		t.Fatalf("%d of %d slots filled: searches may not end", s.filled, groupSlots*len(s.groups))
	}
	if n := len(s.groups); n > 1 && groupLoad*n > 4*s.live+groupLoad {
		t.Fatalf("%d groups for %d keys", n, s.live)
	}
	return longest
}

func (s *shard[V]) probes(t *testing.T, key string) int {
	t.Helper()
	hash, mask := hashOf(key), uint64(len(s.groups)-1)
	at := firstGroup(hash, mask)
	for step := uint64(1); step <= uint64(len(s.groups)); step++ {
		for m := matching(s.groups[at].tags, hash); m != 0; m = m.rest() {
			if s.groups[at].slots[m.first()].key == key {
				return int(step)
			}
		}
		at = (at + step) & mask
	}
	t.Fatalf("%q is in no group of its search", key)
	return 0
}

// TestDeletionsKeepShardsSmall replaces keys many times over, then takes them
// away: searches stay short and memory follows Len.
func TestDeletionsKeepShardsSmall(t *testing.T) {
	const live, turns = 5000, 20
	rng := rand.New(rand.NewPCG(1, 2))
	m := filled(0)
	e := m.Edit()
	var keys []string
	next := 0
	check := func(stage string) {
		t.Helper()
		m = e.Freeze()
		groups, longest := 0, 0
		for _, sh := range m.shards {
			if sh != nil {
				longest = max(longest, sh.check(t))
				groups += len(sh.groups)
			}
		}
		// A quarter of the load at least, but for a shard's first group.
		if limit := (4*m.Len()+groupLoad-1)/groupLoad + shardCount; groups > limit {
			t.Errorf("%s: %d groups for %d keys, limit %d", stage, groups, m.Len(), limit)
		}
		if longest > 8 {
			t.Errorf("%s: a search of %d groups", stage, longest)
		}
		e = m.Edit()
	}
	for range turns {
		for len(keys) < live {
			keys = append(keys, strconv.Itoa(next))
			e.Set(keys[len(keys)-1], next)
			next++
		}
		check("full")
		rng.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
		for _, k := range keys[live/2:] {
			e.Delete(k)
		}
		keys = keys[:live/2]
		check("half")
	}
	for len(keys) > 0 {
		n := len(keys) / 2
		for _, k := range keys[n:] {
			e.Delete(k)
		}
		keys = keys[:n]
		check("less")
	}
	for i, sh := range m.shards {
		if sh != nil {
			t.Fatalf("shard %d of an empty map is kept", i)
		}
	}
}

// TestOneKeyAtATime deletes each key before it sets the next: no growth.
func TestOneKeyAtATime(t *testing.T) {
	s := newShard[int](1)
	for i := range 10_000 {
		key := strconv.Itoa(i)
		s.set(hashOf(key), key, i)
		s.delete(hashOf(key), key)
		if len(s.groups) != 1 {
			t.Fatalf("%d groups after %d turns", len(s.groups), i+1)
		}
	}
	s.check(t)
}

// TestGrowthIsAsNeeded sets keys only: never more groups than they need.
func TestGrowthIsAsNeeded(t *testing.T) {
	s := newShard[int](1)
	for i := range 1000 {
		key := strconv.Itoa(i)
		s.set(hashOf(key), key, i)
		if got, want := len(s.groups), groupsFor(i+1); got != want {
			t.Fatalf("%d groups for %d keys, want %d", got, i+1, want)
		}
	}
}

// TestReplacingDoesNotRebuildEachTime holds a shard at its limit, one key going
// and one coming.
func TestReplacingDoesNotRebuildEachTime(t *testing.T) {
	const live, turns = 4 * groupLoad, 2000
	s := newShard[int](4)
	rebuilds, groups := 0, &s.groups[0]
	for i := range turns {
		key, old := strconv.Itoa(i), strconv.Itoa(i-live)
		if i >= live {
			s.delete(hashOf(old), old)
		}
		s.set(hashOf(key), key, i)
		if &s.groups[0] != groups {
			groups = &s.groups[0]
			rebuilds++
		}
	}
	if s.check(t); rebuilds > turns/(live/4) {
		t.Errorf("%d rebuilds in %d turns of %d keys", rebuilds, turns, live)
	}
}

// TestCollidingKeys has keys with one tag and one first group (of four).
func TestCollidingKeys(t *testing.T) {
	const sameBits = 1<<9 - 1
	var keys []string
	for i := 0; len(keys) < 26; i++ {
		key := strconv.Itoa(i)
		if len(keys) == 0 || (hashOf(key)^hashOf(keys[0]))&sameBits == 0 {
			keys = append(keys, key)
		}
	}
	s := newShard[int](4)
	for i, key := range keys {
		if !s.set(hashOf(key), key, i) {
			t.Fatalf("%q is not new", key)
		}
	}
	if n := len(s.groups); n != 4 {
		t.Fatalf("%d groups, want 4", n)
	}
	s.check(t)
	for _, key := range keys[:8] { // the first group, all of it full
		s.delete(hashOf(key), key)
	}
	s.check(t)
	for i, key := range keys {
		got := s.find(hashOf(key), key)
		if (got != nil) != (i >= 8) || got != nil && got.value != i {
			t.Errorf("key %d: %v", i, got)
		}
	}
	filled := s.filled
	s.set(hashOf(keys[0]), keys[0], 0)
	if s.filled != filled {
		t.Error("a deleted slot is not used again")
	}
	if s.set(hashOf(keys[25]), keys[25], -1) {
		t.Error("a key behind a full group counts as new")
	}
	s.check(t)
}

func TestMarks(t *testing.T) {
	tags := uint64(0x00_01_80_ff_85_84_01_00)
	hash := uint64(0xabcdef04) // tag 0x84
	tests := map[string]struct {
		got  marks
		want []int
	}{
		"empty":    {empty(tags), []int{0, 7}},
		"free":     {free(tags), []int{0, 1, 6, 7}},
		"inUse":    {inUse(tags), []int{2, 3, 4, 5}},
		"matching": {matching(tags, hash), []int{2, 3}}, // 0x85 above 0x84: the borrow
	}
	for name, tt := range tests {
		var got []int
		for m := tt.got; m != 0; m = m.rest() {
			got = append(got, m.first())
		}
		if len(got) != len(tt.want) {
			t.Errorf("%s: slots %v, want %v", name, got, tt.want)
			continue
		}
		for i := range got {
			if got[i] != tt.want[i] {
				t.Errorf("%s: slots %v, want %v", name, got, tt.want)
			}
		}
	}
}
