// Package ratelimit bounds how often one address does something, in memory of a fixed size, without a lock.
package ratelimit

import (
	"hash/maphash"
	"math"
	"net/netip"
	"sync/atomic"
)

const (
	rows    = 4
	rowBits = 14 // four of these are taken out of one hash

	nanosPerSecond = 1_000_000_000
)

// Limiter lets each address through so many times a second, all at once or spread. An IPv6 address counts as its /64: that is what one
// customer has.
//
// It keeps no table of addresses, which a flood of them would fill, but cells found by hashing, one in each of four rows (512 KiB in
// all). A cell holds the time until which what was let through has used up its share. An address may go on if one of its cells
// says so: it is held back for others' sake only if it shares all four with busy ones, so during a flood from so many addresses that
// all cells are busy.
//
// Any goroutine; of two that ask for the same address at the same instant, each may be let through where one would be.
// A nil Limiter lets everything through.
type Limiter struct {
	perSecond int
	interval  int64 // nanoseconds that one use takes up
	seed      maphash.Seed
	cells     [rows][1 << rowBits]atomic.Int64
}

// New makes a limiter; nil if perSecond is 0 or less. Above a thousand million nothing is held back.
func New(perSecond int) *Limiter {
	if perSecond <= 0 {
		return nil
	}
	return &Limiter{perSecond: perSecond, interval: int64(nanosPerSecond / perSecond), seed: maphash.MakeSeed()}
}

// PerSecond is the limit; 0 for nil.
func (l *Limiter) PerSecond() int {
	if l == nil {
		return 0
	}
	return l.perSecond
}

// Allow reports whether addr may go on at now (monotonic nanoseconds), and counts it if so.
func (l *Limiter) Allow(addr netip.Addr, now int64) bool {
	if l == nil {
		return true
	}
	cells := l.cellsOf(addr)
	for {
		least, at := cells.least()
		begins := max(least, now)
		if begins-now > nanosPerSecond-l.interval {
			return false
		}
		until := begins + l.interval
		if !cells[at].CompareAndSwap(least, until) {
			continue // somebody else of the address, or of a cell
		}
		for _, c := range cells {
			raise(c, until)
		}
		return true
	}
}

type cells [rows]*atomic.Int64

func (c *cells) least() (value int64, at int) {
	value = math.MaxInt64
	for i := range c {
		if v := c[i].Load(); v < value {
			value, at = v, i
		}
	}
	return value, at
}

func raise(c *atomic.Int64, to int64) {
	for v := c.Load(); v < to && !c.CompareAndSwap(v, to); v = c.Load() {
	}
}

func (l *Limiter) cellsOf(addr netip.Addr) (c cells) {
	const v6Network = 8 // bytes of a /64
	bytes := addr.Unmap().As16()
	key := bytes[:]
	if !addr.Unmap().Is4() {
		key = bytes[:v6Network]
	}
	h := maphash.Bytes(l.seed, key)
	for i := range c {
		c[i] = &l.cells[i][h&(1<<rowBits-1)]
		h >>= rowBits
	}
	return c
}
