// Package linelimit thins out log lines: of each kind one in a while, with the number of those left out.
package linelimit

import (
	"hash/maphash"
	"sync"
	"time"
)

// MaxKinds is how many kinds are remembered.
const MaxKinds = 4096

// forgetEvery is how far apart the kinds are looked through at the least, in nanoseconds: a flood of fresh ones would
// otherwise look through all of them with each.
const forgetEvery = int64(time.Second)

// Kinds lets one line of a kind through in each period and counts the others. It remembers a bounded number of kinds, and of each
// a hash, since kinds hold what peers send; what goes beyond shares one. Any goroutine.
type Kinds struct {
	now  func() int64
	seed maphash.Seed

	mu     sync.Mutex
	kinds  map[uint64]*kind
	forgot int64 // when kinds were last looked through
}

type kind struct {
	until   int64 // no line before
	skipped int
}

// New makes one that goes by now, in nanoseconds.
func New(now func() int64) *Kinds {
	return &Kinds{now: now, seed: maphash.MakeSeed(), kinds: map[uint64]*kind{}, forgot: now()}
}

// Allow reports whether a line of the kind may be written now, none of it after that for the period, how many were not
// since the last, and whether it is the first of its kind that is remembered.
func (l *Kinds) Allow(what string, period time.Duration) (skipped int, first, ok bool) {
	now := l.now()
	hash := maphash.String(l.seed, what)
	l.mu.Lock()
	defer l.mu.Unlock()
	k, known := l.kinds[hash]
	if !known {
		if len(l.kinds) >= MaxKinds && now-l.forgot >= forgetEvery {
			l.forget(now)
		}
		if len(l.kinds) >= MaxKinds {
			hash = 0
		}
		if k, known = l.kinds[hash]; !known {
			l.kinds[hash] = &kind{until: now + int64(period)}
			return 0, true, true
		}
	}
	if now < k.until {
		k.skipped++
		return 0, false, false
	}
	skipped, k.skipped, k.until = k.skipped, 0, now+int64(period)
	return skipped, false, true
}

// forget drops the kinds whose period is over.
func (l *Kinds) forget(now int64) {
	l.forgot = now
	for hash, k := range l.kinds {
		if now >= k.until {
			delete(l.kinds, hash)
		}
	}
}
