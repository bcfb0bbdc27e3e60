package namesrv

import "testing"

func queues(broker string, n string) string {
	return `{"brokerName":"` + broker + `","perm":6,"readQueueNums":` + n + `,"topicSysFlag":0,"writeQueueNums":` + n + `}`
}

func topicRoute(items string) string {
	return `{"brokerDatas":[],"filterServerTable":{},"queueDatas":[` + items + `]}`
}

func TestRequest205And327(t *testing.T) {
	runRequests(t, []requestRow{
		{name: "205", r: ask(205, "brokerName", "a"), want: "0 {wipeTopicCount=5}"},
		{name: "205 twice", before: []request{ask(205, "brokerName", "a")}, r: ask(205, "brokerName", "a"), want: "0 {wipeTopicCount=5}"},
		{name: "205 unknown", r: ask(205, "brokerName", "nobody"), want: "0 {wipeTopicCount=0}"},
		{name: "205 no broker", r: ask(205, "x", "y"), want: "0 {wipeTopicCount=0}"},
		{name: "205 no fields", r: ask(205), want: "0 {wipeTopicCount=0}"},
		{name: "327", r: ask(327, "brokerName", "b"), want: "0 {addTopicCount=2}"},
		{name: "327 unknown", r: ask(327, "brokerName", "nobody"), want: "0 {addTopicCount=0}"},
		{name: "327 no fields", r: ask(327), want: "0 {addTopicCount=0}"},
	})
}

// 205 takes the write bit, 327 sets 6 flat, whatever was there.
func TestWritePerms(t *testing.T) {
	for _, tt := range []struct{ sent, wiped, added string }{
		{"6", "4", "6"}, {"7", "5", "6"}, {"4", "4", "6"}, {"2", "0", "6"}, {"1", "1", "6"}, {"0", "0", "6"}, {"14", "12", "6"},
	} {
		c := start(t).dial()
		c.register(broker("b"))
		c.want(ask(217, "topic", "T").with(topicRoute(`{"brokerName":"b","perm":`+tt.sent+`,"readQueueNums":4,"topicSysFlag":0,"writeQueueNums":4}`)), "0")
		c.wantRoute("T", "b{0=b:10911} 4/4/"+tt.sent+"/0")
		c.want(ask(205, "brokerName", "b"), "0 {wipeTopicCount=3}")
		c.wantRoute("T", "b{0=b:10911} 4/4/"+tt.wiped+"/0")
		c.want(ask(327, "brokerName", "b"), "0 {addTopicCount=3}")
		c.wantRoute("T", "b{0=b:10911} 4/4/"+tt.added+"/0")
	}
}

func TestTopicLists(t *testing.T) {
	const all = `0 {"topicList":["Base","Pad","Sub","Unit","UnitSub"]}`
	off := []request{configure("enableTopicList=false")}
	allOff := []request{configure("enableAllTopicList=false")}
	runRequests(t, []requestRow{
		{name: "206", r: ask(206), want: all},
		{name: "206 off", before: allOff, r: ask(206), want: `1 "disable"`},
		{name: "206 has its own switch", before: off, r: ask(206), want: all},
		{name: "224", r: ask(224, "cluster", "OtherCluster"), want: `0 {"topicList":["Base","Pad"]}`},
		{name: "224 the other", r: ask(224, "cluster", cluster), want: all},
		{name: "224 unknown", r: ask(224, "cluster", "nope"), want: `0 {"topicList":[]}`},
		{name: "224 no cluster", r: ask(224, "x", "y"), want: `0 {"topicList":[]}`},
		{name: "224 no fields", r: ask(224), want: `0 {"topicList":[]}`},
		{name: "224 off", before: off, r: ask(224, "cluster", cluster), want: `1 "disable"`},
		{name: "224 has its own switch", before: allOff, r: ask(224, "cluster", cluster), want: all},
		{name: "304", r: ask(304), want: `0 {"brokerAddr":"a:10911","topicList":["DefaultCluster","OtherCluster","a","b"]}`},
		{name: "304 has no switch", before: append(off, allOff...), r: ask(304),
			want: `0 {"brokerAddr":"a:10911","topicList":["DefaultCluster","OtherCluster","a","b"]}`},
		{name: "311", r: ask(311), want: `0 {"topicList":["Unit","UnitSub"]}`},
		{name: "312", r: ask(312), want: `0 {"topicList":["Sub","UnitSub"]}`},
		{name: "313", r: ask(313), want: `0 {"topicList":["Sub"]}`},
		{name: "311 off", before: off, r: ask(311), want: `1 "disable"`},
		{name: "312 off", before: off, r: ask(312), want: `1 "disable"`},
		{name: "313 off", before: off, r: ask(313), want: `1 "disable"`},
	})
}

