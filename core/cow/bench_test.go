package cow

import (
	"fmt"
	"testing"
)

var sizes = []int{10_000, 200_000}

func BenchmarkGet(b *testing.B) {
	for _, n := range sizes {
		m := filled(n)
		hits, misses := make([][]byte, 1<<14), make([][]byte, 1<<14)
		for i := range hits {
			hits[i] = []byte(benchKey(i * 7919 % n))
			misses[i] = []byte(benchKey(n + i))
		}
		for name, keys := range map[string][][]byte{"hit": hits, "miss": misses} {
			b.Run(fmt.Sprintf("keys=%d/%s", n, name), func(b *testing.B) {
				b.ReportAllocs()
				found := 0
				for i := 0; b.Loop(); i++ {
					if _, _, ok := m.GetBytes(keys[i&(len(keys)-1)]); ok {
						found++
					}
				}
				if (found > 0) != (name == "hit") {
					b.Fatalf("%d found", found)
				}
			})
		}
	}
}

// BenchmarkEdit changes some values of a map and freezes it.
func BenchmarkEdit(b *testing.B) {
	for _, n := range append([]int{0, 300}, sizes...) {
		m := filled(n)
		for _, changes := range []int{1, 16, 1000} {
			if changes > max(n, 1) {
				continue
			}
			keys := make([]string, changes)
			for i := range keys {
				keys[i] = benchKey(i)
			}
			b.Run(fmt.Sprintf("keys=%d/changes=%d", n, changes), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					e := m.Edit()
					for i, k := range keys {
						e.Set(k, i)
					}
					e.Freeze()
				}
			})
		}
	}
}

// BenchmarkFill builds a map from nothing in one edit.
func BenchmarkFill(b *testing.B) {
	for _, n := range sizes {
		b.Run(fmt.Sprintf("keys=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				filled(n)
			}
		})
	}
}
