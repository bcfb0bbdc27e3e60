package core

import "github.com/waymark-mq/waymark/codec"

const (
	permWrite     = codec.PermWrite
	permReadWrite = codec.PermRead | codec.PermWrite
)

// deleteTopic applies DELETE_TOPIC_IN_NAMESRV (216): the topic, or its queues and
// mappings of one cluster's brokers. It returns with the next registration of a broker that has it.
func (t *Table) deleteTopic(c *DeleteTopic) {
	e := &Event{Kind: EventTopicDeleted, ClusterName: c.ClusterName, Topic: c.Topic, Conn: c.By.Conn, PeerAddr: c.By.Addr}
	in := func(string) bool { return true }
	if c.ClusterName != "" {
		in = func(name string) bool { return t.brokers.inCluster(c.ClusterName, name) }
	}
	if r, ok := t.topics.Get(c.Topic); ok {
		for _, q := range r.list.queues {
			if g := t.brokers.at(q.group()); in(g.Name) {
				t.removeQueue(c.Topic, g)
				t.brokers.mark(g)
				e.TopicsChanged++
			}
		}
	}
	t.removeMapping(c.Topic, func(e mappingEntry) bool { return in(e.brokerName) })
	if e.TopicsChanged > 0 {
		e.Gone = t.takeGone()
		t.effect(e)
	}
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
	e := &Event{Kind: EventTopicRegistered, Topic: c.Topic, Conn: c.By.Conn, PeerAddr: c.By.Addr}
	for _, q := range c.Queues {
		g := t.brokers.group(q.BrokerName)
		if g == nil {
			break
		}
		if t.setQueue(c.Topic, g, queueSetting{q.ReadQueueNums, q.WriteQueueNums, q.Perm, q.TopicSysFlag, false}, true) {
			t.brokers.mark(g)
			e.TopicsChanged++
		}
	}
	if e.TopicsChanged > 0 {
		t.effect(e)
	}
}

func withoutWrite(perm int32) int32 { return perm &^ permWrite }

// setPerm changes the permission of all queues of a broker name and returns how many
// there are and how many of them it changed; told hears what becomes of how many topics. Registrations of an unchanged
// DataVersion leave it so. A group of which anything has changed is marked: its topics are no longer as it
// registered them, so its next registration is looked at even if it is the same again.
func (t *Table) setPerm(brokerName string, perm func(int32) int32, told func(before, after int32, topics int)) (found, changed int) {
	g := t.brokers.group(brokerName)
	if g == nil {
		return 0, 0
	}
	if t.lists.hasJoined(g.index) {
		t.settle()
	}
	for l := range t.lists.of(g.index) {
		s := t.queues.table.at(l.queues[l.find(g.index)].setting()).queueSetting
		before := s.perm
		s.perm = perm(before)
		found += len(l.topics)
		told(before, s.perm, len(l.topics))
		if s.perm != before {
			t.noteList(l, g, &s)
			setting := t.queues.acquire(s)
			t.lists.join(l, makeQueue(g.index, setting))
			t.queues.release(setting)
			changed += len(l.topics)
		}
	}
	if changed > 0 {
		t.topicsChanged += changed
		t.brokers.mark(g)
	}
	return found, changed
}

// setQueue stores a group's queue of a topic if the topic lacks it, has a restored one or, with
// replace, if it differs; it reports whether anything changed.
func (t *Table) setQueue(topic string, g *Group, s queueSetting, replace bool) bool {
	r, known := t.topics.Get(topic)
	if !known {
		r = t.newTopic(topic)
	}
	return t.setQueueOf(r, g, s, replace)
}

// newTopic stores a topic, which is to be given a queue at once.
func (t *Table) newTopic(topic string) *TopicRoute {
	r := &TopicRoute{name: topic, list: noQueues, id: t.index.newID(topic), born: t.batch}
	t.topics.Set(topic, r)
	t.namesChanged = true
	t.bytes += listedBytes(topic)
	return r
}

// setQueueOf is setQueue for a topic that is stored.
func (t *Table) setQueueOf(r *TopicRoute, g *Group, s queueSetting, replace bool) bool {
	if r.list.edit != nil {
		t.settle()
		r, _ = t.topics.Get(r.name)
	}
	if !replace && r.list.find(g.index) >= 0 && !t.restoredQueue(r.list, g) {
		return false
	}
	setting := t.queues.acquire(s)
	defer t.queues.release(setting)
	to := t.lists.with(r.list, makeQueue(g.index, setting))
	if to == r.list {
		return false
	}
	if t.edits != nil {
		t.edits.note(r.name, t.queueSetting(r.list, g), &s)
	}
	t.setList(r, to)
	return true
}

// queueSetting is what a group has of the topics of a list; nil: nothing.
func (t *Table) queueSetting(l *queueList, g *Group) *queueSetting {
	i := l.find(g.index)
	if i < 0 {
		return nil
	}
	s := t.queues.table.at(l.queues[i].setting()).queueSetting
	return &s
}

// noteList notes that a group's queue of all topics of a list is another now; nil stands for none.
func (t *Table) noteList(l *queueList, g *Group, after *queueSetting) {
	if t.edits == nil {
		return
	}
	before := t.queueSetting(l, g)
	for _, id := range l.topics {
		t.edits.note(t.index.names[id], before, after)
	}
}

// setList gives a topic another list.
func (t *Table) setList(r *TopicRoute, to *queueList) {
	t.topicsChanged++
	t.moveTo(r, to)
}

// moveTo is setList for a change that is counted already.
func (t *Table) moveTo(r *TopicRoute, to *queueList) {
	old := r.list
	if r.born != t.batch { // a snapshot has it
		r = &TopicRoute{name: r.name, id: r.id, born: t.batch}
		t.topics.Set(r.name, r)
	}
	r.list = to
	if old != noQueues {
		t.leaveList(r.id, old)
	}
	t.index.enter(to, r.id)
}

func (t *Table) leaveList(id uint32, l *queueList) {
	if t.index.leave(l, id); len(l.topics) == 0 {
		t.lists.drop(l)
	}
}

// removeQueue takes a group off a topic, with its mapping; a topic without queues is gone. Settle first.
func (t *Table) removeQueue(topic string, g *Group) {
	r, ok := t.topics.Get(topic)
	if !ok {
		return
	}
	to := t.lists.without(r.list, g.index)
	if t.edits != nil && to != r.list {
		t.edits.note(topic, t.queueSetting(r.list, g), nil)
	}
	switch to {
	case r.list:
	case noQueues:
		t.removeTopic(r)
	default:
		t.setList(r, to)
		t.removeMapping(topic, func(e mappingEntry) bool { return e.brokerName == g.Name })
	}
}

func (t *Table) removeTopic(r *TopicRoute) {
	t.namesChanged = true
	t.topicsChanged++
	t.topics.Delete(r.name)
	t.bytes -= listedBytes(r.name)
	t.leaveList(r.id, r.list)
	t.index.freeID(r.id)
	t.removeMappings(r.name)
	t.noteGone(r.name)
}

// topicsOf returns the ids of the topics that have a queue of the group.
func (t *Table) topicsOf(g *Group) []uint32 { return t.lists.topicsOf(g.index) }
