package api

import (
	"net/http"
	"slices"
	"strconv"

	"github.com/waymark-mq/waymark/core"
	"github.com/waymark-mq/waymark/namesrv"
)

// topics lists topic names.
func (r *request) topics() error {
	limit, err := r.limit()
	if err != nil {
		return err
	}
	type topicJSON struct {
		Name        string `json:"name"`
		Brokers     int    `json:"brokers"`
		ReadQueues  int64  `json:"readQueues"`
		WriteQueues int64  `json:"writeQueues"`
	}
	s, rest := r.src.Snapshot(), nextName{}
	names, more := s.TopicNames(r.parameters.Get("prefix"), r.parameters.Get("after"), limit)
	if more {
		rest.Next = &names[len(names)-1]
	}
	r.begin("topics")
	for _, name := range names {
		v, _ := s.Topic(name)
		t := topicJSON{Name: name, Brokers: len(v.Queues)}
		for _, q := range v.Queues {
			t.ReadQueues += int64(q.ReadQueueNums)
			t.WriteQueues += int64(q.WriteQueueNums)
		}
		r.item(t)
	}
	r.end(rest)
	return nil
}

// queueJSON is a broker name's share of a topic, and why it is so.
type queueJSON struct {
	Broker        string         `json:"broker"`
	Cluster       string         `json:"cluster"`
	Zone          *string        `json:"zone,omitempty"`
	ReadQueues    int32          `json:"readQueues"`
	WriteQueues   int32          `json:"writeQueues"`
	Perm          int32          `json:"perm"`
	SysFlag       int32          `json:"sysFlag"`
	ActingMaster  bool           `json:"actingMaster"`
	StaticMapping bool           `json:"staticMapping,omitempty"`
	Provisional   bool           `json:"provisional,omitempty"` // restored, and no registration has brought it since the start
	TopicsFrom    *int64         `json:"topicsFrom,omitempty"`
	Members       []memberJSON   `json:"members"`
	Why           *brokerWhyJSON `json:"why,omitempty"`
}

// brokerWhyJSON are the latest events that explain a broker's state.
type brokerWhyJSON struct {
	LastChange     *eventJSON `json:"lastChange,omitempty"`
	LastRefused    *eventJSON `json:"lastRefused,omitempty"`
	LastRemoved    *eventJSON `json:"lastRemoved,omitempty"`
	LastPermission *eventJSON `json:"lastPermission,omitempty"`
}

// whySlots are the fields of a brokerWhyJSON by kind of event.
var whySlots = map[string][]func(*brokerWhyJSON) **eventJSON{}

// moved is an event of two broker names: the one that an address left, Other, and the one that it is under now.
const moved = "moved"

func lastRemoved(w *brokerWhyJSON) **eventJSON { return &w.LastRemoved }

func init() {
	for _, s := range []struct {
		slot  func(*brokerWhyJSON) **eventJSON
		kinds []string
	}{
		{func(w *brokerWhyJSON) **eventJSON { return &w.LastChange }, []string{"registered", "changed", "replaced", moved}},
		{func(w *brokerWhyJSON) **eventJSON { return &w.LastRefused }, []string{"refused", "conflict", "rejected"}},
		{lastRemoved, []string{"expired", "closed", "unregistered", "replaced", "unanswered", "told_dead", "unconfirmed", "refused_connection"}}, // another address lost its place in the last
		{func(w *brokerWhyJSON) **eventJSON { return &w.LastPermission }, []string{"write_permission_wiped", "write_permission_added"}},
	} {
		for _, kind := range s.kinds {
			whySlots[kind] = append(whySlots[kind], s.slot)
		}
	}
}

// noteEvent takes an event into the explanations of the broker names that it concerns, where it is the latest of its slot; events
// come newest first. of returns nil for a name that nobody asks about.
func noteEvent(e *namesrv.Event, of func(broker string) *brokerWhyJSON) {
	if w := of(e.Broker); w != nil {
		for _, find := range whySlots[e.Kind] {
			w.note(find, e)
		}
	}
	if e.Kind != moved {
		return
	}
	if w := of(e.Other); w != nil {
		w.note(lastRemoved, e)
	}
}

