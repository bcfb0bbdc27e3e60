package core_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/waymark-mq/waymark/codec"
	"github.com/waymark-mq/waymark/core"
)

// resultText is the answer to a command: ok, and what goes with it.
func (s *script) resultText(c core.Command, r *core.Result) string {
	text := "ok"
	switch c.(type) {
	case *core.RegisterBroker:
		if r.Refused {
			return "refused\n"
		}
		if r.MasterAddr.Valid {
			text += " masterAddr=" + r.MasterAddr.S
		}
		if r.HAServerAddr.Valid {
			text += " haServerAddr=" + r.HAServerAddr.S
		}
		if table, ok := s.OrderTable(); ok {
			text += " " + table
		}
	case *core.WipeWritePerm, *core.AddWritePerm:
		text += fmt.Sprintf(" count=%d", r.Count)
	case *core.DeclareDead:
		if !r.Removed {
			return "kept\n"
		}
	case *core.QueryDataVersion:
		text += fmt.Sprintf(" changed=%v", r.Changed)
		if r.Known {
			text += " " + string(r.DataVersion.Append(nil))
		}
	}
	return text + "\n"
}

var eventNames = map[core.EventKind]string{
	core.EventRegistered: "registered", core.EventChanged: "changed", core.EventUnchanged: "unchanged",
	core.EventRefused: "refused", core.EventConflict: "conflict", core.EventReplaced: "replaced",
	core.EventUnregistered: "unregistered", core.EventClosed: "closed", core.EventExpired: "expired",
	core.EventMoved: "moved", core.EventTwoClusters: "two clusters", core.EventTimeoutClamped: "timeout clamped",
	core.EventPartsDelete:  "a part took off topics",
	core.EventTopicDeleted: "topic deleted", core.EventTopicRegistered: "topic registered",
	core.EventWriteWiped: "write permission wiped", core.EventWriteAdded: "write permission added",
	core.EventKVPut: "KV put", core.EventKVDeleted: "KV deleted",
	core.EventUnanswered: "unanswered", core.EventToldDead: "told dead",
	core.EventUnconfirmed: "unconfirmed", core.EventTopicsUnconfirmed: "topics unconfirmed",
}

// subject is what an event is about.
func subject(e *core.Event) string {
	switch e.Kind {
	case core.EventTopicDeleted, core.EventTopicRegistered:
		return fmt.Sprintf("%s, %d brokers", e.Topic, e.TopicsChanged)
	case core.EventWriteWiped, core.EventWriteAdded:
		return fmt.Sprintf("%s/%s, %d of %d topics", e.ClusterName, e.BrokerName, e.TopicsChanged, e.Topics)
	case core.EventKVPut, core.EventKVDeleted:
		return e.Namespace + "/" + e.Key
	}
	return fmt.Sprintf("%s/%s#%d@%s", e.ClusterName, e.BrokerName, e.BrokerID, e.BrokerAddr)
}

// effectText is what the last step leaves to do, one line each.
func (s *script) effectText() string {
	var b strings.Builder
	for _, e := range s.effects {
		switch e := e.(type) {
		case *core.Event:
			switch e.Kind {
			case core.EventExpiryHeld:
				fmt.Fprintf(&b, "log: expiry held for %d of %d\n", e.Brokers, e.AllBrokers)
				continue
			case core.EventExpiryGuardEnded:
				fmt.Fprintf(&b, "log: expiry guard ended: %d held, %d expired\n", e.Brokers, e.Expired)
				continue
			}
			fmt.Fprintf(&b, "log: %s %s", eventNames[e.Kind], subject(e))
			if e.Other != "" {
				fmt.Fprintf(&b, " (%s)", e.Other)
			}
			if len(e.Gone) > 0 {
				fmt.Fprintf(&b, " gone: %s", strings.Join(slices.Sorted(slices.Values(e.Gone)), " "))
			}
			b.WriteByte('\n')
		case *core.CloseConnection:
			for name, conn := range s.conns {
				if conn == e.Conn {
					fmt.Fprintf(&b, "close %s\n", name)
				}
			}
		case *core.Edit: // TestEdits
		default:
			b.WriteString(strings.Join(effectTexts([]core.Effect{e}), "\n") + "\n")
		}
	}
	return b.String()
}

// read answers the commands that read; ok is false for all others.
func (s *script) read(l *scriptLine) (text string, ok bool, err error) {
	switch l.cmd {
	case "route":
		text, err = s.routeText(l.word(0), l.option("zone", ""))
	case "routes":
		text = s.routeForms(l.word(0), l.option("zone", ""))
	case "clusters":
		text, err = clusterText(s.ClusterInfo())
	case "members":
		text = s.MemberGroup(codec.NullString{}, codec.NullString{S: l.word(0), Valid: true})
	case "topics":
		text = s.TopicList()
		if name := l.word(0); name != "" {
			text = s.TopicsByCluster(name)
		}
	case "suspects":
		text = cmp.Or(strings.Join(s.Suspects(), "\n"), "none")
	case "live":
		text = fmt.Sprint(s.Brokers())
	default:
		return "", false, nil
	}
	return text, true, err
}

