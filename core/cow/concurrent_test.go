package cow

import (
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
)

// TestReadersWhileEditing has readers on whatever map is published while one
// goroutine edits: each map holds one round's value under every key.
func TestReadersWhileEditing(t *testing.T) {
	const keys, rounds, readers = 500, 200, 3
	var current atomic.Pointer[Map[int]]
	var done atomic.Bool
	var wg sync.WaitGroup
	for range readers {
		wg.Go(func() {
			key := make([]byte, 0, 8)
			for !done.Load() {
				m := current.Load()
				round, any := -1, false
				for k := range keys {
					key = strconv.AppendInt(key[:0], int64(k), 10)
					_, v, ok := m.GetBytes(key)
					if !ok {
						continue
					}
					if any && v != round {
						t.Errorf("key %d is of round %d in a map of round %d", k, v, round)
						return
					}
					round, any = v, true
				}
				for k, v := range m.All() {
					if v != round {
						t.Errorf("key %s is of round %d in a map of round %d", k, v, round)
						return
					}
				}
			}
		})
	}
	for round := range rounds {
		e := current.Load().Edit()
		for k := range keys {
			if (k+round)%3 == 0 {
				e.Delete(strconv.Itoa(k))
			} else {
				e.Set(strconv.Itoa(k), round)
			}
		}
		current.Store(e.Freeze())
	}
	done.Store(true)
	wg.Wait()
}
