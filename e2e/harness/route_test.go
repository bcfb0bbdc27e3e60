package harness

import "testing"

func TestParseRoute(t *testing.T) {
	one := `{"brokerDatas":[{"brokerAddrs":{"1":"h:2","0":"h:1"},"brokerName":"b","cluster":"c","enableActingMaster":false},` +
		`{"brokerAddrs":{"0":"h:3"},"brokerName":"a","cluster":"c","enableActingMaster":false}],"filterServerTable":{},` +
		`"queueDatas":[{"brokerName":"b","perm":6,"readQueueNums":4,"topicSysFlag":0,"writeQueueNums":3},` +
		`{"brokerName":"a","perm":4,"readQueueNums":4,"topicSysFlag":0,"writeQueueNums":4}]}`
	other := `{"queueDatas":[{"brokerName":"a","perm":4,"readQueueNums":4,"topicSysFlag":0,"writeQueueNums":4},` +
		`{"brokerName":"b","perm":6,"readQueueNums":4,"topicSysFlag":0,"writeQueueNums":3}],` +
		`"brokerDatas":[{"brokerName":"a","brokerAddrs":{"0":"h:3"},"cluster":"c"},{"brokerName":"b","brokerAddrs":{"0":"h:1","1":"h:2"},"cluster":"c"}]}`
	first, err := parseRoute([]byte(one))
	if err != nil {
		t.Fatal(err)
	}
	second, err := parseRoute([]byte(other))
	if err != nil {
		t.Fatal(err)
	}
	if first.String() != second.String() {
		t.Errorf("equal routes differ:\n%v\n%v", first, second)
	}
	if addr := first.Broker("b")["1"]; addr != "h:2" {
		t.Errorf("address of b 1 is %q", addr)
	}
	second.Queues[0].Perm = 6
	if first.String() == second.String() {
		t.Error("another permission makes no difference")
	}
	var none *Route
	if none.String() != "no route" || none.Broker("b") != nil {
		t.Errorf("no route: %v", none)
	}
	if _, err := parseRoute([]byte("{")); err == nil {
		t.Error("half a body parsed")
	}
}

func TestCanonical(t *testing.T) {
	one, err := Canonical([]byte(`{"b":[{"x":[2,1]},{"a":0}],"a":null}`))
	if err != nil {
		t.Fatal(err)
	}
	if other, err := Canonical([]byte(`{"a":null,"b":[{"a":0},{"x":[1,2]}]}`)); err != nil || other != one {
		t.Errorf("%s and %s differ, error %v", one, other, err)
	}
	bare, err := Canonical([]byte(`{"0":{-1:"a",2:"127.0.0.1:2"}}`))
	if quoted, _ := Canonical([]byte(`{"0":{"-1":"a","2":"127.0.0.1:2"}}`)); err != nil || bare == quoted {
		t.Errorf("bare keys are the same as quoted ones: %s, error %v", bare, err)
	}
	if other, err := Canonical([]byte(`{"a":null,"b":[{"a":0},{"x":[1,3]}]}`)); err != nil || other == one {
		t.Errorf("%s is the same as %s, error %v", one, other, err)
	}
}
