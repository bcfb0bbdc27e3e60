package core

import (
	"hash/maphash"
	"iter"
	"math"
	"slices"
	"strings"
)

// queueList is the queues of a topic, by broker name. Topics that the same brokers
// have with the same settings share one list, of which there are few: so memory doesn't
// grow with topics × brokers, and what the whole cluster's topics have in common is
// changed once.
type queueList struct {
	queues []queue // immutable

	// The writer's.
	sum    uint64     // of its queues' hashes, in any order
	next   *queueList // of the same sum
	topics []uint32   // ids of the topics that have it
	edit   *listEdit  // what waits for it; mostly nil
	born   uint32     // batch that made it, its low word
	dead   bool       // no topic had it any more
}

// noQueues is what a new topic begins with and a topic ends with; none has it between commands.
var noQueues = &queueList{}

// find returns the position of a group's queue, or -1. A scan: the words lie together,
// and comparing them beats a binary search by name up to several hundred.
func (l *queueList) find(group int) int {
	for i, q := range l.queues {
		if q.group() == group {
			return i
		}
	}
	return -1
}

// splice is a list that is yet to be: another with drop queues at one position replaced by add.
type splice struct {
	from     *queueList
	at, drop int
	add      []queue
}

func (s splice) sum() uint64 {
	sum := s.from.sum
	for _, q := range s.from.queues[s.at : s.at+s.drop] {
		sum -= hashQueue(q)
	}
	for _, q := range s.add {
		sum += hashQueue(q)
	}
	return sum
}

func (s splice) is(queues []queue) bool {
	tail := s.from.queues[s.at+s.drop:]
	end := s.at + len(s.add)
	return len(queues) == end+len(tail) && slices.Equal(queues[:s.at], s.from.queues[:s.at]) &&
		slices.Equal(queues[s.at:end], s.add) && slices.Equal(queues[end:], tail)
}

func (s splice) queues() []queue {
	return slices.Concat(s.from.queues[:s.at], s.add, s.from.queues[s.at+s.drop:])
}

var queueSeed = maphash.MakeSeed() // peers choose what is hashed

func hashQueue(q queue) uint64 { return maphash.Comparable(queueSeed, q) }

// queueLists are all lists in use, and what leads from groups to them and from them to
// topics. The writer's own.
type queueLists struct {
	bySum   map[uint64]*queueList
	byGroup [][]*queueList // by group index; may hold dead ones
	dead    []int          // how many of byGroup's are dead
	dropped int            // lists that ended since routeTexts began
	steps   [stepSlots]step
	batch   uint32 // the one under way, its low word
	made    int    // lists made by it
	copied  int    // queues in them
	pending pendingEdits

	settings *settingIndex
	brokers  *brokerDraft
}

func newQueueLists(settings *settingIndex, brokers *brokerDraft) queueLists {
	return queueLists{bySum: map[uint64]*queueList{}, pending: pendingEdits{joined: map[int]struct{}{}}, settings: settings, brokers: brokers}
}

// begin starts a batch.
func (x *queueLists) begin(batch uint64) { x.batch, x.made, x.copied = uint32(batch), 0, 0 }

// step is what came of a list once: a registration does the same to topic after topic.
type step struct {
	from, to *queueList
	q        queue
}

const stepSlots = 16

func (x *queueLists) step(from *queueList, q queue) *step {
	return &x.steps[(from.sum+uint64(q.setting()))%stepSlots]
}

// with returns the list that has q instead of from's queue of the same group, if it has one; it may be from itself. A
// new list is to be given to a topic at once.
func (x *queueLists) with(from *queueList, q queue) *queueList {
	known := x.step(from, q)
	if known.from == from && known.q == q {
		return known.to
	}
	to := from
	if i := from.find(q.group()); i < 0 {
		to = x.intern(splice{from, x.placeOf(from, q.group()), 0, []queue{q}})
	} else if from.queues[i] != q {
		to = x.intern(splice{from, i, 1, []queue{q}})
	}
	*known = step{from, to, q}
	return to
}

// noSetting is no setting's index.
const noSetting = math.MaxUint32

