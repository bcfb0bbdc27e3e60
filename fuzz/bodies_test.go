package fuzz

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"testing"

	"github.com/waymark-mq/waymark/codec"
)

// FuzzDataVersion reads a DataVersion; what is accepted must come back from
// its own JSON.
func FuzzDataVersion(f *testing.F) {
	f.Add([]byte(`{"counter":3,"stateVersion":0,"timestamp":1700000000000}`))
	f.Add([]byte(`{"counter":null,"timestamp":"12"}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		want, err := codec.ParseDataVersion(body, now)
		if err != nil {
			return
		}
		out := want.Append(nil)
		if !json.Valid(out) {
			t.Errorf("%s is not JSON", out)
		}
		got, err := codec.ParseDataVersion(out, -1)
		want.NullCounter = false // a null counter is left out, and comes back as 0
		if err != nil || got != want {
			t.Errorf("%s: %+v, %v; want %+v", out, got, err, want)
		}
	})
}

// FuzzTopicRouteQueues reads a route body; what is accepted must come back
// from its own JSON. Any valid JSON must be passed over where it is no
// concern of ours.
func FuzzTopicRouteQueues(f *testing.F) {
	f.Add([]byte(`{"brokerDatas":[{"brokerAddrs":{0:"a"}}],"queueDatas":[{"brokerName":"b","perm":6,"readQueueNums":8,"topicSysFlag":0,"writeQueueNums":8}]}`))
	f.Add([]byte(`{"queueDatas":[null,{"perm":"6"}]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		checkPassedOver(t, body)
		queues, err := codec.ParseTopicRouteQueues(body)
		if err != nil {
			if queues != nil {
				t.Error("queues and an error")
			}
			return
		}
		if 2*len(queues) > len(body) {
			t.Errorf("%d queues from %d bytes", len(queues), len(body))
		}
		again := []byte(`{"queueDatas":[`)
		for i, q := range queues {
			if i > 0 {
				again = append(again, ',')
			}
			again = codec.AppendString(append(again, `{"brokerName":`...), q.BrokerName)
			again = fmt.Appendf(again, `,"perm":%d,"readQueueNums":%d,"topicSysFlag":%d,"writeQueueNums":%d}`,
				q.Perm, q.ReadQueueNums, q.TopicSysFlag, q.WriteQueueNums)
		}
		again = append(again, "]}"...)
		got, err := codec.ParseTopicRouteQueues(again)
		if err != nil || len(got) != len(queues) || len(queues) > 0 && !reflect.DeepEqual(got, queues) {
			t.Errorf("%s: %+v, %v; want %+v", again, got, err, queues)
		}
	})
}

func checkPassedOver(t *testing.T, value []byte) {
	t.Helper()
	const deep = 500
	if !json.Valid(value) || bytes.Count(value, []byte("["))+bytes.Count(value, []byte("{")) > deep {
		return
	}
	body := append(append([]byte(`{"x":`), value...), `,"queueDatas":[{}]}`...)
	if queues, err := codec.ParseTopicRouteQueues(body); err != nil || len(queues) != 1 {
		t.Errorf("%s: %+v, %v", body, queues, err)
	}
}