func TestTopicListsOfEmptyServer(t *testing.T) {
	c := start(t).dial()
	for _, code := range []int32{206, 224, 304, 311, 312, 313} {
		c.want(ask(code, "cluster", "nope"), `0 {"topicList":[]}`)
	}
}

// Lists over 64 KiB are encoded off the loop; the answers are the same, in order, and others aren't held up.
func TestLargeLists(t *testing.T) {
	s := start(t)
	c, other := s.dial(), s.dial()
	c.register(broker("a").having(many(6000, 4)...))
	if bound := s.table.Load().TopicList().Bound(); bound <= largeAnswerBytes {
		t.Fatalf("%d bytes are no large list", bound)
	}
	first := c.call(ask(206))
	if n := len(first.body); first.code != 0 || n < 6000*13 {
		t.Fatalf("%d bytes, code %d", n, first.code)
	}
	last := c.send(ask(206), ask(224, "cluster", cluster), ask(311), ask(106), routeOf("Topic000001"))
	for i, want := range []string{first.body, first.body, `{"topicList":[]}`} {
		if got := c.wait(last - 4 + int32(i)).body; got != want {
			t.Errorf("answer %d: %d bytes, want %d", i, len(got), len(want))
		}
	}
	if a := c.wait(last); a.code != 0 {
		t.Errorf("route behind lists: %s", a)
	}
	other.wantRoute("Topic000001", "a{0=a:10911} 4/4/6/0")
}

func TestRequest216(t *testing.T) {
	for _, tt := range []struct {
		name  string
		r     request
		route string // of Base afterwards
	}{
		{"everywhere", ask(216, "topic", "Base"), "none"},
		{"empty cluster is everywhere", ask(216, "topic", "Base", "clusterName", ""), "none"},
		{"one cluster", ask(216, "topic", "Base", "clusterName", cluster), "b{0=b:10911} zone=z 4/4/6/0"},
		{"unknown cluster", ask(216, "topic", "Base", "clusterName", "nope"), both},
		{"unknown topic", ask(216, "topic", "nope"), both},
		{"no topic", ask(216, "clusterName", cluster), both},
		{"no fields", ask(216), both},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := start(t).dial()
			world(c)
			c.want(tt.r, "0")
			c.wantRoute("Base", tt.route)
			c.wantRoute("Pad", both)
		})
	}
}

const both = "a{0=a:10911 1=a-1:10911} 4/4/6/0; b{0=b:10911} zone=z 4/4/6/0"

func TestRequest217(t *testing.T) {
	const atA = "a{0=a:10911 1=a-1:10911} "
	for _, tt := range []struct {
		name  string
		r     request
		want  string
		topic string
		route string
	}{
		{"new topic", ask(217, "topic", "T").with(topicRoute(queues("a", "8"))), "0", "T", atA + "8/8/6/0"},
		{"new topic on two", ask(217, "topic", "T").with(topicRoute(queues("b", "3") + "," + queues("a", "8"))), "0",
			"T", atA + "8/8/6/0; b{0=b:10911} zone=z 3/3/6/0"},
		{"new topic, one unknown broker", ask(217, "topic", "T").with(topicRoute(queues("a", "8") + "," + queues("nobody", "8"))), "0", "T", "none"},
		{"known topic", ask(217, "topic", "Unit").with(topicRoute(queues("a", "8"))), "0", "Unit", atA + "8/8/6/0"},
		{"known topic, unknown broker behind", ask(217, "topic", "Unit").with(topicRoute(queues("a", "8") + "," + queues("nobody", "8"))), "0",
			"Unit", atA + "8/8/6/0"},
		{"known topic, unknown broker before", ask(217, "topic", "Unit").with(topicRoute(queues("nobody", "8") + "," + queues("a", "8"))), "0",
			"Unit", atA + "4/4/6/1"},
		{"no queues", ask(217, "topic", "T").with(topicRoute("")), "0", "T", "none"},
		{"no list", ask(217, "topic", "T").with("{}"), "0", "T", "none"},
		{"no body", ask(217, "topic", "T"), "0", "T", "none"},
		{"no JSON", ask(217, "topic", "T").with("no JSON"), `1 "com.alibaba.fastjson2.JSONException: …`, "T", "none"},
		// Apache answers 0 and keeps a topic named null.
		{"no topic", ask(217, "x", "y").with(topicRoute(queues("a", "8"))), `1 "topic is missing"`, "null", "none"},
		{"no fields", ask(217).with(topicRoute(queues("a", "8"))), `1 "topic is missing"`, "null", "none"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := start(t).dial()
			world(c)
			if beginning, cut := cutEllipsis(tt.want); cut {
				c.wantPrefix(tt.r, beginning)
			} else {
				c.want(tt.r, tt.want)
			}
			c.wantRoute(tt.topic, tt.route)
		})
	}
}
