package namesrv

import (
	"sync"
	"time"

	"github.com/waymark-mq/waymark/internal/linelimit"
)

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

// allowance bounds the lines of one kind: one for a subject in a minute, and so many for all of them. Any goroutine.
type allowance struct {
	subjects *linelimit.Kinds
	burst    sharedBurst
}

func newAllowance(now func() int64, most int64, period time.Duration) *allowance {
	return &allowance{subjects: linelimit.New(now), burst: sharedBurst{burst: newBurst(now, most, period)}}
}

// of reports whether a line about the subject may be written now, and how many were not since the last.
func (a *allowance) of(subject string) (skipped int, ok bool) {
	skipped, _, ok = a.subjects.Allow(subject, time.Minute)
	return skipped, ok
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
