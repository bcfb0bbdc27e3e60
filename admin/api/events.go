package api

import (
	"slices"
	"strings"

	"github.com/waymark-mq/waymark/namesrv"
)

// eventJSON is an event; what it doesn't have is left out.
type eventJSON struct {
	Seq           uint64   `json:"seq"`
	Time          jsonTime `json:"time"`
	Kind          string   `json:"kind"`
	Text          string   `json:"text"`
	Cluster       string   `json:"cluster,omitempty"`
	Broker        string   `json:"broker,omitempty"`
	ID            *int64   `json:"id,omitempty"`
	Address       string   `json:"address,omitempty"`
	Connection    uint64   `json:"connection,omitempty"`
	Peer          string   `json:"peer,omitempty"`
	Topics        int      `json:"topics,omitempty"`
	TopicsChanged int      `json:"topicsChanged,omitempty"`
	TopicsGone    int      `json:"topicsGone,omitempty"`
	Other         string   `json:"other,omitempty"`
	Topic         string   `json:"topic,omitempty"`
	Namespace     string   `json:"namespace,omitempty"`
	Key           string   `json:"key,omitempty"`
	Detail        string   `json:"detail,omitempty"`
	NeedsRestart  bool     `json:"needsRestart,omitempty"`
}

func eventOf(e *namesrv.Event) *eventJSON {
	if e == nil {
		return nil
	}
	j := &eventJSON{
		Seq: e.Seq, Time: jsonTime(e.Time), Kind: e.Kind, Text: e.Text, Cluster: e.Cluster, Broker: e.Broker, Address: e.Addr,
		Connection: e.Conn, Peer: e.Peer, Topics: e.Topics, TopicsChanged: e.TopicsChanged, TopicsGone: int(e.Gone), Other: e.Other,
		Topic: e.Topic, Namespace: e.Namespace, Key: e.Key, Detail: e.Detail, NeedsRestart: e.NeedsRestart,
	}
	if e.Addr != "" {
		id := e.BrokerID
		j.ID = &id
	}
	return j
}

// events lists what happened, oldest first.
func (r *request) events() error {
	after, limit, err := r.numbered()
	if err != nil {
		return err
	}
	keep, err := r.eventFilter()
	if err != nil {
		return err
	}
	p := r.src.Events(after, limit, keep)
	r.begin("events")
	for _, e := range p.Events {
		r.item(eventOf(e))
	}
	r.end(struct {
		Next      uint64 `json:"next"`
		Oldest    uint64 `json:"oldest"`
		Newest    uint64 `json:"newest"`
		Missed    uint64 `json:"missed"`
		Restarted bool   `json:"restarted,omitempty"`
		Process   string `json:"process"`
	}{p.Next, p.Oldest, p.Newest, p.Missed, p.Restarted, r.process})
	return nil
}

// eventFilter is what the parameters kind (several with commas), broker and topic let through.
func (r *request) eventFilter() (func(*namesrv.Event) bool, error) {
	var kinds []string
	if text := r.parameters.Get("kind"); text != "" {
		kinds = strings.Split(text, ",")
	}
	for _, kind := range kinds {
		if known := namesrv.EventKinds(); !slices.Contains(known, kind) {
			return nil, badRequest("unknown kind %q; known are %q", kind, known)
		}
	}
	broker, ofBroker := r.parameters.Get("broker"), r.parameters.Has("broker")
	topic, ofTopic := r.parameters.Get("topic"), r.parameters.Has("topic")
	return func(e *namesrv.Event) bool {
		return (len(kinds) == 0 || slices.Contains(kinds, e.Kind)) && (!ofBroker || e.Broker == broker) && (!ofTopic || e.Topic == topic)
	}, nil
}
