package namesrv

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/waymark-mq/waymark/core"
	"github.com/waymark-mq/waymark/netpoll"
)

// Metrics is what a server has counted since its start, and what it holds now. Counters never go back.
type Metrics struct {
	State State
	// Net are the connections' counters; Net.Missing event loops hadn't answered when the time was up, and count, here too, as
	// they did when last asked.
	Net netpoll.Stats

	Requests      []RequestMetrics
	RouteRequests uint64 // route queries
	Clients       []ClientMetrics

	Brokers     []BrokerMetrics // by cluster, name, id and address
	Topics      int
	SnapshotAge time.Duration  // since something last changed in the table
	Provisional int            // restored brokers that haven't registered; not in Brokers
	RouteFile   RouteFileStats // zero without routeSnapshotPath

	Events        []EventMetrics // every kind is present
	Recognised    uint64         // registrations found the same as before, without decoding
	ChangedTopics Histogram      // of registrations that were not the same

	LaneWait, Decoding, QueueWait, StepTime Histogram // of the write lane, nanoseconds
	StepSize                                Histogram // commands in a step of the table
	WriteBytes, WriteLimit                  int64     // held by write requests that wait; above it registrations are refused
	WriteQueue, DiskQueue, ListQueue        int       // changes that wait for the writer; for the disk; list answers

	KVWrite, KVFailed Histogram // writes of the KV file, nanoseconds
	KVBatch           Histogram // requests in one

	Lookout       LookoutMetrics
	Access        AccessStats
	Panics        uint64 // faults off the event loops; Net has those on them
	UnknownBeats  uint64 // heartbeats (904) of brokers that aren't in the table
	BadOrderConfs uint64 // order configurations that clients can't read: put, refused ones too, or in the file at the start
	// AbsentOrderBrokers are the order configurations that name a broker that isn't in the table.
	AbsentOrderBrokers int
	Peers              PeerList
	TLSReloads         uint64 // changes of the certificate's files that were taken in
	TLSUnloaded        uint64 // and that were no use
}

// RequestMetrics are the requests of one code that came to the same.
type RequestMetrics struct {
	Code     string // Apache's name in lower case, or "other"
	Class    string // route-read, broker-control or admin
	Response string // Apache's name of the response code in lower case; "other", or "none" without an answer
	Result   string // success, oneway or process_request_failed
	Outcome  string // success, rejected or error
	Count    uint64
	// Latency is from the read event to the answer's write, nanoseconds. What loops answered within the last millisecond may be
	// in Count alone.
	Latency Histogram
}

// ClientMetrics are the open connections whose first request said the same of its sender.
type ClientMetrics struct {
	Language, Version string
	Conns             int
}

// BrokerMetrics is a live broker that has registered. Its names are as it sent them: any bytes.
type BrokerMetrics struct {
	Cluster, Name, Addr string
	ID                  int64
	Silent              time.Duration // since its last sign of life
	Suspect             bool          // held by the expiry guard
}

// EventMetrics is how often something happened to a broker.
type EventMetrics struct {
	Kind  string
	Count uint64
}

// maxOrderPairs bounds the broker:queues pairs of order configurations that are looked at for AbsentOrderBrokers.
const maxOrderPairs = 10_000

// lastTallies is what the loops had counted when they last told.
type lastTallies struct {
	mu    sync.Mutex
	loops []*loopTally
}

// loopTally is a copy of a loop's tally.
type loopTally struct {
	cells   [len(requestKinds)][results]tallyCell
	clients []clientCount

	unknownBeats uint64
}

type clientCount struct {
	kind  clientKind
	conns int
}

func (t *loopTally) copyFrom(l *tally) {
	t.cells, t.unknownBeats = l.cells, l.unknownBeats
	t.clients = t.clients[:0] // a loop may be visited again at the stop
	for kind, n := range l.clients {
		t.clients = append(t.clients, clientCount{kind, n})
	}
}

// Metrics collects; ctx bounds the wait for busy event loops. Any goroutine, once started.
func (s *Server) Metrics(ctx context.Context) *Metrics {
	snapshot, now := s.table.Load(), s.clock.Now()
	m := &Metrics{
		State:         s.State(),
		Topics:        snapshot.Topics(),
		SnapshotAge:   time.Duration(now - s.counts.published.Load()),
		Recognised:    uint64(s.unchanged.Load()),
		ChangedTopics: s.counts.changedTopics.read(),
		LaneWait:      s.counts.laneWait.read(), Decoding: s.counts.decoding.read(),
		QueueWait: s.counts.queueWait.read(), StepTime: s.counts.stepTime.read(), StepSize: s.counts.stepSize.read(),
		WriteBytes: s.writeBytes.Load(), WriteLimit: s.maxWriteBytes, WriteQueue: s.changes.len(), DiskQueue: s.durables.len(), ListQueue: len(s.listJobs),
		KVWrite: s.counts.kvWrite.read(), KVFailed: s.counts.kvFailed.read(), KVBatch: s.counts.kvBatch.read(),
		BadOrderConfs: uint64(s.orderConfs.Load()), AbsentOrderBrokers: snapshot.OrderConfsOfAbsent(maxOrderPairs),
		Panics: s.counts.panics.Load(), Lookout: s.lookoutMetrics(),
		Peers: s.Peers(),
	}
	if s.tls != nil {
		m.TLSReloads, m.TLSUnloaded = s.tls.Reloads()
	}
	m.RouteFile = s.routeFileStats(now)
	m.addEvents(s.counts)
	m.addBrokers(snapshot, now)
	if m.State == Starting {
		return m // no loops yet
	}
	m.Access = s.AccessStats()
	m.Net, _ = s.net.Stats(ctx) // Missing says it
	m.addTallies(s.collectTallies(ctx), &s.counts.offLoop)
	return m
}

