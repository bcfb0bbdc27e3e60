package namesrv

import "sync/atomic"

// ring holds the last values that one goroutine, its owner, has pushed. They are numbered from 1.
//
// Concurrency contract
//
//	Owner:    one goroutine pushes and never waits.
//	Readers:  any goroutine, without a lock: newest first, then the slot of a number. A slot that
//	          holds another number was written over meanwhile; its value is gone.
//	Mutable:  slots and newest, by the owner. What a slot points to never changes.
//	Frees:    the garbage collector, once a slot is written over and nobody reads.
type ring[T any] struct {
	slots  []atomic.Pointer[numbered[T]]
	newest atomic.Uint64 // number of the last value pushed; stored after its slot
}

type numbered[T any] struct {
	number uint64
	value  T
}

func newRing[T any](size int) *ring[T] {
	return &ring[T]{slots: make([]atomic.Pointer[numbered[T]], size)}
}

// push appends values. Owner only.
func (r *ring[T]) push(values ...T) {
	if over := len(values) - len(r.slots); over > 0 {
		values = values[over:]
	}
	block := make([]numbered[T], len(values))
	n := r.newest.Load()
	for i, v := range values {
		n++
		block[i] = numbered[T]{n, v}
		r.slots[n%uint64(len(r.slots))].Store(&block[i])
	}
	r.newest.Store(n)
}

// bounds are the numbers of the oldest and the newest value; 1 and 0 if there is none.
func (r *ring[T]) bounds() (oldest, newest uint64) {
	newest = r.newest.Load()
	if size := uint64(len(r.slots)); newest >= size {
		return newest - size + 1, newest
	}
	return 1, newest
}

// at returns the value of a number; ok is false if it is gone or yet to come.
func (r *ring[T]) at(number uint64) (v *T, ok bool) {
	p := r.slots[number%uint64(len(r.slots))].Load()
	if p == nil || p.number != number {
		return nil, false
	}
	return &p.value, true
}
