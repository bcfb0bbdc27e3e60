package namesrv

import (
	"hash/maphash"
	"sync"
	"time"
)

// limiter lets one line of a kind through in each period and counts the others. It
// remembers a bounded number of kinds, and of each a hash, since kinds hold what
// peers send; what goes beyond shares one.
type limiter struct {
	now    func() int64
	period int64
	seed   maphash.Seed

	mu     sync.Mutex
	kinds  map[uint64]*limited
	forgot int64 // when kinds were last looked through
}

type limited struct {
	last    int64
	skipped int
}

const (
	maxLimitedKinds = 4096
	// forgetEvery is how far apart the kinds are looked through at the least, in nanoseconds: a flood of fresh ones would
	// otherwise look through all of them with each.
	forgetEvery = int64(time.Second)
)

func newLimiter(now func() int64, period time.Duration) *limiter {
	return &limiter{now: now, period: int64(period), seed: maphash.MakeSeed(), kinds: map[uint64]*limited{}, forgot: now()}
}

// allow reports whether a line of the kind may be written now, and how many were not since the last.
func (l *limiter) allow(what string) (skipped int, ok bool) {
	now := l.now()
	kind := maphash.String(l.seed, what)
	l.mu.Lock()
	defer l.mu.Unlock()
	k, known := l.kinds[kind]
	if !known {
		if len(l.kinds) >= maxLimitedKinds && now-l.forgot >= forgetEvery {
			l.forget(now)
		}
		if len(l.kinds) >= maxLimitedKinds {
			kind = 0
		}
		if k, known = l.kinds[kind]; !known {
			l.kinds[kind] = &limited{last: now}
			return 0, true
		}
	}
	if now-k.last < l.period {
		k.skipped++
		return 0, false
	}
	skipped, k.skipped, k.last = k.skipped, 0, now
	return skipped, true
}

// forget drops the kinds whose period is over.
func (l *limiter) forget(now int64) {
	l.forgot = now
	for kind, k := range l.kinds {
		if now-k.last >= l.period {
			delete(l.kinds, kind)
		}
	}
}

// burst lets so many lines through at once and then one in each period; it counts the
// others. One goroutine's own.
type burst struct {
	now     func() int64
	most    int64
	period  int64 // nanoseconds
	left    int64
	last    int64 // when left was last added to
	skipped int
}

// sharedBurst is a burst for any goroutine.
type sharedBurst struct {
	mu sync.Mutex
	burst
}

func (b *sharedBurst) allow() (skipped int, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.burst.allow()
}

// allowance bounds the lines of one kind: one for a subject in each period, and so many for all of them. Any goroutine.
type allowance struct {
	limit *limiter
	burst sharedBurst
}

func newAllowance(now func() int64, most int64, period time.Duration) *allowance {
	return &allowance{limit: newLimiter(now, time.Minute), burst: sharedBurst{burst: newBurst(now, most, period)}}
}

func newBurst(now func() int64, most int64, period time.Duration) burst {
	return burst{now: now, most: most, period: int64(period), left: most, last: now()}
}

// allow reports whether a line may be written now, and how many were not since the last.
func (b *burst) allow() (skipped int, ok bool) {
	if more := (b.now() - b.last) / b.period; more > 0 {
		b.last += more * b.period
		b.left = min(b.left+more, b.most)
	}
	if b.left == 0 {
		b.skipped++
		return 0, false
	}
	b.left--
	skipped, b.skipped = b.skipped, 0
	return skipped, true
}
