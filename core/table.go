package core

import (
	"sync/atomic"

	"golang.org/x/sys/cpu"

	"github.com/waymark-mq/waymark/core/cow"
	"github.com/waymark-mq/waymark/core/wheel"
)

// wheelTick is the grain of the wheel in nanoseconds: its cost, not its precision.
const wheelTick = 100 * nanosPerMilli

// Table is the routing table: a published Snapshot and the writer's indexes beside it.
//
// Concurrency contract
//
//	Owner:    one goroutine, the writer, calls Step; it alone touches any field but current.
//	Publish:  one atomic store at the end of a step that changed something.
//	Readers:  any goroutine: one Load per request, then plain reads.
//	Mutable:  LiveCells, by readers too; see there.
//	Order:    Step returns after it published; what it leaves to do (answers, closes,
//	          notifications) is done after that, so a peer that saw its answer sees the
//	          change in its next query on any connection.
//	Frees:    the garbage collector; a snapshot owns no resource.
type Table struct {
	_       cpu.CacheLinePad
	current atomic.Pointer[Snapshot] // read by every query, on every core
	_       cpu.CacheLinePad         // what follows is written by one

	// Drafts of the batch under way, begun from the current snapshot.
	topics   *cow.Editor[*TopicRoute]
	mappings *cow.Editor[*topicMappings]
	live     *cow.Editor[*Live]
	brokers  brokerDraft // and the writer's maps of groups and clusters
	queues   settingIndex
	kv       kvDraft
	settings *Settings
	filtered int
	bytes    int // length of all topic names as lists have them
	// What the batch has changed, for the answers made of many topics.
	namesChanged  bool // a topic came or went
	topicsChanged int  // times that a topic was given other queues or was removed

	// Private indexes, kept from batch to batch.
	batch    uint64
	index    topicIndex
	lists    queueLists
	owned    map[ConnID]map[*LiveCell]struct{} // cells by the connection that registered them
	mapped   map[string]map[string]struct{}    // broker name → topics with a mapping of it or by it
	wheel    *wheel.Wheel[*LiveCell]
	guard    expiryGuard
	restored *RestoreStatus // nil without, and once the grace is over

	edits    *brokerEdits // nil unless wanted
	gone     []string     // topics that lost their last broker, until the event that says why
	out      *Outcome     // of the step under way
	applying int          // index of the command under way
	proofs   proofs       // nothing but in builds with internal checks
}

// NewTable returns a table without brokers. kv may be nil; it is copied.
func NewTable(s Settings, kv map[string]map[string]string) *Table {
	t := &Table{
		queues:  settingIndex{table: &settingTable{}, index: map[queueSetting]uint32{}},
		brokers: newBrokerDraft(),
		owned:   map[ConnID]map[*LiveCell]struct{}{},
		mapped:  map[string]map[string]struct{}{},
		wheel:   wheel.New[*LiveCell](wheelTick, 0),
	}
	t.lists = newQueueLists(&t.queues, &t.brokers)
	first := emptySnapshot(s, newKVTable(kv))
	first.queues = t.queues.table
	t.current.Store(first)
	return t
}

// Load returns the current snapshot. Any goroutine; one load, no lock.
func (t *Table) Load() *Snapshot { return t.current.Load() }

// Step applies the commands in order at time now (monotonic nanoseconds), publishes the
// result once, and tells in out what each came to and what is left to do. It is
// deterministic: no socket, file, goroutine or clock inside. out is overwritten.
func (t *Table) Step(now int64, batch []Command, out *Outcome) {
	out.Results = append(out.Results[:0], make([]Result, len(batch))...)
	clear(out.Effects) // or they would hold what they name until a step has as many
	out.Effects = out.Effects[:0]
	t.out = out
	t.applying = 0
	base := t.current.Load()
	t.proofs.retire(base)
	t.begin(base)
	for i, c := range batch {
		t.applying = i
		t.apply(now, c, &out.Results[i])
	}
	t.settle()
	out.Work = t.work()
	t.publish(base)
	t.check()
	t.out = nil
}

// Applying is the index of the last command that a step has begun. The writer asks when a step ended in a fault.
func (t *Table) Applying() int { return t.applying }

func (t *Table) begin(s *Snapshot) {
	t.batch++
	t.topics, t.mappings, t.live = s.topics.Edit(), s.mappings.Edit(), s.live.Edit()
	t.brokers.begin(s.brokers)
	t.queues.begin(t.batch)
	t.kv = kvDraft{kvTable: s.kv}
	t.settings, t.filtered, t.bytes = s.settings, s.filtered, s.topicBytes
	t.namesChanged, t.topicsChanged = false, 0
	t.lists.begin(t.batch)
}

// work is what the batch under way has come to.
func (t *Table) work() Work {
	return Work{
		Topics: t.topicsChanged,
		Lists:  t.lists.made,
		Queues: t.lists.copied,
		Shards: t.topics.ShardsCloned() + t.mappings.ShardsCloned() + t.live.ShardsCloned(),
	}
}

// publish is the only place that stores the snapshot.
func (t *Table) publish(old *Snapshot) {
	s := *old
	s.topics, s.mappings, s.live = t.topics.Freeze(), t.mappings.Freeze(), t.live.Freeze()
	s.brokers, s.queues, s.kv = t.brokers.freeze(old.brokers), t.queues.table, t.kv.freeze()
	s.settings, s.filtered, s.topicBytes, s.restored = t.settings, t.filtered, t.bytes, t.restored
	t.topics, t.mappings, t.live = nil, nil, nil
	if !t.brokers.textsSame || t.lists.dropped >= mostDeadTexts {
		s.texts, t.lists.dropped = &routeTexts{}, 0
	}
	if s == *old {
		return
	}
	if t.namesChanged {
		s.topicList = &encoded{}
	}
	if t.topicsChanged > 0 {
		s.unitLists = &[numberOfUnitLists]encoded{}
	}
	if t.topicsChanged > 0 || !t.brokers.textsSame {
		s.clusterLists = &clusterLists{}
	}
	t.current.Store(&s)
}

func (t *Table) apply(now int64, c Command, r *Result) {
	t.edits.forget()
	switch c := c.(type) {
	case *RegisterBroker:
		t.register(now, c, r)
	case *UnregisterBroker:
		t.unregister(c)
	case *EndConnection:
		t.endConnection(now, c)
	case *Tick:
		t.tick(now, c)
	case *DeclareDead:
		r.Removed = t.declareDead(c)
	case *QueryDataVersion:
		t.queryDataVersion(now, c, r)
	case *DeleteTopic:
		t.editTopic(c.Topic, func() { t.deleteTopic(c) })
	case *RegisterTopic:
		t.editTopic(c.Topic, func() { t.registerTopic(c) })
	case *WipeWritePerm:
		r.Count = t.editPerm(EventWriteWiped, c.By, c.BrokerName, withoutWrite)
	case *AddWritePerm:
		r.Count = t.editPerm(EventWriteAdded, c.By, c.BrokerName, func(int32) int32 { return permReadWrite })
	case *PutKV:
		t.putKV(c)
	case *DeleteKV:
		t.deleteKV(c)
	case *Restore:
		t.restore(now, c, r)
	case *DropRestored:
		t.dropRestored(c, r)
	case *SetSettings:
		s := c.Settings
		t.settings = &s
	}
}

// effect leaves something to do. Effects are in the order of the commands that they come of.
func (t *Table) effect(e Effect) {
	switch e := e.(type) {
	case *Event:
		e.Command = t.applying
	case *Edit:
		e.Command = t.applying
	}
	t.out.Effects = append(t.out.Effects, e)
}