// collectTallies copies the loops' tallies, each on its loop.
func (s *Server) collectTallies(ctx context.Context) []*loopTally {
	fresh := make([]*loopTally, s.net.Loops())
	for i := range fresh {
		fresh[i] = &loopTally{}
	}
	told, _ := s.net.Visit(ctx, func(i int, h netpoll.LoopHandler) { fresh[i].copyFrom(h.(*loop).tally) })
	s.tallies.mu.Lock()
	defer s.tallies.mu.Unlock()
	if s.tallies.loops == nil {
		s.tallies.loops = make([]*loopTally, len(fresh))
	}
	for i := range fresh {
		switch {
		case told[i]:
			s.tallies.loops[i] = fresh[i]
		case s.tallies.loops[i] == nil:
			s.tallies.loops[i] = &loopTally{}
		}
	}
	return slices.Clone(s.tallies.loops)
}

func (m *Metrics) addEvents(c *counts) {
	for kind := range c.events {
		m.Events = append(m.Events, EventMetrics{eventKinds[kind].name, c.events[kind].Load()})
	}
	m.Events = append(m.Events, EventMetrics{kindRejected, c.rejected.Load()})
}

func (m *Metrics) addBrokers(s *core.Snapshot, now int64) {
	for l := range s.AllLive() {
		if l.Provisional {
			m.Provisional++
		}
		if last, alive := l.Cell.Last(); alive {
			silent := time.Duration(max(0, now-last)) // a beat may have come since
			_, suspect := l.Cell.Suspect()
			m.Brokers = append(m.Brokers, BrokerMetrics{l.ClusterName, l.BrokerName, l.BrokerAddr, l.BrokerID, silent, suspect})
		}
	}
	slices.SortFunc(m.Brokers, func(a, b BrokerMetrics) int {
		return cmp.Or(strings.Compare(a.Cluster, b.Cluster), strings.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID), strings.Compare(a.Addr, b.Addr))
	})
}

func (m *Metrics) addTallies(loops []*loopTally, offLoop *sharedTally) {
	for kind := range requestKinds {
		for r := range results {
			m.addRequests(requestKind(kind), r, loops, offLoop)
		}
	}
	conns := map[clientKind]int{}
	for _, l := range loops {
		m.UnknownBeats += l.unknownBeats
		for _, c := range l.clients {
			conns[c.kind] += c.conns
		}
	}
	for kind, n := range conns {
		language, version := kind.names()
		m.Clients = append(m.Clients, ClientMetrics{language, version, n})
	}
	slices.SortFunc(m.Clients, func(a, b ClientMetrics) int {
		return cmp.Or(strings.Compare(a.Language, b.Language), strings.Compare(a.Version, b.Version))
	})
}

// addRequests merges the histograms of one kind and result, if there are any requests of it.
func (m *Metrics) addRequests(kind requestKind, r result, loops []*loopTally, offLoop *sharedTally) {
	k, text := &requestKinds[kind], &resultTexts[r]
	request := RequestMetrics{
		Code: requestNames[kind], Class: string(k.class), Response: text.response, Result: text.result, Outcome: text.outcome,
		Latency: Histogram{Bounds: latencyBounds[:], Counts: make([]uint64, histogramBuckets)},
	}
	for _, l := range loops {
		c := &l.cells[kind][r]
		request.Count += c.waiting
		request.Latency.add(c.counts[:], c.sum)
	}
	shared := &offLoop.cells[kind][r]
	var counts [histogramBuckets]uint64
	for i := range counts {
		counts[i] = shared.counts[i].Load()
	}
	request.Latency.add(counts[:], shared.sum.Load())
	for _, n := range request.Latency.Counts {
		request.Count += n
	}
	if kind == routeRequest {
		m.RouteRequests += request.Count
	}
	if request.Count > 0 {
		m.Requests = append(m.Requests, request)
	}
}

func (h *Histogram) add(counts []uint64, sum int64) {
	for i, n := range counts {
		h.Counts[i] += n
	}
	h.Sum += sum
}
