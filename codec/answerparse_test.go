package codec

import (
	"errors"
	"reflect"
	"strings"
	"testing"
)

// An answer reads the same in both dialects, with members that nobody knows, with nulls, and whatever the order.
func TestParseTopicRoute(t *testing.T) {
	want := &TopicRouteData{
		Queues:         []QueueData{{BrokerName: "b", ReadQueueNums: 8, WriteQueueNums: 4, Perm: 6, TopicSysFlag: 1}},
		Brokers:        []BrokerData{{Cluster: "c", BrokerName: "b", Addrs: []BrokerAddr{{0, "a:1"}, {-1, "a:2"}}, ZoneName: NullString{"z", true}, EnableActingMaster: true}},
		OrderTopicConf: NullString{"b:4", true},
		FilterServers:  map[string][]string{"a:1": {"f:1", "f:2"}},
		Mappings: []TopicQueueMapping{{
			Key: "b", Topic: NullString{"T", true}, Scope: NullString{"__global__", true}, BrokerName: NullString{"b", true},
			TotalQueues: 4, Epoch: 7, CurrIDMap: []IDPair{{0, 3}, {2, 1}},
		}},
	}
	standard := `{"brokerDatas":[{"brokerAddrs":{"0":"a:1","-1":"a:2"},"brokerName":"b","cluster":"c","enableActingMaster":true,"zoneName":"z"}],` +
		`"filterServerTable":{"a:1":["f:1","f:2"]},"orderTopicConf":"b:4","queueDatas":[{"brokerName":"b","perm":6,"readQueueNums":8,"topicSysFlag":1,"writeQueueNums":4}],` +
		`"topicQueueMappingByBroker":{"b":{"bname":"b","currIdMap":{"0":3,"2":1},"dirty":false,"epoch":7,"scope":"__global__","topic":"T","totalQueues":4}}}`
	legacy := strings.NewReplacer(`"0":`, `0:`, `"-1":`, `-1:`, `"2":`, `2:`).Replace(standard)
	strange := strings.Replace(legacy, `{"brokerDatas"`, ` { "later" : [ {"x":{1:null}} ] , "brokerDatas"`, 1)
	for _, body := range []string{standard, legacy, strange} {
		got, err := ParseTopicRoute([]byte(body))
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s\n got %+v, %v\nwant %+v", body, got, err, want)
		}
	}
	empty := `{"brokerDatas":null,"filterServerTable":null,"orderTopicConf":null,"queueDatas":null,"topicQueueMappingByBroker":null}`
	got, err := ParseTopicRoute([]byte(empty))
	if err != nil || len(got.Queues)+len(got.Brokers)+len(got.FilterServers)+len(got.Mappings) != 0 || got.OrderTopicConf.Valid {
		t.Errorf("%s: %+v, %v", empty, got, err)
	}
}

func TestParseListBodies(t *testing.T) {
	info, err := ParseClusterInfo([]byte(`{"brokerAddrTable":{"b":{"brokerAddrs":{0:"a:1",1:null},"brokerName":"b","cluster":"c"}},"clusterAddrTable":{"c":["b"],"d":null}}`))
	if want := (&ClusterInfo{
		Brokers:  map[string]BrokerData{"b": {Cluster: "c", BrokerName: "b", Addrs: []BrokerAddr{{0, "a:1"}, {1, ""}}}},
		Clusters: map[string][]string{"c": {"b"}, "d": nil},
	}); err != nil || !reflect.DeepEqual(info, want) {
		t.Errorf("%+v, %v", info, err)
	}
	topics, err := ParseTopicList([]byte(`{"brokerAddr":"a:1","topicList":["T","Ü\u0000"]}`))
	if err != nil || !reflect.DeepEqual(topics, []string{"T", "Ü\x00"}) {
		t.Errorf("%q, %v", topics, err)
	}
	table, err := ParseKVTable([]byte(`{"table":{"k":"v","k2":""}}`))
	if err != nil || !reflect.DeepEqual(table, map[string]string{"k": "v", "k2": ""}) {
		t.Errorf("%q, %v", table, err)
	}
}

// What is no answer is an error that says of what, and no half result.
func TestParseAnswersRefuse(t *testing.T) {
	parsers := map[string]func([]byte) (any, error){
		"route":        func(b []byte) (any, error) { v, err := ParseTopicRoute(b); return v, err },
		"cluster info": func(b []byte) (any, error) { v, err := ParseClusterInfo(b); return v, err },
		"topic list":   func(b []byte) (any, error) { v, err := ParseTopicList(b); return v, err },
		"KV table":     func(b []byte) (any, error) { v, err := ParseKVTable(b); return v, err },
	}
	for what, parse := range parsers {
		for _, body := range []string{"", "null", "[]", `{"a":1`, `{}x`, `{"queueDatas":[{"perm":6e99}],"topicList":1,"table":[],"brokerAddrTable":{"b":{"brokerAddrs":{"x":"a"}}}}`} {
			v, err := parse([]byte(body))
			if err == nil || !strings.HasPrefix(err.Error(), "codec: "+what+": ") || !reflect.ValueOf(v).IsNil() {
				t.Errorf("%s of %q: %+v, %v", what, body, v, err)
			}
		}
	}
	many := `{"topicList":[` + strings.Repeat(`"",`, maxBodyEntries) + `""]}`
	if _, err := ParseTopicList([]byte(many)); !errors.Is(err, ErrTooManyEntries) {
		t.Errorf("too many: %v", err)
	}
}
