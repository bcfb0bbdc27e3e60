package namesrv

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/waymark-mq/waymark/codec"
)

// registration is a REGISTER_BROKER (103) as a 5.x broker sends it. It is a
// value: changes make another one.
type registration struct {
	version     int32
	fields      map[string]string
	dataVersion codec.DataVersion
	mappingTime int64 // of mappingDataVersion: new in every registration of a 5.x broker
	topics      []topicConfig
	body        *string // instead of the JSON made of the three above
}

type topicConfig struct {
	name               string
	queues, perm, flag int
}

const (
	cluster   = "DefaultCluster"
	firstTime = 1_700_000_000_000
)

// broker is a master of that name in DefaultCluster with the topics Base and Pad
// (4 queues, perm 6). Two of them, since a first registration with one topic is refused.
func broker(name string) registration {
	return registration{
		version: codec.ServerVersion,
		fields: map[string]string{
			"brokerName": name, "brokerAddr": name + ":10911", "clusterName": cluster, "haServerAddr": name + ":10912",
			"brokerId": "0", "enableActingMaster": "false", "compressed": "false",
		},
		dataVersion: codec.DataVersion{Timestamp: firstTime, Counter: 1},
		mappingTime: firstTime,
		topics:      []topicConfig{{"Base", 4, 6, 0}, {"Pad", 4, 6, 0}},
	}
}

func (r registration) addr() string { return r.fields["brokerAddr"] }

// set changes header fields, given as name, value, name, value.
func (r registration) set(fields ...string) registration {
	r.fields = maps.Clone(r.fields)
	for i := 0; i+1 < len(fields); i += 2 {
		r.fields[fields[i]] = fields[i+1]
	}
	return r
}

// slave makes it the group's slave of that id, on an address of its own.
func (r registration) slave(id int) registration {
	name := fmt.Sprintf("%s-%d", r.fields["brokerName"], id)
	return r.set("brokerId", strconv.Itoa(id), "brokerAddr", name+":10911", "haServerAddr", name+":10912")
}

func (r registration) without(fields ...string) registration {
	r.fields = maps.Clone(r.fields)
	for _, name := range fields {
		delete(r.fields, name)
	}
	return r
}

func (r registration) counter(n int64) registration { r.dataVersion.Counter = n; return r }
func (r registration) state(n int64) registration   { r.dataVersion.StateVersion = n; return r }

// having makes these the whole topic table.
func (r registration) having(topics ...topicConfig) registration { r.topics = topics; return r }

// named makes a table of topics with 4 queues and perm 6.
func named(names ...string) (topics []topicConfig) {
	for _, name := range names {
		topics = append(topics, topicConfig{name, 4, 6, 0})
	}
	return topics
}

// many makes a table of n topics.
func many(n, queues int) (topics []topicConfig) {
	for i := range n {
		topics = append(topics, topicConfig{fmt.Sprintf("Topic%06d", i), queues, 6, 0})
	}
	return topics
}

// raw replaces the body.
func (r registration) raw(body string) registration { r.body = &body; return r }

// again is the same registration as it is sent 30 s later: with the time in its
// body, and so with another checksum.
func (r registration) again() registration { r.mappingTime += 30_000; return r }

// request is the frame to send, with a correct checksum unless one is set.
func (r registration) request() request {
	body := r.encode()
	fields := maps.Clone(r.fields)
	if _, set := fields["bodyCrc32"]; !set && len(body) > 0 {
		fields["bodyCrc32"] = strconv.Itoa(int(codec.BodyCRC([]byte(body))))
	}
	q := request{code: codec.RequestRegisterBroker, version: r.version, body: body}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		q.fields = append(q.fields, codec.ExtField{Name: name, Value: fields[name]})
	}
	return q
}

func (r registration) encode() string {
	if r.body != nil {
		return *r.body
	}
	var topics []string
	for _, t := range r.topics {
		topics = append(topics, fmt.Sprintf(`%q:{"attributes":{},"order":false,"perm":%d,"readQueueNums":%d,"topicFilterType":"SINGLE_TAG",`+
			`"topicName":%q,"topicSysFlag":%d,"writeQueueNums":%d}`, t.name, t.perm, t.queues, t.name, t.flag, t.queues))
	}
	return fmt.Sprintf(`{"filterServerList":[],"topicConfigSerializeWrapper":{"dataVersion":%s,`+
		`"mappingDataVersion":{"counter":0,"stateVersion":0,"timestamp":%d},"topicConfigTable":{%s},`+
		`"topicQueueMappingDetailMap":{},"topicQueueMappingInfoMap":{}}}`,
		r.dataVersion.Append(nil), r.mappingTime, strings.Join(topics, ","))
}

