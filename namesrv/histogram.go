package namesrv

import (
	"sync/atomic"
	"time"
)

// histogramBuckets is the number of buckets of every histogram; the last has no bound.
const histogramBuckets = 16

// bounds are the upper bounds, included, of all buckets but the last.
type bounds [histogramBuckets - 1]int64

// latencyBounds are nanoseconds: Apache's bounds of rocketmq_rpc_latency from 1 ms on, and finer ones below, where a nameserver's
// answers are.
var latencyBounds = bounds{
	int64(10 * time.Microsecond), int64(25 * time.Microsecond), int64(50 * time.Microsecond),
	int64(100 * time.Microsecond), int64(250 * time.Microsecond), int64(500 * time.Microsecond),
	int64(time.Millisecond), int64(3 * time.Millisecond), int64(5 * time.Millisecond), int64(7 * time.Millisecond), int64(10 * time.Millisecond),
	int64(100 * time.Millisecond), int64(time.Second), int64(2 * time.Second), int64(3 * time.Second),
}

// sizeBounds are numbers of things.
var sizeBounds = bounds{1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 50_000, 100_000}

func (b *bounds) bucket(v int64) int {
	for i, most := range b {
		if v <= most {
			return i
		}
	}
	return histogramBuckets - 1
}

// Histogram is how often values fell between bounds.
type Histogram struct {
	Bounds []int64  // upper bounds, included, ascending; nanoseconds of latencies
	Counts []uint64 // one more: the last has no bound; not cumulative
	Sum    int64    // of the values
}

// sharedHistogram is one that several goroutines, none of them an event loop on the way of a query, write.
type sharedHistogram struct {
	bounds *bounds
	counts [histogramBuckets]atomic.Uint64
	sum    atomic.Int64
}

func (h *sharedHistogram) observe(v int64) {
	h.counts[h.bounds.bucket(v)].Add(1)
	h.sum.Add(v)
}

// read may miss what is being written: the sum and the counts are not of one moment.
func (h *sharedHistogram) read() Histogram {
	out := Histogram{Bounds: h.bounds[:], Counts: make([]uint64, histogramBuckets), Sum: h.sum.Load()}
	for i := range h.counts {
		out.Counts[i] = h.counts[i].Load()
	}
	return out
}
