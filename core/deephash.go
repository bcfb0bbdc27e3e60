//go:build invariants

package core

import (
	"fmt"
	"hash/fnv"
)

// deepHash covers all that readers can reach from the snapshot, but for what may
// change after publication: cells and list answers encoded on demand.
func (s *Snapshot) deepHash() uint64 {
	var sum uint64
	add := func(parts ...any) {
		h := fnv.New64a()
		for _, p := range parts {
			fmt.Fprintf(h, "%v\x00", p)
		}
		sum += h.Sum64() // maps come in any order
	}
	for name, r := range s.topics.All() {
		add("topic", name, r.name, r.list.queues)
	}
	for topic, m := range s.mappings.All() {
		add("mapping", topic, m.entries)
	}
	for key, l := range s.live.All() {
		add("live", key, l.ClusterName, l.BrokerName, l.BrokerAddr, l.BrokerID, l.HAServerAddr, l.DataVersion, l.FilterServers, l.Memo,
			l.TimeoutNanos, l.From, l.FirstMillis, l.WallMillis, l.Applied, l.Topics)
	}
	for i, g := range s.brokers.groups {
		if g != nil {
			add("group", i, *g)
		}
	}
	for i, g := range s.brokers.byName {
		add("name", i, g.Name)
	}
	for i, c := range s.brokers.clusters {
		add("cluster", i, *c)
	}
	for i, p := range s.queues.pages {
		if p != nil {
			add("settings", i, p.entries)
		}
	}
	for ns, n := range s.kv.namespaces {
		add("kv", ns, n.values, string(n.table))
	}
	add("set", *s.settings, s.filtered, s.topicBytes)
	return sum
}