// routeForms is the topic's route as sent, in every form.
func (s *script) routeForms(topic, zone string) string {
	var b strings.Builder
	forms := map[string]string{}
	for _, form := range []struct {
		name    string
		options core.RouteOptions
	}{
		{"legacy", core.RouteOptions{Dialect: codec.Legacy}},
		{"standard", core.RouteOptions{}},
		{"zone " + zone, core.RouteOptions{Zone: []byte(zone)}},
	} {
		body, found := s.AppendRoute(nil, []byte(topic), form.options)
		text := "no route"
		if found {
			text = string(body)
		}
		forms[form.name] = text
		note := "as before"
		if text != s.lastRoutes[form.name] {
			note = "new"
		}
		fmt.Fprintf(&b, "%s, %s: %s\n", form.name, note, text)
	}
	s.lastRoutes = forms
	return b.String()
}

// brokerView is a broker as routes and the cluster info show it.
type brokerView struct {
	Cluster            string           `json:"cluster"`
	BrokerName         string           `json:"brokerName"`
	BrokerAddrs        map[int64]string `json:"brokerAddrs"`
	ZoneName           *string          `json:"zoneName"`
	EnableActingMaster bool             `json:"enableActingMaster"`
}

func (b *brokerView) String() string {
	text := b.Cluster
	if b.ZoneName != nil {
		text += " zone=" + *b.ZoneName
	}
	if b.EnableActingMaster {
		text += " acting"
	}
	return text
}

// routeText is the route, one line a broker; a queue without its broker, or the
// reverse, is an error.
func (s *script) routeText(topic, zone string) (string, error) {
	body, found := s.AppendRoute(nil, []byte(topic), core.RouteOptions{Zone: []byte(zone)})
	if !found {
		return "no route", nil
	}
	var r struct {
		BrokerDatas       []brokerView        `json:"brokerDatas"`
		FilterServerTable map[string][]string `json:"filterServerTable"`
		OrderTopicConf    string              `json:"orderTopicConf"`
		Mappings          json.RawMessage     `json:"topicQueueMappingByBroker"`
		QueueDatas        []struct {
			BrokerName     string `json:"brokerName"`
			ReadQueueNums  int    `json:"readQueueNums"`
			WriteQueueNums int    `json:"writeQueueNums"`
			Perm           int    `json:"perm"`
			TopicSysFlag   int    `json:"topicSysFlag"`
		} `json:"queueDatas"`
	}
	if err := decodeAll(string(body), &r); err != nil {
		return "", err
	}
	if len(r.BrokerDatas) != len(r.QueueDatas) {
		return "", fmt.Errorf("%d brokers and %d queues in %s", len(r.BrokerDatas), len(r.QueueDatas), body)
	}
	var b strings.Builder
	for i := range r.BrokerDatas {
		broker, q := &r.BrokerDatas[i], r.QueueDatas[i]
		if q.BrokerName != broker.BrokerName || len(broker.BrokerAddrs) == 0 {
			return "", fmt.Errorf("a queue without its broker in %s", body)
		}
		fmt.Fprintf(&b, "%s%s %d/%d/%d/%d %s\n", broker.BrokerName, idLine(broker.BrokerAddrs),
			q.ReadQueueNums, q.WriteQueueNums, q.Perm, q.TopicSysFlag, broker)
	}
	if len(r.BrokerDatas) == 0 {
		b.WriteString("no brokers\n")
	}
	for _, addr := range slices.Sorted(maps.Keys(r.FilterServerTable)) {
		fmt.Fprintf(&b, "filters of %s: %v\n", addr, r.FilterServerTable[addr])
	}
	if r.OrderTopicConf != "" {
		fmt.Fprintf(&b, "order: %s\n", r.OrderTopicConf)
	}
	if r.Mappings != nil {
		fmt.Fprintf(&b, "mappings: %s\n", r.Mappings)
	}
	return b.String(), nil
}

// clusterText is the cluster info, one line a broker and one a cluster.
func clusterText(body string) (string, error) {
	var info struct {
		BrokerAddrTable  map[string]brokerView `json:"brokerAddrTable"`
		ClusterAddrTable map[string][]string   `json:"clusterAddrTable"`
	}
	if err := decodeAll(bareID.ReplaceAllString(body, `$1"$2":`), &info); err != nil {
		return "", err
	}
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(info.BrokerAddrTable)) {
		broker := info.BrokerAddrTable[name]
		fmt.Fprintf(&b, "%s%s %s\n", name, idLine(broker.BrokerAddrs), &broker)
	}
	for _, name := range slices.Sorted(maps.Keys(info.ClusterAddrTable)) {
		fmt.Fprintf(&b, "cluster %s: %s\n", name, strings.Join(info.ClusterAddrTable[name], " "))
	}
	if b.Len() == 0 {
		return "empty", nil
	}
	return b.String(), nil
}

// bareID is a broker id that is a key without quotes.
var bareID = regexp.MustCompile(`([{,])(-?\d+):`)

// decodeAll decodes JSON of which every member must be known.
func decodeAll(text string, v any) error {
	d := json.NewDecoder(strings.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return fmt.Errorf("%w: %s", err, text)
	}
	return nil
}
