package namesrv

import (
	"sync/atomic"

	"github.com/waymark-mq/waymark/core"
)

// counts is what is counted off the loops. Atomics, since any goroutine may read them at any time, also while the one that writes
// them is stuck; most have one writer.
type counts struct {
	offLoop sharedTally

	// Of a request of the write lane, in the order of its way.
	laneWait  sharedHistogram // from the read to its turn with a decoder, nanoseconds
	decoding  sharedHistogram // of a registration, nanoseconds
	queueWait sharedHistogram // from there, or from the disk, to the step that applied it, nanoseconds
	stepTime  sharedHistogram // of a step of the table, its publish included, nanoseconds
	stepSize  sharedHistogram // commands in a step

	changedTopics sharedHistogram // of a registration that wasn't unchanged
	events        [core.EventKinds]atomic.Uint64
	rejected      atomic.Uint64 // registrations that didn't come to the table; any goroutine
	panics        atomic.Uint64 // faults off the loops; any goroutine
	published     atomic.Int64  // when a step last published a snapshot, Clock's time

	kvWrite, kvFailed sharedHistogram // of writes of the KV file, nanoseconds
	kvBatch           sharedHistogram // requests in one
}

func newCounts(now int64) *counts {
	c := &counts{}
	for _, h := range []*sharedHistogram{&c.laneWait, &c.decoding, &c.queueWait, &c.stepTime, &c.kvWrite, &c.kvFailed} {
		h.bounds = &latencyBounds
	}
	for _, h := range []*sharedHistogram{&c.stepSize, &c.changedTopics, &c.kvBatch} {
		h.bounds = &sizeBounds
	}
	c.published.Store(now)
	return c
}

// event counts what happened to a broker. Writer only.
func (c *counts) event(e *core.Event) {
	c.events[e.Kind].Add(1)
	switch e.Kind {
	case core.EventRegistered, core.EventChanged:
		c.changedTopics.observe(int64(e.TopicsChanged))
	}
}
