package namesrv

import "time"

// Clock is the server's time. Tests pass one that they move themselves.
type Clock interface {
	// Now is monotonic time in nanoseconds from any fixed point. Any goroutine.
	Now() int64
	// Tick delivers a value about every d until stop is called.
	Tick(d time.Duration) (ticks <-chan time.Time, stop func())
}

// systemClock counts from the start of the process.
type systemClock struct{ start time.Time }

func (c systemClock) Now() int64 { return int64(time.Since(c.start)) }

func (c systemClock) Tick(d time.Duration) (<-chan time.Time, func()) {
	t := time.NewTicker(d)
	return t.C, t.Stop
}
