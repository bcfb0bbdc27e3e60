package codec

import (
	"errors"
	"reflect"
	"strings"
	"testing"
)

func TestParseTopicRouteQueues(t *testing.T) {
	one := []QueueData{{"b", 8, 4, 6, 1}}
	for _, tc := range []struct {
		name, in string
		want     []QueueData
	}{
		{"no body", "", nil},
		{"null", "null", nil},
		{"empty object", "{}", nil},
		{"null list", `{"queueDatas":null}`, nil},
		{"empty list", `{"queueDatas":[]}`, nil},
		{"one, as a 5.5.0 broker sends it",
			`{"brokerDatas":[],"filterServerTable":{},"queueDatas":[{"brokerName":"b","perm":6,"readQueueNums":8,"topicSysFlag":1,"writeQueueNums":4}]}`, one},
		{"legacy dialect", `{"brokerDatas":[{"brokerAddrs":{0:"x"}}],"queueDatas":[{"brokerName":"b","perm":6,"readQueueNums":8,"topicSysFlag":1,"writeQueueNums":4}]}`, one},
		{"numbers as strings, unknown members", `{"queueDatas":[{"x":{},"perm":"6","brokerName":"b","readQueueNums":"8","topicSysFlag":"1","writeQueueNums":"4"}]} `, one},
		{"two, the second empty", `{"queueDatas":[{"brokerName":"b"},{}]}`, []QueueData{{BrokerName: "b"}, {}}},
		{"nulls", `{"queueDatas":[null,{"brokerName":null,"perm":null}]}`, []QueueData{{}, {}}},
		{"escaped name", `{"queueDatas":[{"brokerName":"a\"\u0062"}]}`, []QueueData{{BrokerName: `a"b`}}},
		{"repeated list", `{"queueDatas":[{},{},{}],"queueDatas":[{"brokerName":"b"}]}`, []QueueData{{BrokerName: "b"}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := ParseTopicRouteQueues([]byte(tc.in))
			if err != nil || !reflect.DeepEqual(got, tc.want) {
				t.Errorf("got %+v, %v; want %+v", got, err, tc.want)
			}
		})
	}
}

func TestParseTopicRouteQueuesErrors(t *testing.T) {
	for _, in := range []string{
		" ", "x", "[]", `"a"`, "1", "nullx", `{"queueDatas":{}}`, `{"queueDatas":[1]}`, `{"queueDatas":[{"perm":true}]}`,
		`{"queueDatas":[{"perm":2147483648}]}`, `{"queueDatas":[{"brokerName":[]}]}`, `{"queueDatas":[]`, `{"queueDatas":[]}}`,
	} {
		if got, err := ParseTopicRouteQueues([]byte(in)); err == nil || got != nil {
			t.Errorf("%s: got %v, %v", in, got, err)
		}
	}
	in := `{"queueDatas":[` + strings.Repeat("{},", maxBodyEntries) + `{}]}`
	if _, err := ParseTopicRouteQueues([]byte(in)); !errors.Is(err, ErrTooManyEntries) {
		t.Errorf("got %v, want ErrTooManyEntries", err)
	}
}
