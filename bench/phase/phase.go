// Package phase divides a run into its phases and has the clock that all parts of a run share.
package phase

import (
	"time"

	"github.com/waymark-mq/waymark/profiles"
)

var base = time.Now()

// Now is monotonic, in nanoseconds.
func Now() int64 { return int64(time.Since(base)) }

// SleepUntil returns at that time of Now at the earliest.
func SleepUntil(at int64) {
	for d := at - Now(); d > 0; d = at - Now() {
		time.Sleep(time.Duration(d))
	}
}

// Phases are the times of Now at which a run's phases begin. Phases of no length begin with the next one.
type Phases struct{ Warmup, Quiet, Measured, End int64 }

// Of lays a workload's phases out from start on.
func Of(w *profiles.Workload, start int64) Phases {
	p := Phases{Warmup: start}
	p.Quiet = p.Warmup + int64(w.Warmup)
	p.Measured = p.Quiet + int64(w.Quiet)
	p.End = p.Measured + int64(w.Duration)
	return p
}
