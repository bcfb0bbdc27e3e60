package core

import (
	"iter"
	"slices"
	"strings"
)

// What people look at who ask why a route is as it is. Nothing here is on the way of a query, and nothing keeps more than
// what it returns.

// QueueView is one broker name's queues of a topic.
type QueueView struct {
	Group                                             *Group
	ReadQueueNums, WriteQueueNums, Perm, TopicSysFlag int32
	Provisional                                       bool // restored, and no registration has brought it since
}

// TopicView is a topic as its route answers are made of it.
type TopicView struct {
	Queues []QueueView // by broker name
	// Mapped are the broker names that the topic has static mappings of.
	Mapped    []string
	OrderConf string // "" without, or if routes don't carry it
}

// Topic returns what is known of a topic.
func (s *Snapshot) Topic(name string) (TopicView, bool) {
	r, ok := s.topics.Get(name)
	if !ok {
		return TopicView{}, false
	}
	v := TopicView{Queues: make([]QueueView, 0, len(r.list.queues))}
	for _, q := range r.list.queues {
		v.Queues = append(v.Queues, s.queueView(q))
	}
	if m, ok := s.mappings.Get(name); ok {
		for _, e := range m.entries {
			v.Mapped = append(v.Mapped, e.brokerName)
		}
	}
	if s.settings.OrderMessageEnable {
		v.OrderConf, _ = s.KV(OrderTopicConfig, name)
	}
	return v, true
}

// TopicNames returns the first limit topic names behind after ("": from the first) that begin with prefix, sorted, and whether there are more. It
// goes through all topics, but holds no more than twice the names it returns.
func (s *Snapshot) TopicNames(prefix, after string, limit int) (names []string, more bool) {
	last := "" // of limit+1 names found, once there are so many
	trim := func() {
		slices.Sort(names)
		if len(names) > limit+1 {
			names = names[:limit+1]
			last = names[limit]
		}
	}
	for name := range s.topics.All() {
		if !behind(name, after) || !strings.HasPrefix(name, prefix) || (last != "" && name >= last) {
			continue
		}
		if names = append(names, name); len(names) >= 2*(limit+1) {
			trim()
		}
	}
	trim()
	if len(names) > limit {
		return names[:limit], true
	}
	return names, false
}

// behind reports whether a list that goes on behind after ("": from its first name) has name.
func behind(name, after string) bool { return after == "" || name > after }

// Group returns a broker name's group. Read only.
func (s *Snapshot) Group(name string) (*Group, bool) {
	g := s.brokers.group(name)
	return g, g != nil
}

// Groups yields the groups whose broker name is behind after ("": all), by name. Read only.
func (s *Snapshot) Groups(after string) iter.Seq[*Group] {
	i, found := slices.BinarySearchFunc(s.brokers.byName, after, compareName)
	if found && after != "" {
		i++
	}
	return slices.Values(s.brokers.byName[i:])
}

// Clusters yields the cluster names behind after ("": all) and their broker names, both sorted. Read only.
func (s *Snapshot) Clusters(after string) iter.Seq2[string, []string] {
	return func(yield func(string, []string) bool) {
		for _, c := range s.brokers.clusters {
			if behind(c.name, after) && !yield(c.name, c.brokers) {
				return
			}
		}
	}
}

// InCluster reports whether a cluster lists a broker name.
func (s *Snapshot) InCluster(cluster, brokerName string) bool {
	c := s.brokers.cluster(cluster)
	if c == nil {
		return false
	}
	_, ok := slices.BinarySearch(c.brokers, brokerName)
	return ok
}

// LiveOf returns the registration behind an address of a group: of its own cluster, or of another that has the name too.
func (s *Snapshot) LiveOf(g *Group, addr string) (*Live, bool) {
	if l, ok := s.live.Get(liveKey(g.ClusterName, addr)); ok && l.BrokerName == g.Name {
		return l, true
	}
	for _, c := range s.brokers.clusters {
		if l, ok := s.live.Get(liveKey(c.name, addr)); ok && l.BrokerName == g.Name {
			return l, true
		}
	}
	return nil, false
}

// InPlace reports whether a registration's address is the one under its id of its broker name: another may have taken its place since.
func (s *Snapshot) InPlace(l *Live) bool {
	g := s.brokers.group(l.BrokerName)
	if g == nil {
		return false
	}
	addr, ok := g.addr(l.BrokerID)
	return ok && addr == l.BrokerAddr
}

// SameLives reports whether both snapshots have the very same registrations.
func (s *Snapshot) SameLives(o *Snapshot) bool { return s.live == o.live }

// TopicsByPerm counts each group's topics by their permission. It goes through all topics, and through each list of queues once.
func (s *Snapshot) TopicsByPerm() map[*Group]map[int32]int {
	lists := map[*queueList]int{}
	for _, r := range s.topics.All() {
		lists[r.list]++
	}
	counts := map[*Group]map[int32]int{}
	for l, n := range lists {
		for _, q := range l.queues {
			g := s.brokers.groups[q.group()]
			if counts[g] == nil {
				counts[g] = map[int32]int{}
			}
			counts[g][s.queues.at(q.setting()).perm] += n
		}
	}
	return counts
}

// KVNamespaces returns the namespaces of the KV configuration, sorted, and how many keys each has.
func (s *Snapshot) KVNamespaces() (names []string, keys []int) {
	names = sortedKeys(s.kv.namespaces)
	for _, ns := range names {
		keys = append(keys, len(s.kv.namespaces[ns].values))
	}
	return names, keys
}

// KVKeys returns a namespace's keys, sorted; ok is false for an unknown namespace.
func (s *Snapshot) KVKeys(namespace string) (keys []string, ok bool) {
	n, ok := s.kv.namespaces[namespace]
	if !ok {
		return nil, false
	}
	return sortedKeys(n.values), true
}
