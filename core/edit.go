package core

import "github.com/waymark-mq/waymark/codec"

// Edit is what an operator's command on topics or permissions has changed, for logs; one that changed nothing leaves none.
type Edit struct {
	// Command is the index of the command in its step.
	Command int
	// TopicsChanged is how many topics have other queues now, or are gone.
	TopicsChanged int
	// Before and After are the queues of the topic of a DeleteTopic or RegisterTopic, by broker name; nil: there was none, or
	// there is none left.
	Before, After []codec.QueueData
	// PermsBefore and PermsAfter are how many topics of the broker of a WipeWritePerm or AddWritePerm had which
	// permission, and have; nil for other commands.
	PermsBefore, PermsAfter map[int32]int
}

func (*Edit) effect() {}

// editTopic carries out a command on a topic and tells what it changed.
func (t *Table) editTopic(topic string, apply func()) {
	t.settle()
	changed := t.topicsChanged
	before := t.queuesOf(topic)
	if apply(); t.topicsChanged > changed {
		t.effect(&Edit{TopicsChanged: 1, Before: before, After: t.queuesOf(topic)})
	}
}

// editPerm sets the permission of a broker's topics for by, tells what it changed, and returns how many topics there are.
func (t *Table) editPerm(kind EventKind, by Peer, brokerName string, perm func(int32) int32) (count int) {
	before, after := map[int32]int{}, map[int32]int{}
	count, changed := t.setPerm(brokerName, perm, func(from, to int32, topics int) {
		before[from] += topics
		after[to] += topics
	})
	if changed > 0 {
		t.effect(&Edit{TopicsChanged: changed, PermsBefore: before, PermsAfter: after})
		t.effect(&Event{
			Kind: kind, BrokerName: brokerName, ClusterName: t.brokers.group(brokerName).ClusterName,
			Conn: by.Conn, PeerAddr: by.Addr, Topics: count, TopicsChanged: changed,
		})
	}
	return count
}

// queuesOf are the queues of a topic as the batch has them by now.
func (t *Table) queuesOf(topic string) []codec.QueueData {
	r, ok := t.topics.Get(topic)
	if !ok {
		return nil
	}
	queues := make([]codec.QueueData, len(r.list.queues))
	for i, q := range r.list.queues {
		s := t.queues.table.at(q.setting())
		queues[i] = codec.QueueData{
			BrokerName: t.brokers.at(q.group()).Name, ReadQueueNums: s.read, WriteQueueNums: s.write, Perm: s.perm, TopicSysFlag: s.sysFlag,
		}
	}
	return queues
}
