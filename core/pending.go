package core

import (
	"slices"
	"strings"
)

// pendingEdits are changes of whole lists that wait: of brokers that come to all topics of a list, or leave them, so that
// a batch makes the list anew once and not for each of them. They wait for the end of the batch or for the first
// command that has to see lists as they are by now (Table.settle). What doesn't wait is a topic's end with its last broker.
//
// A list with changes isn't found by its queues, so no other topic comes to it. The writer's own; empty between steps.
type pendingEdits struct {
	lists  []*queueList     // that have changes, in the order of their first ones; those that ended since too
	joined map[int]struct{} // groups of which some list is to have another queue than it has
}

// listEdit is what waits for a list.
type listEdit struct {
	joining []queue // instead of its queue of the same group, if it has one; each holds its setting
	leaving int     // how many of its queues go: those of parting, and of groups that are gone; no group has their index until they are taken out
	parting []int   // groups that stay but leave the list, by broker name
}

// edit returns what waits for a list, to be added to.
func (x *queueLists) edit(l *queueList) *listEdit {
	if l.edit == nil {
		x.unlink(l)
		x.forget(l)
		l.edit = &listEdit{}
		x.pending.lists = append(x.pending.lists, l)
	}
	return l.edit
}

// join gives all topics of a list a group's queue, of which none waits for it yet.
func (x *queueLists) join(l *queueList, q queue) {
	e := x.edit(l)
	x.settings.hold(q.setting())
	e.joining = append(e.joining, q)
	x.pending.joined[q.group()] = struct{}{}
}

// hasJoined reports whether queues of the group wait for some list.
func (x *queueLists) hasJoined(group int) bool {
	_, joined := x.pending.joined[group]
	return joined
}

// leave takes a group, of which no queue waits and which is to be dropped at once, off all lists. It returns how many topics keep other queues, and the lists
// that have none left.
func (x *queueLists) leave(group int) (topics int, ended []*queueList) {
	for l := range x.of(group) {
		e := x.edit(l)
		if e.leaving++; e.leaving == len(l.queues) && len(e.joining) == 0 {
			ended = append(ended, l)
		} else {
			topics += len(l.topics)
		}
	}
	return topics, ended
}

// part takes a group off a list for which nothing but the parting of others waits, whose names come first. It reports whether the
// list has no queue left. Settle before whatever comes next.
func (x *queueLists) part(l *queueList, group int) (ended bool) {
	e := x.edit(l)
	e.parting = append(e.parting, group)
	e.leaving++
	return e.leaving == len(l.queues)
}

// settled returns the list that a list becomes by what waits for it.
func (x *queueLists) settled(l *queueList) *queueList {
	queues := x.merged(l)
	sum := uint64(0)
	for _, q := range queues {
		sum += hashQueue(q)
	}
	for known := x.bySum[sum]; known != nil; known = known.next {
		if slices.Equal(known.queues, queues) {
			return known
		}
	}
	return x.add(queues, sum)
}

// merged returns the queues of a list after what waits for it, by broker name.
func (x *queueLists) merged(l *queueList) []queue {
	name := func(q queue) string { return x.brokers.at(q.group()).Name }
	joining, parting := l.edit.joining, l.edit.parting
	slices.SortFunc(joining, func(a, b queue) int { return strings.Compare(name(a), name(b)) })
	merged := make([]queue, 0, len(l.queues)-l.edit.leaving+len(joining))
	for _, q := range l.queues {
		if x.brokers.at(q.group()) == nil {
			continue
		}
		if len(parting) > 0 && parting[0] == q.group() {
			parting = parting[1:]
			continue
		}
		for len(joining) > 0 && name(joining[0]) < name(q) {
			merged, joining = append(merged, joining[0]), joining[1:]
		}
		if len(joining) == 0 || joining[0].group() != q.group() {
			merged = append(merged, q)
		}
	}
	return append(merged, joining...)
}

// settle carries out what waits. Whoever looks at a topic's list, or moves a single topic off one for which something
// waits, settles first.
func (t *Table) settle() {
	p := &t.lists.pending
	for _, l := range p.lists {
		if l.dead {
			continue
		}
		to := t.lists.settled(l)
		for n := len(l.topics); n > 0; n-- {
			r, _ := t.topics.Get(t.index.names[l.topics[n-1]])
			t.moveTo(r, to)
		}
	}
	clear(p.lists)
	p.lists = p.lists[:0]
	clear(p.joined)
	t.brokers.freeIndexes()
}
