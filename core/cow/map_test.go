package cow

import (
	"fmt"
	"maps"
	"strconv"
	"testing"
	"unsafe"

	"pgregory.net/rapid"
)

func collect[V any](t interface{ Fatalf(string, ...any) }, m *Map[V]) map[string]V {
	all := make(map[string]V)
	for k, v := range m.All() {
		if _, twice := all[k]; twice {
			t.Fatalf("All yields %q twice", k)
		}
		all[k] = v
	}
	if len(all) != m.Len() {
		t.Fatalf("All yields %d keys, Len is %d", len(all), m.Len())
	}
	return all
}

func filled(n int) *Map[int] {
	e := new(Map[int]).Edit()
	for i := range n {
		e.Set(benchKey(i), i)
	}
	return e.Freeze()
}

func benchKey(i int) string { return "topic-" + strconv.Itoa(i) + "-orders" }

func TestEmptyMaps(t *testing.T) {
	for name, m := range map[string]*Map[int]{"nil": nil, "zero": new(Map[int])} {
		t.Run(name, func(t *testing.T) {
			if _, ok := m.Get(""); ok {
				t.Error("Get finds a key")
			}
			if _, _, ok := m.GetBytes(nil); ok {
				t.Error("GetBytes finds a key")
			}
			if n := len(collect(t, m)); n != 0 {
				t.Errorf("All yields %d keys", n)
			}
			if m.Edit().Freeze() != m {
				t.Error("an edit without a write gives another map")
			}
			e := m.Edit()
			e.Set("", 1)
			if v, ok := e.Freeze().Get(""); v != 1 || !ok {
				t.Errorf("Get of the empty key: %d, %v", v, ok)
			}
			if m.Len() != 0 {
				t.Error("the edit changed the map")
			}
		})
	}
}

// TestOldMapsStay edits at random and compares each map ever frozen with a Go
// map copied at that time, after all later edits.
func TestOldMapsStay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		type version struct {
			m    *Map[int]
			want map[string]int
		}
		// Few keys meet often; many fill shards and make them grow.
		keys := rapid.SampledFrom([]int{4, 100, 3000}).Draw(t, "keys")
		var m *Map[int]
		want := map[string]int{}
		var old []version
		for edit := range rapid.IntRange(1, 8).Draw(t, "edits") {
			e := m.Edit()
			written := map[int]bool{}
			deletes := rapid.IntRange(0, 9).Draw(t, "deletesOfTen")
			for op := range rapid.IntRange(0, 2*keys).Draw(t, "ops") {
				// A draw for each of thousands of operations would starve rapid's data; a
				// drawn start and a fixed stride reach every key.
				key := strconv.Itoa((op*7919 + edit*31 + deletes) % keys)
				if (op*31+edit)%10 < deletes {
					_, was := want[key]
					if e.Delete(key) != was {
						t.Fatalf("Delete(%q) does not report %v", key, was)
					}
					delete(want, key)
					if was {
						written[shardOf(hashOf(key))] = true
					}
				} else {
					want[key] = edit<<20 | op
					e.Set(key, want[key])
					written[shardOf(hashOf(key))] = true
				}
				if v, ok := e.Get(key); v != want[key] || ok != has(want, key) {
					t.Fatalf("editor's Get(%q): %d, %v", key, v, ok)
				}
			}
			if e.Len() != len(want) || e.ShardsCloned() != len(written) {
				t.Fatalf("Len %d of %d, ShardsCloned %d of %d", e.Len(), len(want), e.ShardsCloned(), len(written))
			}
			next := e.Freeze()
			if (next == m) != (len(written) == 0) {
				t.Fatalf("map replaced: %v, shards written: %d", next != m, len(written))
			}
			m = next
			old = append(old, version{m, maps.Clone(want)})
		}
		for i, v := range old {
			if got := collect(t, v.m); !maps.Equal(got, v.want) {
				t.Fatalf("map %d of %d has changed: %d keys, want %d", i, len(old), len(got), len(v.want))
			}
			for k := range keys {
				key := strconv.Itoa(k)
				got, ok := v.m.Get(key)
				if want, has := v.want[key]; got != want || ok != has {
					t.Fatalf("map %d: Get(%q) = %d, %v; want %d, %v", i, key, got, ok, want, has)
				}
			}
		}
	})
}

func has(m map[string]int, key string) bool { _, ok := m[key]; return ok }

