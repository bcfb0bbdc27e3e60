package core

import (
	"encoding/binary"
	"hash"
	"hash/fnv"
	"slices"
	"strings"
)

// BrokerEdit is what has changed with an event of a broker, for accounts that tell what stood there before and stands there
// now. What it points to is the table's and immutable.
type BrokerEdit struct {
	Before, After BrokerState
	// Topics are the topics of the broker name that were given to it, taken off it or given other queues, by name; MaxTopicEdits of
	// them at most.
	Topics []TopicEdit
}

// BrokerState is how a broker name and one address of it stand in the table.
type BrokerState struct {
	Group *Group // the broker name; nil: there is none
	Live  *Live  // what the address has registered under this name; nil: nothing
	// Digest is the sum, modulo 2^64, of the FNV-1a hashes of all queues that an edit has before or after: of the topic's name, a zero
	// byte, and read queues, write queues, permission and flags as big-endian int32. The same changes of the same tables have the
	// same digest, in whatever order they are made and on whichever server.
	Digest uint64
}

// TopicEdit is the queue of a broker name in one topic; nil: there was none, or there is none left.
type TopicEdit struct {
	Topic         string
	Before, After *QueueState
}

// QueueState is what a broker name has of a topic.
type QueueState struct{ Read, Write, Perm, SysFlag int32 }

// MaxTopicEdits bounds the topics that a BrokerEdit names.
const MaxTopicEdits = 4

// brokerEdits notes what a command changes, for the BrokerEdit of its events. Nil notes nothing.
type brokerEdits struct {
	before, after uint64
	topics        []TopicEdit
	hash          hash.Hash64
	scratch       []byte
}

// TellEdits makes the events of brokers come with their BrokerEdit. It costs a hash for each topic that a command changes.
// Before the first Step.
func (t *Table) TellEdits() { t.edits = &brokerEdits{hash: fnv.New64a()} }

// forget begins anew: what follows is of another event.
func (e *brokerEdits) forget() {
	if e != nil {
		e.before, e.after, e.topics = 0, 0, nil
	}
}

// note takes in that a broker name's queue of a topic is another now; nil stands for none. That a restored one is confirmed is
// no change: whoever reads the accounts of both processes finds the same there.
func (e *brokerEdits) note(topic string, before, after *queueSetting) {
	if e == nil || before != nil && after != nil && *before.state() == *after.state() {
		return
	}
	e.before += e.digest(topic, before)
	e.after += e.digest(topic, after)
	if len(e.topics) < MaxTopicEdits {
		e.topics = append(e.topics, TopicEdit{topic, before.state(), after.state()})
	}
}

func (e *brokerEdits) digest(topic string, s *queueSetting) uint64 {
	if s == nil {
		return 0
	}
	b := append(append(e.scratch[:0], topic...), 0)
	for _, n := range [...]int32{s.read, s.write, s.perm, s.sysFlag} {
		b = binary.BigEndian.AppendUint32(b, uint32(n))
	}
	e.scratch = b
	e.hash.Reset()
	_, _ = e.hash.Write(b)
	return e.hash.Sum64()
}

func (s *queueSetting) state() *QueueState {
	if s == nil {
		return nil
	}
	return &QueueState{s.read, s.write, s.perm, s.sysFlag}
}

// stateOf is how a broker name and an address of it stand by now; the zero BrokerState if nobody wants to know.
func (t *Table) stateOf(brokerName, key string) BrokerState {
	if t.edits == nil {
		return BrokerState{}
	}
	s := BrokerState{Group: t.brokers.group(brokerName)}
	if l, ok := t.live.Get(key); ok && l.BrokerName == brokerName {
		s.Live = l
	}
	return s
}

// edited is the edit that has led from before to what stands there by now.
func (t *Table) edited(before BrokerState, brokerName, key string) *BrokerEdit {
	if t.edits == nil {
		return nil
	}
	slices.SortStableFunc(t.edits.topics, func(a, b TopicEdit) int { return strings.Compare(a.Topic, b.Topic) })
	e := &BrokerEdit{Before: before, After: t.stateOf(brokerName, key), Topics: t.edits.topics}
	e.Before.Digest, e.After.Digest = t.edits.before, t.edits.after
	t.edits.forget()
	return e
}