func (w *brokerWhyJSON) note(find func(*brokerWhyJSON) **eventJSON, e *namesrv.Event) {
	if slot := find(w); *slot == nil {
		*slot = eventOf(e)
	}
}

// brokerWhy goes through the remembered events of one broker name.
func (r *request) brokerWhy(name string) (w brokerWhyJSON) {
	for e := range r.src.LatestEvents() {
		noteEvent(e, func(broker string) *brokerWhyJSON {
			if broker == name {
				return &w
			}
			return nil
		})
	}
	return w
}

// maxTopicEvents is how many events of a topic itself are shown.
const maxTopicEvents = 20

// topic shows a topic's route and why it is so, or why there is none.
func (r *request) topic() error {
	s := r.src.Snapshot()
	v, ok := s.Topic(r.name)
	if !ok {
		return r.noTopic()
	}
	whys := make(map[string]*brokerWhyJSON, len(v.Queues))
	for _, q := range v.Queues {
		whys[q.Group.Name] = &brokerWhyJSON{}
	}
	var of []*eventJSON // of the topic itself
	for e := range r.src.LatestEvents() {
		noteEvent(e, func(broker string) *brokerWhyJSON { return whys[broker] })
		if e.Topic == r.name && len(of) < maxTopicEvents {
			of = append(of, eventOf(e))
		}
	}
	r.begin("queues")
	for _, q := range v.Queues {
		r.item(queueJSON{
			Broker: q.Group.Name, Cluster: q.Group.ClusterName, Zone: nullable(q.Group.ZoneName),
			ReadQueues: q.ReadQueueNums, WriteQueues: q.WriteQueueNums, Perm: q.Perm, SysFlag: q.TopicSysFlag,
			ActingMaster: q.Group.ActingMaster, StaticMapping: slices.Contains(v.Mapped, q.Group.Name), Provisional: q.Provisional,
			TopicsFrom: topicsFrom(q.Group), Members: r.membersOf(s, q.Group), Why: whys[q.Group.Name],
		})
	}
	r.end(struct {
		Topic     string       `json:"topic"`
		OrderConf string       `json:"orderConf,omitempty"`
		Events    []*eventJSON `json:"events,omitempty"`
	}{r.name, v.OrderConf, of})
	return nil
}

// topicsFrom is the id of the member whose registration brings the topics: the master's, else the smallest that isn't negative.
func topicsFrom(g *core.Group) *int64 {
	for _, a := range g.Addrs {
		if a.BrokerID >= core.MasterID {
			return &a.BrokerID
		}
	}
	return nil
}

// noTopicJSON says why there is no topic.
type noTopicJSON struct {
	// Reason is deleted, broker_removed, taken_off, forgotten, never_seen or unknown.
	Reason string     `json:"reason"`
	Event  *eventJSON `json:"event,omitempty"`
}

// removals are the kinds of events in which a broker name goes with its topics.
var removals = []string{"expired", "closed", "unregistered", moved, "unanswered", "told_dead", "unconfirmed", "refused_connection"}

func (r *request) noTopic() error {
	gone := r.src.TopicGone(r.name)
	why, message := noTopicJSON{Event: eventOf(gone.Event)}, ""
	switch {
	case !gone.Found && gone.Complete:
		why.Reason, message = "never_seen", "no broker has registered this topic since the start of the server"
	case !gone.Found:
		why.Reason, message = "unknown", "no broker has this topic, and it is none of those that went last"
	case gone.Event == nil:
		why.Reason, message = "forgotten", "the topic lost its last broker; the event is forgotten"
	case gone.Event.Kind == "topic_deleted":
		why.Reason, message = "deleted", "a tool deleted the topic"
	case slices.Contains(removals, gone.Event.Kind):
		why.Reason, message = "broker_removed", "the last broker that had the topic went: event "+strconv.FormatUint(gone.Event.Seq, 10)
	default:
		why.Reason, message = "taken_off", "the last broker that had the topic registered without it"
	}
	r.failWith(failure{http.StatusNotFound, "topic_not_found", message}, why)
	return nil
}
