package nsctl

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/waymark-mq/waymark/codec"
	"github.com/waymark-mq/waymark/nsctl/ask"
	"github.com/waymark-mq/waymark/nsctl/diff"
	"github.com/waymark-mq/waymark/nsctl/httpside"
)

func (t *tool) routeCommand() *cobra.Command {
	return &cobra.Command{
		Use: "route TOPIC", Short: "Show a topic's route, and why it is so or why there is none", Args: cobra.ExactArgs(1),
		ValidArgsFunction: t.completeTopics,
		RunE:              func(c *cobra.Command, args []string) error { return t.route(c.Context(), args[0]) },
	}
}

func (t *tool) brokerCommand() *cobra.Command {
	return &cobra.Command{
		Use: "broker NAME", Short: "Show a broker name's addresses, and what happened to it", Args: cobra.ExactArgs(1),
		ValidArgsFunction: t.completeBrokers,
		RunE:              func(c *cobra.Command, args []string) error { return t.broker(c.Context(), args[0]) },
	}
}

// shown is the JSON of route and broker. Without the HTTP side the object has what the protocol tells, under the same names.
type shown struct {
	Nameserver string `json:"nameserver"`
	Source     string `json:"source"` // api or remoting
	Found      any    `json:"found"`  // null: there is none
	Why        any    `json:"why,omitempty"`
}

// look asks the HTTP side. Without one, sideErr says why; found is false if the API knows no such thing.
func (t *tool) look(ctx context.Context, addr string, ask func(*httpside.Client) error) (found bool, missing *httpside.StatusError, sideErr error) {
	addrs, err := t.nameservers()
	if err != nil {
		return false, nil, err
	}
	side, _, err := t.httpSide(ctx, addr, 0, len(addrs))
	if err != nil { // another server's 404 is none of the topic's
		return false, nil, err
	}
	defer side.Close()
	err = ask(side)
	if errors.As(err, &missing) && missing.NotFound() {
		return false, missing, nil
	}
	return err == nil, nil, err
}

// first is the nameserver that is looked into: the first of the list.
func (t *tool) first() (string, error) {
	addrs, err := t.nameservers()
	if err != nil {
		return "", err
	}
	return addrs[0], nil
}

func (t *tool) withoutSide(err error) {
	t.note("by the remoting protocol alone, without why: %v", err)
}

func (t *tool) route(ctx context.Context, topic string) error {
	addr, err := t.first()
	if err != nil {
		return err
	}
	var r *httpside.Topic
	var raw json.RawMessage
	found, missing, sideErr := t.look(ctx, addr, func(side *httpside.Client) (err error) {
		r, raw, err = side.Topic(ctx, topic)
		return err
	})
	switch {
	case found:
		if t.json() {
			return t.writeJSON(shown{Nameserver: addr, Source: "api", Found: raw})
		}
		t.routeTable(r, true)
		return nil
	case sideErr == nil:
		return t.tellNone(addr, "no route of "+topic, missing)
	}
	t.withoutSide(sideErr)
	n, err := t.dial(ctx, addr)
	if err != nil {
		return err
	}
	defer n.Close()
	data, err := n.Route(ctx, topic)
	if errors.Is(err, ask.ErrNoRoute) {
		return t.tellNone(addr, "no route of "+topic, nil)
	}
	if err != nil {
		return err
	}
	r = topicOf(topic, data)
	if t.json() {
		return t.writeJSON(shown{Nameserver: addr, Source: "remoting", Found: r})
	}
	t.routeTable(r, false)
	return nil
}

// topicOf is a route of the protocol in the API's form.
func topicOf(topic string, data *codec.TopicRouteData) *httpside.Topic {
	r := &httpside.Topic{Topic: topic, OrderConf: data.OrderTopicConf.S}
	brokers := map[string]codec.BrokerData{}
	for _, b := range data.Brokers {
		brokers[b.BrokerName] = b
	}
	for _, q := range data.Queues {
		b := brokers[q.BrokerName]
		r.Queues = append(r.Queues, httpside.Queue{
			Broker: q.BrokerName, Cluster: b.Cluster, ReadQueues: q.ReadQueueNums, WriteQueues: q.WriteQueueNums, Perm: q.Perm, Members: membersOf(b),
		})
	}
	slices.SortStableFunc(r.Queues, func(a, b httpside.Queue) int { return cmp.Compare(a.Broker, b.Broker) })
	return r
}

func membersOf(b codec.BrokerData) (members []httpside.Member) {
	for _, a := range b.Addrs {
		members = append(members, httpside.Member{ID: a.ID, Address: a.Addr})
	}
	slices.SortFunc(members, func(a, b httpside.Member) int { return cmp.Compare(a.ID, b.ID) })
	return members
}

