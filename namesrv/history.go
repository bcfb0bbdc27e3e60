package namesrv

import (
	"fmt"
	"iter"
	"time"

	"github.com/waymark-mq/waymark/core"
	"github.com/waymark-mq/waymark/internal/excerpt"
	"github.com/waymark-mq/waymark/namesrv/settings"
)

const (
	// maxEvents is how many events are remembered.
	maxEvents = 10_000
	// maxGoneTopics is how many topics that lost their last broker are remembered.
	maxGoneTopics = 10_000
	// maxEventText bounds each text of an event, in bytes; RocketMQ's own names are shorter.
	maxEventText = 255
)

// Event is something that happened to the table or the configuration. It is immutable.
type Event struct {
	Seq  uint64 // from 1, without gaps, since the start of the process
	Time time.Time
	Kind string // see EventKinds
	Text string // what the kind means

	Cluster, Broker, Addr string
	BrokerID              int64
	// Conn and Peer are the connection that asked for it, that ended, or that owned a broker that expired; 0 and "" if nobody knows.
	Conn uint64
	Peer string
	// Topics and TopicsChanged are as in core.Event.
	Topics, TopicsChanged int
	Gone                  int32  // topics that no broker has any more because of it
	NeedsRestart          bool   // of a changed setting: the server works with the former value until it is restarted
	Other                 string // the other party: another address, name or cluster
	Topic                 string
	Namespace, Key        string
	Detail                string // of a changed setting, from what to what; of a freeze, how long; of held expiries, how many; of a rejection, why; of a drain, how far
}

const (
	kindConfigChanged = "config_changed"
	textConfigChanged = "setting changed"
)

// history remembers the last events and the last topics that went, for people who ask why.
//
// Concurrency contract
//
//	Owner:    the writer records.
//	Readers:  any goroutine, without making the writer wait; see ring.
//	Memory:   maxEvents events of 256 bytes and at most nine texts of maxEventText, and
//	          maxGoneTopics names of at most maxEventText. Names are mostly the table's own.
type history struct {
	events *ring[Event]
	gone   *ring[goneTopic]
	wall   func() time.Time
}

// goneTopic is a topic that lost its last broker, and the event in which it did.
type goneTopic struct {
	name  string
	event uint64
}

func newHistory(wall func() time.Time) *history {
	return &history{events: newRing[Event](maxEvents), gone: newRing[goneTopic](maxGoneTopics), wall: wall}
}

// record remembers an event of the table; peer is the other end of its connection. Registrations that change nothing
// aren't remembered: they come all the time.
func (h *history) record(e *core.Event, peer string) {
	if e.Kind == core.EventUnchanged {
		return
	}
	r := Event{
		Kind: eventKinds[e.Kind].name, Text: eventKinds[e.Kind].text,
		Cluster: bounded(e.ClusterName), Broker: bounded(e.BrokerName), Addr: bounded(e.BrokerAddr), BrokerID: e.BrokerID,
		Conn: uint64(e.Conn), Peer: bounded(peer), Topics: e.Topics, TopicsChanged: e.TopicsChanged, Gone: int32(len(e.Gone)),
		Other: bounded(e.Other), Topic: bounded(e.Topic), Namespace: bounded(e.Namespace), Key: bounded(e.Key),
	}
	switch e.Kind {
	case core.EventDeadlinesShifted:
		r.Detail = time.Duration(e.LatenessNanos).String()
	case core.EventExpiryHeld:
		r.Detail = fmt.Sprintf("%d of %d brokers", e.Brokers, e.AllBrokers)
	case core.EventExpiryGuardEnded:
		r.Detail = fmt.Sprintf("%d brokers held, %d expired", e.Brokers, e.Expired)
	case core.EventRestored:
		r.Detail = fmt.Sprintf("%d brokers", e.Brokers)
	case core.EventRestoreEnded:
		r.Detail = fmt.Sprintf("%d of %d brokers confirmed", e.Brokers, e.AllBrokers)
	}
	seq := h.add(r)
	if len(e.Gone) == 0 {
		return
	}
	gone := make([]goneTopic, len(e.Gone))
	for i, name := range e.Gone {
		gone[i] = goneTopic{bounded(name), seq}
	}
	h.gone.push(gone...)
}

