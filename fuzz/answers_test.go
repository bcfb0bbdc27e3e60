package fuzz

import (
	"testing"

	"github.com/waymark-mq/waymark/codec"
)

// FuzzAnswers reads what a hostile nameserver may answer; nothing is made of it that isn't in its bytes, and an error leaves no half result.
func FuzzAnswers(f *testing.F) {
	f.Add([]byte(`{"brokerDatas":[{"brokerAddrs":{0:"a:1"},"brokerName":"b","cluster":"c"}],"queueDatas":[{"brokerName":"b","perm":6}],"filterServerTable":{"a:1":["f"]}}`))
	f.Add([]byte(`{"topicQueueMappingByBroker":{"b":{"bname":"b","currIdMap":{"0":3},"epoch":7}},"orderTopicConf":"b:4"}`))
	f.Add([]byte(`{"brokerAddrTable":{"b":{"brokerAddrs":{0:"a:1"}}},"clusterAddrTable":{"c":["b"]}}`))
	f.Add([]byte(`{"topicList":["T"]}`))
	f.Add([]byte(`{"table":{"k":"v"}}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		made := 0
		if r, err := codec.ParseTopicRoute(body); err == nil {
			made += len(r.Queues) + len(r.Brokers) + len(r.FilterServers) + len(r.Mappings)
		} else if r != nil {
			t.Error("a route and an error")
		}
		if c, err := codec.ParseClusterInfo(body); err == nil {
			made += len(c.Brokers) + len(c.Clusters)
		} else if c != nil {
			t.Error("cluster info and an error")
		}
		topics, err := codec.ParseTopicList(body)
		if made += len(topics); err != nil && topics != nil {
			t.Error("topics and an error")
		}
		table, err := codec.ParseKVTable(body)
		if made += len(table); err != nil && table != nil {
			t.Error("a table and an error")
		}
		if made > len(body) {
			t.Errorf("%d parts of %d bytes", made, len(body))
		}
	})
}