// routeTable has a line for each address; alive: signs of life are known.
func (t *tool) routeTable(r *httpside.Topic, alive bool) {
	table := t.newTable("BROKER", "CLUSTER", "READ", "WRITE", "PERM", "ID", "ADDRESS", "SILENT", "CONNECTION")
	for _, q := range r.Queues {
		for _, m := range q.Members {
			silent, owner := life(m, alive)
			table.row(q.Broker, q.Cluster, q.ReadQueues, q.WriteQueues, diff.Permission(q.Perm), m.ID, m.Address, silent, owner)
		}
	}
	table.end()
	if r.OrderConf != "" {
		t.say("order: %s", r.OrderConf)
	}
	for _, q := range r.Queues {
		t.tellWhy(q.Broker, q.Members, q.Why)
	}
}

// life is how long an address has been silent, and on which connection it was heard.
func life(m httpside.Member, alive bool) (silent, owner string) {
	if !alive {
		return "", ""
	}
	silent = ago(m.SilentSeconds)
	if m.Suspect || m.Probe != nil && m.Probe.Suspect {
		silent += " suspect"
	}
	if m.Provisional {
		silent += " provisional"
	}
	if m.Owner != nil {
		owner = m.Owner.Peer
		if !m.Owner.Open {
			owner += " closed"
		}
	}
	return silent, owner
}

// tellWhy tells the latest events of a broker name and what is doubtful of its addresses.
func (t *tool) tellWhy(broker string, members []httpside.Member, why httpside.Why) {
	for _, m := range members {
		if m.AddressDoubt != "" {
			t.say("%s %d: clients may not reach %s: %s", broker, m.ID, m.Address, m.AddressDoubt)
		}
		t.tellProbe(broker, &m)
	}
	for _, e := range []*httpside.Event{why.LastChange, why.LastRefused, why.LastRemoved, why.LastPermission} {
		if e != nil {
			t.say("%s: %s", broker, eventLine(e))
		}
	}
}

// tellProbe tells what speaks against an address by probes and peers.
func (t *tool) tellProbe(broker string, m *httpside.Member) {
	p := m.Probe
	switch {
	case p == nil:
		return
	case p.NotProbed != "":
		t.say("%s %d: %s isn't probed: %s", broker, m.ID, m.Address, p.NotProbed)
	case p.Failures > 0:
		t.say("%s %d: %s hasn't answered %d probes: %s", broker, m.ID, m.Address, p.Failures, p.LastFailure)
	}
	if len(p.Accusers) > 0 {
		t.say("%s %d: other nameservers speak against %s: %s", broker, m.ID, m.Address, strings.Join(p.Accusers, ", "))
	}
}

// tellNone says that there is no such thing, and why if the API told.
func (t *tool) tellNone(addr, what string, missing *httpside.StatusError) error {
	source, text := "remoting", what
	var why struct{ Why json.RawMessage }
	if missing != nil {
		source, text = "api", what+": "+missing.Text
		_ = json.Unmarshal(missing.Body, &why) // it may be cut or none
	}
	if !t.json() {
		return &negative{text}
	}
	s := shown{Nameserver: addr, Source: source}
	if len(why.Why) > 0 {
		s.Why = why.Why
	}
	if err := t.writeJSON(s); err != nil {
		return err
	}
	return &negative{}
}

func (t *tool) broker(ctx context.Context, name string) error {
	addr, err := t.first()
	if err != nil {
		return err
	}
	var b *httpside.Broker
	var raw json.RawMessage
	found, missing, sideErr := t.look(ctx, addr, func(side *httpside.Client) (err error) {
		b, raw, err = side.Broker(ctx, name)
		return err
	})
	switch {
	case found:
		if t.json() {
			return t.writeJSON(shown{Nameserver: addr, Source: "api", Found: raw})
		}
		t.brokerTable(b, true)
		return nil
	case sideErr == nil:
		return t.tellNone(addr, "no broker "+name, missing)
	}
	t.withoutSide(sideErr)
	n, err := t.dial(ctx, addr)
	if err != nil {
		return err
	}
	defer n.Close()
	info, err := n.Clusters(ctx)
	if err != nil {
		return err
	}
	data, ok := info.Brokers[name]
	if !ok {
		return t.tellNone(addr, "no broker "+name, nil)
	}
	b = &httpside.Broker{Name: name, Cluster: data.Cluster, Zone: data.ZoneName.S, ActingMaster: data.EnableActingMaster, Members: membersOf(data)}
	if t.json() {
		return t.writeJSON(shown{Nameserver: addr, Source: "remoting", Found: b})
	}
	t.brokerTable(b, false)
	return nil
}

func (t *tool) brokerTable(b *httpside.Broker, alive bool) {
	table := t.newTable("BROKER", "CLUSTER", "ID", "ADDRESS", "SILENT", "TIMEOUT", "CONNECTION", "TOPICS", "REGISTERED")
	for _, m := range b.Members {
		silent, owner := life(m, alive)
		var timeout, topics, registered any
		if alive {
			timeout = ago(m.TimeoutSeconds)
		}
		if m.Registration != nil {
			topics, registered = m.Registration.Topics, clock(m.Registration.At)
		}
		table.row(b.Name, b.Cluster, m.ID, m.Address, silent, timeout, owner, topics, registered)
	}
	table.end()
	t.tellWhy(b.Name, b.Members, b.Why)
}
