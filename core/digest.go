package core

import (
	"iter"

	"github.com/waymark-mq/waymark/codec"
)

// What is compared with other nameservers. Nothing here is on the way of a query.

// GroupSum is a group, and what its topics sum up to.
type GroupSum struct {
	*Group        // read only
	Topics uint64 // for each topic, the product of its name's hash and of its queues', added up
	Count  int    // of topics
}

// GroupSums sums up the topics of each group, by name. queues is given queue settings as QueueView has them. It goes through all topics once, and
// through each list of queues once: topics of the same queues are added up before.
func (s *Snapshot) GroupSums(topic func(name string) uint64, queues func(QueueView) uint64) []GroupSum {
	type sum struct {
		topics uint64
		count  int
	}
	lists := map[*queueList]*sum{}
	for name, r := range s.topics.All() {
		l := lists[r.list]
		if l == nil {
			l = &sum{}
			lists[r.list] = l
		}
		l.topics += topic(name)
		l.count++
	}
	settings := map[uint32]uint64{}
	byGroup := make([]GroupSum, len(s.brokers.groups))
	for l, of := range lists {
		for _, q := range l.queues {
			h, ok := settings[q.setting()]
			if !ok {
				h = queues(s.queueView(q))
				settings[q.setting()] = h
			}
			g := &byGroup[q.group()]
			g.Topics += of.topics * h
			g.Count += of.count
		}
	}
	sums := make([]GroupSum, len(s.brokers.byName))
	for i, g := range s.brokers.byName {
		sums[i] = byGroup[g.index]
		sums[i].Group = g
	}
	return sums
}

func (s *Snapshot) queueView(q queue) QueueView {
	set := s.queues.at(q.setting())
	return QueueView{s.brokers.groups[q.group()], set.read, set.write, set.perm, set.sysFlag, set.restored}
}

// TopicsOf yields the topics of a group and their queues there, in no order.
func (s *Snapshot) TopicsOf(g *Group) iter.Seq2[string, QueueView] {
	return func(yield func(string, QueueView) bool) {
		at := map[*queueList]int{} // -1: the group isn't in it
		for name, r := range s.topics.All() {
			i, ok := at[r.list]
			if !ok {
				i = r.list.find(g.index)
				at[r.list] = i
			}
			if i >= 0 && !yield(name, s.queueView(r.list.queues[i])) {
				return
			}
		}
	}
}

// MappingView is a static mapping of a topic: what a route shows of it.
type MappingView struct {
	Topic, BrokerName, Info string // Info is standard JSON, as a route has it
}

// StaticMappings yields the static mappings of all known topics, in no order; those of a topic that is unknown are answered to nobody.
func (s *Snapshot) StaticMappings() iter.Seq[MappingView] {
	return func(yield func(MappingView) bool) {
		for topic, m := range s.mappings.All() {
			if _, known := s.topics.Get(topic); !known {
				continue
			}
			for _, e := range m.entries {
				if !yield(MappingView{topic, e.brokerName, e.info[codec.Standard]}) {
					return
				}
			}
		}
	}
}

// KVEntries returns a namespace as it is stored, whatever OrderConfStrict makes of it; nil for an unknown one. Read only.
func (s *Snapshot) KVEntries(namespace string) map[string]string {
	if n, ok := s.kv.namespaces[namespace]; ok {
		return n.values
	}
	return nil
}

// SameKV reports whether the KV configuration is the same as in another snapshot of the table, nothing having been put or deleted between.
func (s *Snapshot) SameKV(o *Snapshot) bool { return o != nil && s.kv == o.kv }
