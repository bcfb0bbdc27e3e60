package core

import (
	"slices"
	"strings"

	"github.com/waymark-mq/waymark/codec"
)

const (
	permWrite     = codec.PermWrite
	permReadWrite = codec.PermRead | codec.PermWrite
)

// deleteTopic applies DELETE_TOPIC_IN_NAMESRV (216): the topic, or its queues and
// mappings of one cluster's brokers. It returns with the next registration of a broker that has it.
func (t *Table) deleteTopic(c *DeleteTopic) {
	in := func(string) bool { return true }
	if c.ClusterName != "" {
		in = func(name string) bool { return t.brokers.inCluster(c.ClusterName, name) }
	}
	if r, ok := t.topics.Get(c.Topic); ok {
		for _, q := range slices.Clone(r.queues) {
			if g := t.brokers.at(q.group()); in(g.Name) {
				t.removeQueue(c.Topic, g)
				t.brokers.mark(g)
			}
		}
	}
	t.removeMapping(c.Topic, func(e mappingEntry) bool { return in(e.brokerName) })
}

// registerTopic applies REGISTER_TOPIC_IN_NAMESRV (217). A new topic may name
// known brokers only; of a known one the items before the first unknown broker count.
func (t *Table) registerTopic(c *RegisterTopic) {
	if _, known := t.topics.Get(c.Topic); !known {
		for _, q := range c.Queues {
			if t.brokers.group(q.BrokerName) == nil {
				return
			}
		}
	}
	for _, q := range c.Queues {
		g := t.brokers.group(q.BrokerName)
		if g == nil {
			return
		}
		if t.setQueue(c.Topic, g, queueSetting{q.ReadQueueNums, q.WriteQueueNums, q.Perm, q.TopicSysFlag}, true) {
			t.brokers.mark(g)
		}
	}
}

// setPerm changes the permission of all queues of a broker name and returns how many
// there are. Registrations of an unchanged DataVersion leave it so. A group of which anything has
// changed is marked: its topics are no longer as it registered them, so its next registration is
// looked at even if it is the same again.
func (t *Table) setPerm(brokerName string, perm func(int32) int32) int {
	g := t.brokers.group(brokerName)
	if g == nil {
		return 0
	}
	ids := t.topicsOf(g)
	changed := false
	for _, id := range ids {
		r, _ := t.topics.Get(t.index.names[id])
		s := t.queues.table.at(r.queues[r.find(g.index)].setting()).queueSetting
		s.perm = perm(s.perm)
		changed = t.setQueue(r.name, g, s, true) || changed
	}
	if changed {
		t.brokers.mark(g)
	}
	return len(ids)
}

// setQueue stores a group's queue of a topic if the topic lacks it or, with
// replace, if it differs; it reports whether anything changed.
func (t *Table) setQueue(topic string, g *Group, s queueSetting, replace bool) bool {
	r, known := t.topics.Get(topic)
	if !known {
		r = &TopicRoute{name: topic, id: t.index.newID(topic), born: t.batch}
		t.topics.Set(topic, r)
		t.namesChanged = true
		t.bytes += listedBytes(topic)
	}
	i := r.find(g.index)
	if i >= 0 && (!replace || t.queues.table.at(r.queues[i].setting()).queueSetting == s) {
		return false
	}
	t.queuesChanged = true
	r = t.writable(r)
	q := makeQueue(g.index, t.queues.acquire(s))
	if i >= 0 {
		t.queues.release(r.queues[i].setting())
		r.queues[i] = q
		return true
	}
	at, _ := slices.BinarySearchFunc(r.queues, g.Name, func(q queue, name string) int {
		return strings.Compare(t.brokers.at(q.group()).Name, name)
	})
	r.queues = slices.Insert(r.queues, at, q)
	t.index.added(g.index, r.id)
	return true
}

// removeQueue takes a group off a topic, with its mapping; a topic without queues is gone.
func (t *Table) removeQueue(topic string, g *Group) {
	r, ok := t.topics.Get(topic)
	if !ok {
		return
	}
	i := r.find(g.index)
	if i < 0 {
		return
	}
	t.queuesChanged = true
	t.queues.release(r.queues[i].setting())
	if len(r.queues) == 1 {
		t.topics.Delete(topic)
		t.namesChanged = true
		t.bytes -= listedBytes(topic)
		t.index.removed(g.index, t.hasQueue(g.index))
		t.index.freeID(r.id)
		t.removeMappings(topic)
		return
	}
	r = t.writable(r)
	r.queues = slices.Delete(r.queues, i, i+1)
	t.index.removed(g.index, t.hasQueue(g.index))
	t.removeMapping(topic, func(e mappingEntry) bool { return e.brokerName == g.Name })
}

// writable returns the topic's route for writing: itself if this batch made it, else a copy.
func (t *Table) writable(r *TopicRoute) *TopicRoute {
	if r.born == t.batch {
		return r
	}
	c := &TopicRoute{name: r.name, id: r.id, born: t.batch, queues: make([]queue, len(r.queues), len(r.queues)+1)}
	copy(c.queues, r.queues)
	t.topics.Set(r.name, c)
	return c
}

// topicsOf returns the ids of the topics that have a queue of the group.
func (t *Table) topicsOf(g *Group) []uint32 { return t.index.topics(g.index, t.hasQueue(g.index)) }

func (t *Table) hasQueue(group int) func(id uint32) bool {
	return func(id uint32) bool {
		r, ok := t.topics.Get(t.index.names[id])
		return ok && r.id == id && r.find(group) >= 0
	}
}
