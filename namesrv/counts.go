package namesrv

import (
	"sync/atomic"

	"github.com/waymark-mq/waymark/core"
)

// maxEventKinds is room for core's kinds of events; what would be beyond shares the last place.
const maxEventKinds = 32

// eventNames are the kinds of events as metrics and the API show them.
var eventNames = [maxEventKinds]string{
	core.EventRegistered:        "registered",
	core.EventChanged:           "changed",
	core.EventUnchanged:         "unchanged",
	core.EventRefused:           "refused",
	core.EventConflict:          "conflict",
	core.EventReplaced:          "replaced",
	core.EventUnregistered:      "unregistered",
	core.EventClosed:            "closed",
	core.EventExpired:           "expired",
	core.EventMoved:             "moved",
	core.EventTwoClusters:       "two_clusters",
	core.EventTimeoutClamped:    "timeout_clamped",
	core.EventDeadlinesShifted:  "deadlines_shifted",
	core.EventPartsDelete:       "parts_delete",
	core.EventExpiryHeld:        "expiry_held",
	core.EventExpiryGuardEnded:  "expiry_guard_ended",
	core.EventTopicDeleted:      "topic_deleted",
	core.EventTopicRegistered:   "topic_registered",
	core.EventWriteWiped:        "write_permission_wiped",
	core.EventWriteAdded:        "write_permission_added",
	core.EventKVPut:             "kv_put",
	core.EventKVDeleted:         "kv_deleted",
	core.EventRestored:          "restored",
	core.EventUnconfirmed:       "unconfirmed",
	core.EventRefusedConnection: "refused_connection",
	core.EventRestoreEnded:      "restore_ended",
}

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
	events        [maxEventKinds]atomic.Uint64
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
	c.events[min(int(e.Kind), maxEventKinds-1)].Add(1)
	switch e.Kind {
	case core.EventRegistered, core.EventChanged:
		c.changedTopics.observe(int64(e.TopicsChanged))
	}
}
