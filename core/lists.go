package core

import (
	"maps"
	"slices"
	"sync/atomic"

	"github.com/waymark-mq/waymark/codec"
)

// TopicList is the answer to 206: all topics. The result is shared; read only.
func (s *Snapshot) TopicList() []byte {
	return s.topicList.get(func(dst []byte) []byte {
		return appendTopicList(dst, s.topicNames(func(*TopicRoute) bool { return true }))
	})
}

// ListBound is an upper bound, in bytes, of any list of topics and of the
// cluster info, by which a caller decides where to have it encoded.
func (s *Snapshot) ListBound() int {
	const perTopic, perBroker = 8, 256
	return s.topicBytes + perTopic*s.topics.Len() + perBroker*s.live.Len()
}

// UnitList says which topics UnitTopics lists.
type UnitList uint8

const (
	UnitTopics        UnitList = iota // 311: unit flag
	UnitSubTopics                     // 312: unit subscription flag
	UnitSubOnlyTopics                 // 313: unit subscription flag on a broker without the unit flag
	numberOfUnitLists                 // keep last
)

// UnitTopics is the answer to 311–313. A topic counts if any of its brokers'
// flags say so. The result is shared; read only.
func (s *Snapshot) UnitTopics(l UnitList) []byte {
	return s.unitLists[l].get(func(dst []byte) []byte {
		return appendTopicList(dst, s.topicNames(func(r *TopicRoute) bool {
			return slices.ContainsFunc(r.queues, func(q queue) bool { return l.matches(s.queues.at(q.setting()).sysFlag) })
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

// TopicsByCluster is the answer to 224: the topics of a cluster's brokers. The
// result is shared; read only.
func (s *Snapshot) TopicsByCluster(name []byte) []byte {
	if m := s.clusterLists.m.Load(); m != nil {
		if b, ok := (*m)[string(name)]; ok {
			return b
		}
	}
	c := s.brokers.cluster(string(name))
	if c == nil {
		return appendTopicList(nil, nil)
	}
	in := make([]bool, len(s.brokers.groups))
	for _, b := range c.brokers {
		in[s.brokers.group(b).index] = true
	}
	b := appendTopicList(nil, s.topicNames(func(r *TopicRoute) bool {
		return slices.ContainsFunc(r.queues, func(q queue) bool { return in[q.group()] })
	}))
	s.clusterLists.add(c.name, b)
	return b
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

// ClusterInfo is the answer to 106: all broker groups and clusters. The result is shared; read only.
func (s *Snapshot) ClusterInfo() []byte {
	return s.brokers.clusterInfo.get(s.brokers.appendClusterInfo)
}

func (t *brokerTable) appendClusterInfo(dst []byte) []byte {
	dst = append(dst, `{"brokerAddrTable":{`...)
	for i, g := range t.byName {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = codec.AppendString(dst, g.Name)
		dst = append(dst, ':')
		dst = append(dst, g.brokerData[codec.Legacy]...)
	}
	dst = append(dst, `},"clusterAddrTable":{`...)
	for i, c := range t.clusters {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = codec.AppendString(dst, c.name)
		dst = append(dst, ':')
		dst = appendStrings(dst, c.brokers)
	}
	return append(dst, "}}"...)
}

// SystemTopics is the answer to 304: cluster names, their broker names, and one
// broker's address. The result is shared; read only.
func (s *Snapshot) SystemTopics() []byte {
	return s.brokers.systemTopics.get(s.brokers.appendSystemTopics)
}

func (t *brokerTable) appendSystemTopics(dst []byte) []byte {
	names := map[string]bool{}
	for _, c := range t.clusters {
		names[c.name] = true
		for _, b := range c.brokers {
			names[b] = true
		}
	}
	dst = append(dst, '{')
	if len(t.byName) > 0 {
		dst = append(dst, `"brokerAddr":`...)
		dst = codec.AppendString(dst, t.byName[0].Addrs[0].Addr)
		dst = append(dst, ',')
	}
	dst = append(dst, `"topicList":`...)
	dst = appendStrings(dst, sortedKeys(names))
	return append(dst, '}')
}

// AppendMemberGroup appends the answer to 901: the members under their true ids.
// Cluster and name are echoed, not checked.
func (s *Snapshot) AppendMemberGroup(dst []byte, clusterName, brokerName codec.NullString) []byte {
	dst = append(dst, `{"brokerMemberGroup":{"brokerAddrs":`...)
	var addrs []Address
	if g := s.brokers.group(brokerName.S); g != nil && brokerName.Valid {
		addrs = g.Addrs
	}
	dst = appendAddrs(dst, codec.Legacy, addrs)
	if brokerName.Valid {
		dst = append(dst, `,"brokerName":`...)
		dst = codec.AppendString(dst, brokerName.S)
	}
	if clusterName.Valid {
		dst = append(dst, `,"cluster":`...)
		dst = codec.AppendString(dst, clusterName.S)
	}
	return append(dst, "}}"...)
}
