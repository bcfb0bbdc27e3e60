package core

import (
	"slices"
	"strconv"

	"github.com/waymark-mq/waymark/codec"
)

// queue is one broker group's share of a topic: the group's index in the high
// word and the index of an interned queueSetting in the low one. Free of
// pointers, so that a topic of 300 brokers is one block to copy and nothing to
// scan for the garbage collector.
type queue uint64

func makeQueue(group int, setting uint32) queue { return queue(uint64(group)<<32 | uint64(setting)) }

func (q queue) group() int      { return int(q >> 32) }
func (q queue) setting() uint32 { return uint32(q) }

// TopicRoute is one topic and its queues. Immutable once published.
type TopicRoute struct {
	name string
	list *queueList

	id   uint32 // in topicIndex; writer only
	born uint64 // batch that made it, which alone may still write it; writer only
}

// queueSetting is what a broker says of its queues of a topic. Few distinct ones exist.
type queueSetting struct {
	read, write, perm, sysFlag int32
	restored                   bool // no registration has brought it since the start; see apply_restore.go
}

// appendTail appends the rest of the element of queueDatas, after the broker name.
func (s queueSetting) appendTail(dst []byte) []byte {
	dst = append(dst, `,"perm":`...)
	dst = strconv.AppendInt(dst, int64(s.perm), 10)
	dst = append(dst, `,"readQueueNums":`...)
	dst = strconv.AppendInt(dst, int64(s.read), 10)
	dst = append(dst, `,"topicSysFlag":`...)
	dst = strconv.AppendInt(dst, int64(s.sysFlag), 10)
	dst = append(dst, `,"writeQueueNums":`...)
	dst = strconv.AppendInt(dst, int64(s.write), 10)
	return append(dst, '}')
}

func (s queueSetting) writable() bool { return s.perm&codec.PermWrite != 0 }

// settingPage is a run of interned settings. A page is copied when one of its
// slots is filled, so that the cost of a new setting doesn't grow with their number.
type settingPage struct {
	born    uint64 // batch that made it; writer only
	entries [settingsPerPage]settingEntry
}

const settingsPerPage = 64

type settingEntry struct {
	queueSetting
	tail string // fragment of the answer
}

// settingTable is the table of interned settings of a snapshot; immutable.
type settingTable struct{ pages []*settingPage }

func (t *settingTable) at(i uint32) *settingEntry {
	return &t.pages[i/settingsPerPage].entries[i%settingsPerPage]
}

// settingIndex is the writer's side of the settings: which index a setting has,
// how many lists use it, and which indexes are free. A free index is used
// again in a new table only, so older snapshots keep theirs. A page without a
// setting in use is given back, so that memory follows what is in use.
type settingIndex struct {
	table *settingTable // the draft; the snapshot's until own
	own   bool
	born  uint64
	index map[queueSetting]uint32
	refs  []int
	last  uint32 // the index acquired last: the next is mostly the same
	free  []uint32
	used  []int // settings in use by page
}

// begin starts a batch.
func (x *settingIndex) begin(born uint64) { x.own, x.born = false, born }

// acquire returns the index of s, held once more until release.
func (x *settingIndex) acquire(s queueSetting) uint32 {
	if i := x.last; int(i) < len(x.refs) && x.refs[i] > 0 && x.table.at(i).queueSetting == s {
		x.refs[i]++
		return i
	}
	i, ok := x.index[s]
	if !ok {
		i = x.slot()
		x.index[s] = i
		x.writablePage(int(i / settingsPerPage)).entries[i%settingsPerPage] = settingEntry{s, string(s.appendTail(nil))}
		x.used[i/settingsPerPage]++
	}
	x.refs[i]++
	x.last = i
	return i
}

// hold is acquire for a setting in use.
func (x *settingIndex) hold(i uint32) { x.refs[i]++ }

// release gives back one use of i.
func (x *settingIndex) release(i uint32) {
	if x.refs[i]--; x.refs[i] > 0 {
		return
	}
	delete(x.index, x.table.at(i).queueSetting)
	x.free = append(x.free, i)
	n := int(i / settingsPerPage)
	if x.used[n]--; x.used[n] == 0 {
		x.edit().pages[n] = nil
	}
	if len(x.free) == len(x.refs) {
		x.edit().pages, x.refs, x.free, x.used = nil, nil, nil, nil
		x.index = map[queueSetting]uint32{} // a map never shrinks
	}
}

func (x *settingIndex) slot() uint32 {
	if n := len(x.free); n > 0 {
		i := x.free[n-1]
		x.free = x.free[:n-1]
		return i
	}
	i := len(x.refs)
	x.refs = append(x.refs, 0)
	if n := i / settingsPerPage; n == len(x.used) {
		x.used = append(x.used, 0)
		t := x.edit()
		t.pages = append(t.pages, nil)
	}
	return uint32(i)
}

// edit returns the draft of the table, copied if the batch has none yet.
func (x *settingIndex) edit() *settingTable {
	if !x.own {
		x.table = &settingTable{slices.Clone(x.table.pages)}
		x.own = true
	}
	return x.table
}

// writablePage returns a page of the draft, made if there is none, copied if an earlier batch made it.
func (x *settingIndex) writablePage(n int) *settingPage {
	t := x.edit()
	p := t.pages[n]
	switch {
	case p == nil:
		p = &settingPage{born: x.born}
	case p.born != x.born:
		c := *p
		c.born = x.born
		p = &c
	}
	t.pages[n] = p
	return p
}