// without returns the list that lacks the group's queue: noQueues if from had no other, from itself if
// it had none of the group.
func (x *queueLists) without(from *queueList, group int) *queueList {
	none := makeQueue(group, noSetting)
	known := x.step(from, none)
	if known.from == from && known.q == none {
		return known.to
	}
	to := from
	switch i := from.find(group); {
	case i < 0:
	case len(from.queues) == 1:
		to = noQueues
	default:
		to = x.intern(splice{from, i, 1, nil})
	}
	*known = step{from, to, none}
	return to
}

// placeOf returns where a group's queue belongs: by broker name.
func (x *queueLists) placeOf(l *queueList, group int) int {
	at, _ := slices.BinarySearchFunc(l.queues, x.brokers.at(group).Name, func(q queue, name string) int {
		return strings.Compare(x.brokers.at(q.group()).Name, name)
	})
	return at
}

func (x *queueLists) intern(s splice) *queueList {
	sum := s.sum()
	for l := x.bySum[sum]; l != nil; l = l.next {
		if s.is(l.queues) {
			return l
		}
	}
	return x.add(s.queues(), sum)
}

// add makes a list, which is to be given to a topic at once.
func (x *queueLists) add(queues []queue, sum uint64) *queueList {
	l := &queueList{queues: queues, sum: sum, next: x.bySum[sum], born: x.batch}
	x.bySum[sum] = l
	x.made++
	x.copied += len(queues)
	for _, q := range l.queues {
		x.settings.hold(q.setting())
		for len(x.byGroup) <= q.group() {
			x.byGroup = append(x.byGroup, nil)
			x.dead = append(x.dead, 0)
		}
		x.byGroup[q.group()] = append(x.byGroup[q.group()], l)
	}
	return l
}

// drop forgets a list that no topic has.
func (x *queueLists) drop(l *queueList) {
	l.dead, l.topics = true, nil
	x.dropped++
	if e := l.edit; e == nil {
		x.unlink(l)
		x.forget(l)
	} else {
		for _, q := range e.joining {
			x.settings.release(q.setting())
		}
	}
	l.edit = nil
	for _, q := range l.queues {
		x.settings.release(q.setting())
		x.dead[q.group()]++
		x.clean(q.group())
	}
}

// forget takes a list out of the steps.
func (x *queueLists) forget(l *queueList) {
	for i := range x.steps {
		if s := &x.steps[i]; s.from == l || s.to == l {
			*s = step{}
		}
	}
}

// unlink takes a list out of those that are found by their sum.
func (x *queueLists) unlink(l *queueList) {
	first := x.bySum[l.sum]
	switch {
	case first != l:
		before := first
		for before.next != l {
			before = before.next
		}
		before.next = l.next
	case l.next != nil:
		x.bySum[l.sum] = l.next
	default:
		delete(x.bySum, l.sum)
		if len(x.bySum) == 0 {
			x.bySum = map[uint64]*queueList{} // a map never shrinks
		}
	}
}

// clean takes the dead lists out of a group's once they are most of them.
func (x *queueLists) clean(group int) {
	const few = 16
	all := x.byGroup[group]
	if x.dead[group] <= len(all)/2+few && x.dead[group] < len(all) {
		return
	}
	live := slices.DeleteFunc(all, func(l *queueList) bool { return l.dead })
	if cap(live) > 4*len(live)+few {
		live = slices.Clone(live) // give the peak back
	}
	x.byGroup[group], x.dead[group] = live, 0
}

// of yields the lists that have a queue of the group. The loop must neither make nor drop lists.
func (x *queueLists) of(group int) iter.Seq[*queueList] {
	return func(yield func(*queueList) bool) {
		if group >= len(x.byGroup) {
			return
		}
		for _, l := range x.byGroup[group] {
			if !l.dead && !yield(l) {
				return
			}
		}
	}
}

// hasAny reports whether any list may have a queue of the group.
func (x *queueLists) hasAny(group int) bool {
	return group < len(x.byGroup) && len(x.byGroup[group]) > 0
}

// topicsOf returns the ids of the topics that have a queue of the group. A copy: lists
// change under the caller's loop.
func (x *queueLists) topicsOf(group int) []uint32 {
	var ids []uint32
	for l := range x.of(group) {
		ids = append(ids, l.topics...)
	}
	return ids
}
