package namesrv

import (
	"sync/atomic"
	"time"
)

// measuredEvery is how far apart the latencies of requests of one kind and result are measured at the least, on one loop. A
// clock read costs as much as a fifth of a query; so a loop that answers more than a thousand reads a second of a kind measures
// those that come first in their millisecond, and the others count as the next one measured.
const measuredEvery = int64(time.Millisecond)

// tally counts the requests that a loop has answered, by kind and result. The loop's own: plain numbers, copied on the loop when
// somebody asks.
type tally struct {
	cells   [len(requestKinds)][results]tallyCell
	due     []*tallyCell // to be measured when the read event is over
	clients clientTally

	unknownBeats uint64 // heartbeats of brokers that aren't in the table
}

// tallyCell is a histogram of latencies, in which counting is cheap and measuring is rarer.
type tallyCell struct {
	waiting  uint64 // counted, and not in a bucket yet
	measured int64  // when a latency was last measured
	sum      int64
	counts   [histogramBuckets]uint64
}

// count notes a request at the time of its read event.
func (t *tally) count(kind requestKind, r result, now int64) {
	c := &t.cells[kind][r]
	c.waiting++
	if now-c.measured >= measuredEvery {
		c.measured = now
		t.due = append(t.due, c)
	}
}

// measure gives what is due a latency.
func (t *tally) measure(nanos int64) {
	bucket := latencyBounds.bucket(nanos)
	for _, c := range t.due {
		c.counts[bucket] += c.waiting
		c.sum += nanos * int64(c.waiting)
		c.waiting = 0
	}
	t.due = t.due[:0]
}

// Finished implements netpoll.Finisher.
func (l *loop) Finished() {
	if len(l.tally.due) > 0 {
		l.tally.measure(l.clock.Now() - l.now)
	}
}

// counted notes what became of the request in hand, unless somebody else will.
func (l *loop) counted() {
	switch {
	case l.result == later:
		return
	case l.cmd.IsOneway() && l.result != answeredDenied: // what was refused shows, whether somebody waits for the answer or not
		l.result = notAnswered
	}
	l.tally.count(kindOf(l.cmd.Code), l.result, l.now)
}

// countedBeat is counted for a heartbeat that knownBeat answered.
func (l *loop) countedBeat() {
	r := answeredOK
	if l.session.beat.oneway {
		r = notAnswered
	}
	l.tally.count(heartbeatRequest, r, l.now)
}

// asked is what has to be known of a request that is answered off its loop, to count it then.
type asked struct {
	request bool // it is one: the server's own changes and ends of connections aren't counted
	oneway  bool
	kind    requestKind
	at      int64 // when it was read
}

// forLater takes the request in hand off the loop's count.
func (l *loop) forLater() asked {
	l.result = later
	return asked{request: true, oneway: l.cmd.IsOneway(), kind: kindOf(l.cmd.Code), at: l.now}
}

// sharedTally counts the requests that are answered off the loops: by decoders, the persister, the writer, the lists goroutine and
// fallbacks. Atomics: all of them together are rarer than what a loop answers itself.
type sharedTally struct {
	cells [len(requestKinds)][results]struct {
		sum    atomic.Int64
		counts [histogramBuckets]atomic.Uint64
	}
}

// answered counts a request whose answer has been given to its connection. Any goroutine.
func (s *Server) answered(a asked, r result) {
	if !a.request {
		return
	}
	if a.oneway && r != failedRequest {
		r = notAnswered
	}
	nanos := s.clock.Now() - a.at
	c := &s.counts.offLoop.cells[a.kind][r]
	c.sum.Add(nanos)
	c.counts[latencyBounds.bucket(nanos)].Add(1)
}
