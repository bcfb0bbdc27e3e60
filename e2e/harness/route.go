package harness

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
)

// Route is a topic's route, in the members that every generation of peers reads. Brokers and queues are sorted by
// name: Apache's order is that of its hash maps.
type Route struct {
	OrderConf string        `json:"orderTopicConf,omitempty"`
	Brokers   []RouteBroker `json:"brokerDatas"`
	Queues    []RouteQueues `json:"queueDatas"`
}

// RouteBroker is a broker name with its addresses by brokerId.
type RouteBroker struct {
	Name             string            `json:"brokerName"`
	Cluster          string            `json:"cluster"`
	Addrs            map[string]string `json:"brokerAddrs"`
	ActingMasterIsOn bool              `json:"enableActingMaster"`
}

// RouteQueues are the queues of the topic on one broker name.
type RouteQueues struct {
	Broker string `json:"brokerName"`
	Perm   int    `json:"perm"` // bits: 4 read, 2 write
	Read   int    `json:"readQueueNums"`
	Write  int    `json:"writeQueueNums"`
	Flag   int    `json:"topicSysFlag"`
}

func parseRoute(body []byte) (*Route, error) {
	route := new(Route)
	if err := json.Unmarshal(body, route); err != nil {
		return nil, fmt.Errorf("harness: route %q: %w", body, err)
	}
	slices.SortFunc(route.Brokers, func(a, b RouteBroker) int { return cmp.Compare(a.Name, b.Name) })
	slices.SortFunc(route.Queues, func(a, b RouteQueues) int { return cmp.Compare(a.Broker, b.Broker) })
	return route, nil
}

// String is the same for equal routes.
func (r *Route) String() string {
	if r == nil {
		return "no route"
	}
	text, err := json.Marshal(r) // maps are written in the order of their keys
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// Broker returns the addresses of a broker name by brokerId; nil when the route doesn't have it.
func (r *Route) Broker(name string) map[string]string {
	if r != nil {
		for _, b := range r.Brokers {
			if b.Name == name {
				return b.Addrs
			}
		}
	}
	return nil
}

// bareKey is an integer key without quotes, as old clients get them. None of the texts in an answer looks like one.
var bareKey = regexp.MustCompile(`([{,])(-?\d+):`)

// Canonical returns a body with every list sorted: two answers that say the same in the same dialect give the same text.
func Canonical(body []byte) (string, error) {
	var value any
	if err := json.Unmarshal(bareKey.ReplaceAll(body, []byte(`$1"bare $2":`)), &value); err != nil {
		return "", fmt.Errorf("harness: body %q: %w", body, err)
	}
	text, err := json.Marshal(sorted(value)) // maps are written in the order of their keys
	return string(text), err
}

func sorted(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for key := range v {
			v[key] = sorted(v[key])
		}
	case []any:
		texts := make([]json.RawMessage, len(v))
		for i := range v {
			texts[i], _ = json.Marshal(sorted(v[i])) // what was decoded can be encoded
		}
		slices.SortFunc(texts, func(a, b json.RawMessage) int { return bytes.Compare(a, b) })
		return texts
	}
	return value
}
