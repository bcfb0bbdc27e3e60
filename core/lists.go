package core

import (
	"maps"
	"slices"
	"sync/atomic"

	"github.com/waymark-mq/waymark/codec"
)

// List is an answer made of many topics or brokers, encoded by its first reader
// and kept as long as what it is made of stays the same.
type List struct {
	cached []byte // nil if nobody has encoded it yet
	bound  int
	encode func() []byte
}

// Bound is an upper bound of the answer's bytes, by which a caller decides where to have it encoded.
func (l List) Bound() int { return l.bound }

// Body is the answer, encoded now if nobody has yet. It is shared; read only. Any goroutine.
func (l List) Body() []byte {
	if l.cached != nil {
		return l.cached
	}
	return l.encode()
}

func newList(e *encoded, bound func() int, encode func(dst []byte) []byte) List {
	if b := e.load(); b != nil {
		return List{cached: b, bound: len(b)}
	}
	return List{bound: bound(), encode: func() []byte { return e.store(encode(nil)) }}
}

// TopicList is the answer to 206: all topics.
func (s *Snapshot) TopicList() List {
	return newList(s.topicList, s.topicListBytes, func(dst []byte) []byte {
		return appendTopicList(dst, s.topicNames(func(*TopicRoute) bool { return true }))
	})
}

// topicListBytes is the length of the list of all topics.
func (s *Snapshot) topicListBytes() int { return len(`{"topicList":[]}`) + s.topicBytes }

// UnitList says which topics UnitTopics lists.
type UnitList uint8

const (
	UnitTopics        UnitList = iota // 311: unit flag
	UnitSubTopics                     // 312: unit subscription flag
	UnitSubOnlyTopics                 // 313: unit subscription flag on a broker without the unit flag

	numberOfUnitLists = iota
)

// UnitTopics is the answer to 311–313. A topic counts if any of its brokers' flags say so.
func (s *Snapshot) UnitTopics(l UnitList) List {
	return newList(&s.unitLists[l], s.topicListBytes, func(dst []byte) []byte {
		return appendTopicList(dst, s.topicNames(func(r *TopicRoute) bool {
			return slices.ContainsFunc(r.list.queues, func(q queue) bool { return l.matches(s.queues.at(q.setting()).sysFlag) })
		}))
	})
}

func (l UnitList) matches(sysFlag int32) bool {
	unit, sub := sysFlag&codec.TopicFlagUnit != 0, sysFlag&codec.TopicFlagUnitSub != 0
	switch l {
	case UnitTopics:
		return unit
	case UnitSubTopics:
		return sub
	default:
		return sub && !unit
	}
}

// clusterLists remembers the answers to 224 by cluster; replaced with every
// change of a topic's brokers. Unknown clusters are not remembered, so it stays
// as small as the cluster table.
type clusterLists struct {
	m atomic.Pointer[map[string][]byte]
}

// TopicsByCluster is the answer to 224: the topics of a cluster's brokers.
func (s *Snapshot) TopicsByCluster(name string) List {
	if m := s.clusterLists.m.Load(); m != nil {
		if b, ok := (*m)[name]; ok {
			return List{cached: b, bound: len(b)}
		}
	}
	c := s.brokers.cluster(name)
	if c == nil {
		return List{encode: func() []byte { return appendTopicList(nil, nil) }}
	}
	return List{bound: s.topicListBytes(), encode: func() []byte {
		b := s.appendTopicsOf(nil, c)
		s.clusterLists.add(c.name, b)
		return b
	}}
}

func (s *Snapshot) appendTopicsOf(dst []byte, c *cluster) []byte {
	in := make([]bool, len(s.brokers.groups))
	for _, b := range c.brokers {
		in[s.brokers.group(b).index] = true
	}
	return appendTopicList(dst, s.topicNames(func(r *TopicRoute) bool {
		return slices.ContainsFunc(r.list.queues, func(q queue) bool { return in[q.group()] })
	}))
}

// add remembers an answer. A race with another reader loses at most one of the two, to be encoded again.
func (l *clusterLists) add(cluster string, body []byte) {
	m := map[string][]byte{cluster: body}
	if old := l.m.Load(); old != nil {
		maps.Copy(m, *old)
	}
	l.m.Store(&m)
}

// topicNames returns the sorted names of the topics that keep accepts.
func (s *Snapshot) topicNames(keep func(*TopicRoute) bool) []string {
	var names []string
	for name, r := range s.topics.All() {
		if keep(r) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// listedBytes is what a name adds to a list: itself, quotes, escapes and a comma.
func listedBytes(name string) int {
	var buf [256]byte
	return len(codec.AppendString(buf[:0], name)) + 1
}

func appendTopicList(dst []byte, names []string) []byte {
	dst = append(dst, `{"topicList":`...)
	dst = appendStrings(dst, names)
	return append(dst, '}')
}

func appendStrings(dst []byte, list []string) []byte {
	dst = append(dst, '[')
	for i, v := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = codec.AppendString(dst, v)
	}
	return append(dst, ']')
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