// TestRandomEdits draws every single operation, on few keys.
func TestRandomEdits(t *testing.T) {
	key := rapid.StringN(0, 2, 4)
	rapid.Check(t, func(t *rapid.T) {
		var m *Map[int]
		e := m.Edit()
		want := map[string]int{}
		var frozen []*Map[int]
		var wants []map[string]int
		t.Repeat(map[string]func(*rapid.T){
			"set": func(t *rapid.T) {
				k, v := key.Draw(t, "key"), rapid.Int().Draw(t, "value")
				e.Set(k, v)
				want[k] = v
			},
			"delete": func(t *rapid.T) {
				k := key.Draw(t, "key")
				if e.Delete(k) != has(want, k) {
					t.Fatalf("Delete(%q) does not report whether it was there", k)
				}
				delete(want, k)
			},
			"freeze": func(t *rapid.T) {
				m = e.Freeze()
				frozen, wants = append(frozen, m), append(wants, maps.Clone(want))
				if rapid.Bool().Draw(t, "newEditor") {
					e = m.Edit() // else: a late write through the old one
				}
			},
			"": func(t *rapid.T) {
				if got := maps.Collect(e.All()); !maps.Equal(got, want) || e.Len() != len(want) {
					t.Fatalf("editor has %v, Len %d; want %v", got, e.Len(), want)
				}
				for i := range frozen {
					if got := collect(t, frozen[i]); !maps.Equal(got, wants[i]) {
						t.Fatalf("map %d has %v, want %v", i, got, wants[i])
					}
				}
			},
		})
	})
}

func TestGetBytesGivesTheStoredString(t *testing.T) {
	first := fmt.Sprint("topic", 1)
	e := new(Map[int]).Edit()
	e.Set(first, 1)
	e.Set(fmt.Sprint("topic", 1), 2)
	key := []byte("topic1")
	for name, get := range map[string]func([]byte) (string, int, bool){"editor": e.GetBytes, "map": e.Freeze().GetBytes} {
		stored, v, ok := get(key)
		if !ok || v != 2 || unsafe.StringData(stored) != unsafe.StringData(first) {
			t.Errorf("%s: %q, %d, %v; want the first key's own string and 2", name, stored, v, ok)
		}
	}
}

func TestCostFollowsTheChange(t *testing.T) {
	m := filled(20_000)
	tests := map[string]struct {
		edit   func(*Editor[int])
		cloned int
	}{
		"nothing":           {func(*Editor[int]) {}, 0},
		"deleteAbsent":      {func(e *Editor[int]) { e.Delete("absent") }, 0},
		"read":              {func(e *Editor[int]) { e.Get(benchKey(1)) }, 0},
		"setOne":            {func(e *Editor[int]) { e.Set(benchKey(1), 0) }, 1},
		"sameKeyThreeTimes": {func(e *Editor[int]) { e.Set("new", 0); e.Delete("new"); e.Set("new", 0) }, 1},
		"all": {func(e *Editor[int]) {
			for k := range m.All() {
				e.Delete(k)
			}
		}, shardCount},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			e := m.Edit()
			tt.edit(e)
			next := e.Freeze()
			if e.ShardsCloned() != tt.cloned {
				t.Errorf("ShardsCloned %d, want %d", e.ShardsCloned(), tt.cloned)
			}
			other := 0
			if next != m {
				for i := range m.shards {
					if next.shards[i] != m.shards[i] {
						other++
					}
				}
			}
			if other != tt.cloned {
				t.Errorf("%d shards differ, want %d", other, tt.cloned)
			}
		})
	}
}

func TestLookupsDoNotAllocate(t *testing.T) {
	m := filled(1000)
	hit, miss := []byte(benchKey(7)), []byte("absent, and longer than any buffer on the stack")
	tests := map[string]func(){
		"getHit":    func() { m.Get("topic-7-orders") },
		"bytesHit":  func() { m.GetBytes(hit) },
		"bytesMiss": func() { m.GetBytes(miss) },
	}
	for name, lookup := range tests {
		if n := testing.AllocsPerRun(100, lookup); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

func TestAllStopsWhenTold(t *testing.T) {
	seen := 0
	for range filled(1000).All() {
		if seen++; seen == 3 {
			break
		}
	}
	if seen != 3 {
		t.Errorf("%d keys seen after a break at 3", seen)
	}
}