// register sends registrations one after the other, all of which must be accepted.
func (c *client) register(registrations ...registration) {
	c.t.Helper()
	for _, r := range registrations {
		if a := c.call(r.request()); a.code != 0 {
			c.t.Fatalf("registration %v: %s", r.fields, a)
		}
	}
}

// unregister is the UNREGISTER_BROKER (104) of what was registered.
func (r registration) unregister() request {
	return ask(codec.RequestUnregisterBroker, "brokerName", r.fields["brokerName"], "brokerAddr", r.addr(),
		"clusterName", r.fields["clusterName"], "brokerId", r.fields["brokerId"])
}

// heartbeat is its BROKER_HEARTBEAT (904).
func (r registration) heartbeat() request {
	return ask(codec.RequestBrokerHeartbeat, "brokerName", r.fields["brokerName"], "brokerAddr", r.addr(), "clusterName", r.fields["clusterName"])
}

// query is its QUERY_DATA_VERSION (322).
func (r registration) query() request {
	return ask(codec.RequestQueryDataVersion, "brokerName", r.fields["brokerName"], "brokerAddr", r.addr(),
		"clusterName", r.fields["clusterName"], "brokerId", r.fields["brokerId"]).with(string(r.dataVersion.Append(nil)))
}

func routeOf(topic string) request { return ask(codec.RequestGetRouteInfoByTopic, "topic", topic) }

// wantRoute compares a topic's route on one line:
//
//	broker{id=addr id=addr} read/write/perm/flag; broker{…} …
//
// with zone=… and acting after the addresses where they are set; none without a route.
func (c *client) wantRoute(topic, want string) {
	c.t.Helper()
	if got := c.route(topic); got != want {
		c.t.Errorf("route of %s\n got %s\nwant %s", topic, got, want)
	}
}

func (c *client) route(topic string) string {
	c.t.Helper()
	a := c.call(routeOf(topic))
	if a.code == codec.ResponseTopicNotExist {
		return "none"
	}
	line, err := routeLine(a.body)
	if err != nil {
		c.t.Fatalf("route of %s: %s: %v", topic, a, err)
	}
	return line
}

func routeLine(body string) (string, error) {
	var r struct {
		BrokerDatas []struct {
			BrokerName         string
			BrokerAddrs        map[int64]string
			ZoneName           string
			EnableActingMaster bool
		}
		QueueDatas []struct {
			BrokerName                                        string
			ReadQueueNums, WriteQueueNums, Perm, TopicSysFlag int
		}
	}
	if err := json.Unmarshal([]byte(body), &r); err != nil {
		return "", err
	}
	var parts []string
	for i, b := range r.BrokerDatas {
		if i >= len(r.QueueDatas) || r.QueueDatas[i].BrokerName != b.BrokerName {
			return "", fmt.Errorf("queues and brokers are not the same in the same order: %s", body)
		}
		var addrs []string
		for _, id := range slices.Sorted(maps.Keys(b.BrokerAddrs)) {
			addrs = append(addrs, fmt.Sprintf("%d=%s", id, b.BrokerAddrs[id]))
		}
		line := b.BrokerName + "{" + strings.Join(addrs, " ") + "}"
		if b.ZoneName != "" {
			line += " zone=" + b.ZoneName
		}
		if b.EnableActingMaster {
			line += " acting"
		}
		q := r.QueueDatas[i]
		parts = append(parts, fmt.Sprintf("%s %d/%d/%d/%d", line, q.ReadQueueNums, q.WriteQueueNums, q.Perm, q.TopicSysFlag))
	}
	return strings.Join(parts, "; "), nil
}

// end closes the connection and waits until the writer has applied its end. It
// registers a broker of its own to see that: all brokers of a connection go in one step.
func (s *testServer) end(c *client) {
	s.t.Helper()
	marker := broker("marker").set("clusterName", "markers", "brokerName", "marker "+c.conn.LocalAddr().String()).
		set("brokerAddr", c.conn.LocalAddr().String()).raw("")
	c.register(marker)
	c.close()
	eventually(s.t, "end of the connection", func() bool {
		_, known := s.live("markers", marker.addr())
		return !known
	})
}
