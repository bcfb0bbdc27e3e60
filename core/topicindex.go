package core

import "slices"

// topicIndex is the writer's list of each broker group's topics, so that losing
// a broker touches its topics alone. Topics have small numbers; a list is
// four bytes an entry.
//
// A list may name a topic that no longer has a queue of the group, or name one
// twice; it never misses one. It is put right when it is read.
type topicIndex struct {
	names []string // by topic id; "" where free
	free  []uint32
	lists [][]uint32 // by group index
	count []int      // topics that the group has a queue of
}

// newID numbers a topic.
func (x *topicIndex) newID(name string) uint32 {
	if n := len(x.free); n > 0 {
		id := x.free[n-1]
		x.free = x.free[:n-1]
		x.names[id] = name
		return id
	}
	x.names = append(x.names, name)
	return uint32(len(x.names) - 1)
}

func (x *topicIndex) freeID(id uint32) {
	x.names[id] = ""
	x.free = append(x.free, id)
	if len(x.free) == len(x.names) {
		x.names, x.free = nil, nil
		clear(x.lists) // no topic, so nothing but entries left over
	}
}

// added notes that topic id has a queue of the group now.
func (x *topicIndex) added(group int, id uint32) {
	for len(x.lists) <= group {
		x.lists = append(x.lists, nil)
		x.count = append(x.count, 0)
	}
	x.lists[group] = append(x.lists[group], id)
	x.count[group]++
}

// removed notes that a topic lost its queue of the group. The entry stays until
// the list is read or half of it is such entries.
func (x *topicIndex) removed(group int, has func(id uint32) bool) {
	x.count[group]--
	if len(x.lists[group]) > 2*x.count[group]+64 {
		x.clean(group, has)
	}
}

// topics returns the ids of the group's topics; has tells whether a topic has a
// queue of the group. The result is a copy: the list may change under the caller's loop.
func (x *topicIndex) topics(group int, has func(id uint32) bool) []uint32 {
	if group >= len(x.lists) {
		return nil
	}
	if len(x.lists[group]) != x.count[group] {
		x.clean(group, has)
	}
	return slices.Clone(x.lists[group])
}

func (x *topicIndex) clean(group int, has func(id uint32) bool) {
	l := x.lists[group]
	slices.Sort(l)
	l = slices.Compact(l)
	l = slices.DeleteFunc(l, func(id uint32) bool { return !has(id) })
	if cap(l) > 4*len(l)+64 {
		l = slices.Clone(l) // give the peak back
	}
	x.lists[group] = l
}

// dropGroup forgets a group's list; its index may be used again.
func (x *topicIndex) dropGroup(group int) {
	if group < len(x.lists) {
		x.lists[group], x.count[group] = nil, 0
	}
}
