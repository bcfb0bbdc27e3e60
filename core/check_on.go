//go:build invariants

package core

import (
	"slices"
	"strings"

	"github.com/waymark-mq/waymark/internal/invariants"
)

// proofs are the last snapshots that were retired, with their deep hashes.
type proofs struct{ retired []proof }

type proof struct {
	snapshot *Snapshot
	sum      uint64
}

const mostProofs = 5

// retire notes the deep hash of the snapshot that the step is to replace.
func (p *proofs) retire(s *Snapshot) {
	p.retired = append(p.retired, proof{s, s.deepHash()})
	if len(p.retired) > mostProofs {
		p.retired = p.retired[1:]
	}
}

// check recomputes the writer's indexes from the new snapshot, and proves that
// nothing reachable from the last few retired ones has changed.
func (t *Table) check() {
	for _, p := range t.proofs.retired {
		invariants.Check(p.snapshot.deepHash() == p.sum, "core: a published snapshot was written")
	}
	s := t.current.Load()
	t.checkTopics(s)
	t.checkBrokers(s)
	t.checkLive(s)
	t.checkMappings(s)
}

func (t *Table) checkTopics(s *Snapshot) {
	bytes := 0
	topics := map[*queueList]int{}
	for name, r := range s.topics.All() {
		bytes += listedBytes(name)
		invariants.Check(r.name == name && len(r.list.queues) > 0, "core: topic %q has no queue", name)
		invariants.Check(t.index.names[r.id] == name, "core: topic %q has the id of %q", name, t.index.names[r.id])
		invariants.Check(r.list.topics[t.index.places[r.id]] == r.id, "core: topic %q missing in its list", name)
		topics[r.list]++
	}
	invariants.Check(bytes == s.topicBytes, "core: %d bytes of topic names, counted %d", bytes, s.topicBytes)
	t.checkLists(s, topics)
}

// checkLists recomputes what is kept of the lists; topics counts those of each.
func (t *Table) checkLists(s *Snapshot, topics map[*queueList]int) {
	refs := make([]int, len(t.queues.refs))
	interned := 0
	p := &t.lists.pending
	invariants.Check(len(p.lists)+len(p.joined)+len(t.brokers.left) == 0, "core: changes of lists were left waiting")
	for sum, l := range t.lists.bySum {
		for ; l != nil; l = l.next {
			interned++
			invariants.Check(l.sum == sum && !l.dead && l.edit == nil && len(l.topics) == topics[l] && topics[l] > 0, "core: list of %d topics, counted %d", len(l.topics), topics[l])
			for i, q := range l.queues {
				g := s.brokers.groups[q.group()]
				invariants.Check(g != nil, "core: a list names a broker that is gone")
				if i > 0 {
					invariants.Check(s.brokers.groups[l.queues[i-1].group()].Name < g.Name, "core: queues out of order")
				}
				invariants.Check(slices.Contains(t.lists.byGroup[q.group()], l), "core: a list is missing from those of %q", g.Name)
				sum -= hashQueue(q)
				refs[q.setting()]++
			}
			invariants.Check(sum == 0, "core: a list has another sum")
			sum = l.sum
		}
	}
	invariants.Check(interned == len(topics), "core: %d lists, in use %d", interned, len(topics))
	for i, n := range refs {
		invariants.Check(n == t.queues.refs[i], "core: setting %d used %d times, counted %d", i, n, t.queues.refs[i])
	}
	for g, lists := range t.lists.byGroup {
		dead := 0
		for _, l := range lists {
			if l.dead {
				dead++
			}
		}
		invariants.Check(dead == t.lists.dead[g], "core: group %d has %d dead lists, counted %d", g, dead, t.lists.dead[g])
	}
}

func (t *Table) checkBrokers(s *Snapshot) {
	in := 0
	for i, g := range s.brokers.groups {
		if g == nil {
			invariants.Check(slices.Contains(t.brokers.free, i), "core: group index %d lost", i)
			continue
		}
		in++
		invariants.Check(g.index == i && len(g.Addrs) > 0, "core: broker group %q without address", g.Name)
		invariants.Check(s.brokers.group(g.Name) == g, "core: broker group %q not found by name", g.Name)
	}
	invariants.Check(in == len(t.brokers.byName) && slices.IsSortedFunc(s.brokers.byName, func(a, b *Group) int { return strings.Compare(a.Name, b.Name) }), "core: groups out of order or lost")
	invariants.Check(in == len(s.brokers.byName), "core: %d broker groups, %d names", in, len(s.brokers.byName))
	invariants.Check(len(s.brokers.clusters) == len(t.brokers.clusters), "core: %d clusters, kept %d", len(s.brokers.clusters), len(t.brokers.clusters))
	for _, c := range s.brokers.clusters {
		invariants.Check(len(c.brokers) == len(t.brokers.clusters[c.name]) && len(c.brokers) > 0 && slices.IsSorted(c.brokers), "core: cluster %q empty or out of order", c.name)
		for _, b := range c.brokers {
			invariants.Check(s.brokers.group(b) != nil, "core: cluster %q lists %q, which is gone", c.name, b)
			invariants.Check(t.brokers.inCluster(c.name, b), "core: cluster %q lists %q, which left", c.name, b)
		}
	}
}

func (t *Table) checkLive(s *Snapshot) {
	filtered, toCome := 0, 0
	for key, l := range s.live.All() {
		filtered += hasFilters(l)
		_, alive := l.Cell.Last()
		if l.Provisional {
			toCome++
		}
		invariants.Check((alive || l.Provisional) && l.Cell.key == key && l.Cell.timer.Armed(), "core: dead cell of %q in the table", l.BrokerAddr)
	}
	restored, _ := s.Restored()
	invariants.Check(toCome == restored.ToCome, "core: %d provisional brokers, counted %d", toCome, restored.ToCome)
	invariants.Check(filtered == s.filtered, "core: %d filtered brokers, counted %d", filtered, s.filtered)
	invariants.Check(t.wheel.Len() == s.live.Len(), "core: %d timers for %d brokers", t.wheel.Len(), s.live.Len())
	for conn, cells := range t.owned {
		invariants.Check(len(cells) > 0, "core: empty set of cells kept for connection %d", conn)
		for cell := range cells {
			l, ok := s.live.Get(cell.key)
			invariants.Check(ok && l.Cell == cell && cell.registeredBy == conn, "core: connection %d keeps a cell that is gone", conn)
		}
	}
}

func (t *Table) checkMappings(s *Snapshot) {
	names := map[string]map[string]struct{}{}
	for topic, m := range s.mappings.All() {
		invariants.Check(slices.IsSortedFunc(m.entries, func(a, b mappingEntry) int { return strings.Compare(a.brokerName, b.brokerName) }), "core: mappings of %q out of order", topic)
		for _, e := range m.entries {
			for _, n := range []string{e.brokerName, e.registrant} {
				if names[n] == nil {
					names[n] = map[string]struct{}{}
				}
				names[n][topic] = struct{}{}
			}
		}
	}
	invariants.Check(len(names) == len(t.mapped), "core: %d names with mappings, kept %d", len(names), len(t.mapped))
	for n, topics := range names {
		invariants.Check(slices.Equal(sortedKeys(topics), sortedKeys(t.mapped[n])), "core: topics with mappings of %q differ from those kept", n)
	}
}