// recordSetting remembers a setting that 318 changed.
func (h *history) recordSetting(c settings.Change, by core.Peer) {
	h.add(Event{
		Kind: kindConfigChanged, Text: textConfigChanged, Key: bounded(c.Key), Conn: uint64(by.Conn), Peer: bounded(by.Addr),
		Detail: bounded(short(c.Old) + " → " + short(c.New)), NeedsRestart: c.NeedsRestart,
	})
}

func (h *history) add(e Event) (seq uint64) {
	e.Seq, e.Time = h.events.newest.Load()+1, h.wall()
	h.events.push(e)
	return e.Seq
}

// addEvent remembers an event that isn't the table's: the history is the writer's. Any goroutine.
func (s *Server) addEvent(e Event) {
	s.pass(change{command: nothing, then: func() { s.history.add(e) }}, s.clock.Now())
}

// bounded is s, or as much of it as an event may hold.
func bounded(s string) string { return excerpt.Of(s, maxEventText) }

// EventKinds are the kinds of events there are.
func EventKinds() []string {
	var kinds []string
	for kind := range core.EventKinds {
		if kind != core.EventUnchanged {
			kinds = append(kinds, eventKinds[kind].name)
		}
	}
	return append(kinds, kindConfigChanged, kindRejected, drainBegun.kind, drainEnded.kind, kindSuspected, kindTrusted)
}

// EventPage is a part of the remembered events, oldest first.
type EventPage struct {
	Events []*Event
	// Oldest and Newest are the sequence numbers remembered; 1 and 0 if nothing has happened.
	Oldest, Newest uint64
	// Next is where to go on: behind the last event that was looked at.
	Next uint64
	// Missed is how many events behind the one asked for are forgotten.
	Missed uint64
	// Restarted: the one asked for is yet to come, so it was another process's. The page begins at the oldest.
	Restarted bool
}

// Events returns the first limit events behind a sequence number that keep accepts. Any goroutine.
func (s *Server) Events(after uint64, limit int, keep func(*Event) bool) EventPage {
	r := s.history.events
	p := EventPage{Next: after}
	p.Oldest, p.Newest = r.bounds()
	if after > p.Newest {
		p.Next, p.Restarted = 0, true
	}
	if p.Next+1 < p.Oldest {
		p.Missed = p.Oldest - p.Next - 1
		p.Next = p.Oldest - 1
	}
	for p.Next < p.Newest && len(p.Events) < limit {
		p.Next++
		e, ok := r.at(p.Next)
		switch {
		case !ok: // written over since
			p.Missed++
		case keep(e):
			p.Events = append(p.Events, e)
		}
	}
	return p
}

// LatestEvents yields the remembered events, newest first. Any goroutine.
func (s *Server) LatestEvents() iter.Seq[*Event] {
	return func(yield func(*Event) bool) {
		oldest, newest := s.history.events.bounds()
		for seq := newest; seq >= oldest; seq-- {
			if e, ok := s.history.events.at(seq); !ok || !yield(e) {
				return
			}
		}
	}
}

// Gone is what is remembered of a topic's going.
type Gone struct {
	Found bool
	// Event is the one in which the topic lost its last broker; nil if it is forgotten.
	Event *Event
	// Complete: every topic that went since the start of the process is remembered, so one that isn't found was never there.
	Complete bool
}

// TopicGone tells how a topic went when it last did. Any goroutine.
func (s *Server) TopicGone(topic string) Gone {
	topic = bounded(topic)
	oldest, newest := s.history.gone.bounds()
	for n := newest; n >= oldest; n-- {
		g, there := s.history.gone.at(n)
		if !there {
			return Gone{} // written over since
		}
		if g.name == topic {
			e, _ := s.history.events.at(g.event)
			return Gone{Found: true, Event: e}
		}
	}
	return Gone{Complete: oldest == 1}
}
