package namesrv

import "sync"

// queue hands values from any goroutine to one consumer. push never waits, so an
// event loop may call it; what is in it is bounded by the budgets of whoever pushes.
type queue[T any] struct {
	mu    sync.Mutex
	items []T
	wake  chan struct{} // holds a token while items may wait
}

func newQueue[T any]() *queue[T] { return &queue[T]{wake: make(chan struct{}, 1)} }

func (q *queue[T]) push(v T) {
	q.mu.Lock()
	q.items = append(q.items, v)
	q.mu.Unlock()
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// takeAll returns all that waits and keeps buf's memory for what comes next.
func (q *queue[T]) takeAll(buf []T) []T {
	clear(buf)
	if cap(buf) > maxKeptChanges {
		buf = nil
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	items := q.items
	q.items = buf[:0]
	return items
}

// len is how many items wait.
func (q *queue[T]) len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.items)
}
