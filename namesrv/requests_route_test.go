package namesrv

import (
	"testing"

	"github.com/waymark-mq/waymark/namesrv/settings"
)

const (
	noRoute     = `17 "No topic route info in name server for the topic: `
	noRouteHelp = `\nSee https://rocketmq.apache.org/docs/bestPractice/06FAQ for further details."`

	brokersStandard = `{"brokerDatas":[{"brokerAddrs":{"0":"a:10911","1":"a-1:10911"},"brokerName":"a","cluster":"DefaultCluster","enableActingMaster":false},` +
		`{"brokerAddrs":{"0":"b:10911"},"brokerName":"b","cluster":"OtherCluster","enableActingMaster":false,"zoneName":"z"}]`
	brokersLegacy = `{"brokerDatas":[{"brokerAddrs":{0:"a:10911",1:"a-1:10911"},"brokerName":"a","cluster":"DefaultCluster","enableActingMaster":false},` +
		`{"brokerAddrs":{0:"b:10911"},"brokerName":"b","cluster":"OtherCluster","enableActingMaster":false,"zoneName":"z"}]`
	restOfRoute = `,"queueDatas":[{"brokerName":"a","perm":6,"readQueueNums":4,"topicSysFlag":0,"writeQueueNums":4},` +
		`{"brokerName":"b","perm":6,"readQueueNums":4,"topicSysFlag":0,"writeQueueNums":4}]}`
)

func TestRequest105(t *testing.T) {
	const standard, legacy = "0 " + brokersStandard + `,"filterServerTable":{}` + restOfRoute, "0 " + brokersLegacy + `,"filterServerTable":{}` + restOfRoute
	const zoneless = `0 {"brokerDatas":[{"brokerAddrs":{"0":"b:10911"},"brokerName":"b","cluster":"OtherCluster","enableActingMaster":false,"zoneName":"z"}],` +
		`"filterServerTable":{},"queueDatas":[{"brokerName":"b","perm":6,"readQueueNums":4,"topicSysFlag":0,"writeQueueNums":4}]}`
	runRequests(t, []requestRow{
		{name: "newest", r: routeOf("Base"), want: standard},
		{name: "4.9.4", r: routeOf("Base").from(401), want: standard},
		{name: "4.9.3", r: routeOf("Base").from(399), want: legacy},
		{name: "Go client", r: routeOf("Base").from(317), want: legacy},
		{name: "standard asked for", r: ask(105, "topic", "Base", "acceptStandardJsonOnly", "TRUE").from(317), want: standard},
		{name: "standard not asked for", r: ask(105, "topic", "Base", "acceptStandardJsonOnly", "1").from(317), want: legacy},
		{name: "extra fields", r: ask(105, "topic", "Base", "ns", "x", "nsd", "y", "lo", "z", "ReqT", "0"), want: standard},
		{name: "with a body", r: routeOf("Base").with("{}"), want: standard},
		{name: "unknown", r: routeOf("None"), want: noRoute + "None" + noRouteHelp},
		{name: "unknown, legacy", r: routeOf("None").from(317), want: noRoute + "None" + noRouteHelp},
		{name: "letter case counts", r: routeOf("base"), want: noRoute + "base" + noRouteHelp},
		{name: "no topic", r: ask(105, "ns", "x"), want: noRoute + "null" + noRouteHelp},
		{name: "no fields", r: ask(105), want: noRoute + "null" + noRouteHelp},
		{name: "empty topic", r: routeOf(""), want: noRoute + noRouteHelp, jsonOnly: true},
		{name: "template topic", r: routeOf("TBW102"), want: noRoute + "TBW102" + noRouteHelp},
		{name: "member-group topic", r: routeOf("rmq_sys_SYNC_BROKER_MEMBER_a"), want: noRoute + "rmq_sys_SYNC_BROKER_MEMBER_a" + noRouteHelp},
		{name: "zone", r: inZone("Base", "Z", "true"), want: zoneless},
		{name: "zone without mode", r: ask(105, "topic", "Base", "__ZONE_NAME", "z"), want: standard},
		{name: "order configuration, off", before: []request{put("ORDER_TOPIC_CONFIG", "Base", "a:4")}, r: routeOf("Base"), want: standard},
		{name: "order configuration, on", before: []request{put("ORDER_TOPIC_CONFIG", "Base", "a:4"), configure("orderMessageEnable=true")},
			r: routeOf("Base"), want: "0 " + brokersStandard + `,"filterServerTable":{},"orderTopicConf":"a:4"` + restOfRoute},
		{name: "order configuration of another topic", before: []request{put("ORDER_TOPIC_CONFIG", "Pad", "a:4"), configure("orderMessageEnable=true")},
			r: routeOf("Base"), want: standard},
		{name: "filter servers", before: []request{broker("b").set("clusterName", "OtherCluster", "__ZONE_NAME", "z").counter(2).filtering("f:1").request()},
			r: routeOf("Base"), want: "0 " + brokersStandard + `,"filterServerTable":{"b:10911":["f:1"]}` + restOfRoute},
	})
}

// The stand-in for a missing master exists in the answer only, and only with the switch.
func TestActingMaster(t *testing.T) {
	acting := broker("a").set("enableActingMaster", "true")
	group := func(c *client, s *testServer) {
		master := s.dial()
		master.register(acting)
		c.register(acting.slave(1), acting.slave(2))
		s.end(master)
	}
	for _, tt := range []struct {
		name    string
		support bool
		want    string
	}{
		{"on", true, "a{0=a-1:10911 2=a-2:10911} acting 4/4/4/0"},
		{"off", false, "a{1=a-1:10911 2=a-2:10911} acting 4/4/4/0"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := start(t, func(c *settings.Settings) { c.SupportActingMaster = tt.support })
			c := s.dial()
			group(c, s)
			c.wantRoute("Base", tt.want)
			c.want(ask(901, "clusterName", cluster, "brokerName", "a"), `0 "not set any response code" `+
				`{"brokerMemberGroup":{"brokerAddrs":{1:"a-1:10911",2:"a-2:10911"},"brokerName":"a","cluster":"DefaultCluster"}}`)
		})
	}
}

func TestRequest901(t *testing.T) {
	const notSet = `0 "not set any response code" `
	runRequests(t, []requestRow{
		{name: "known", r: ask(901, "clusterName", cluster, "brokerName", "a"),
			want: notSet + `{"brokerMemberGroup":{"brokerAddrs":{0:"a:10911",1:"a-1:10911"},"brokerName":"a","cluster":"DefaultCluster"}}`},
		{name: "cluster only echoed", r: ask(901, "clusterName", "Wrong", "brokerName", "b"),
			want: notSet + `{"brokerMemberGroup":{"brokerAddrs":{0:"b:10911"},"brokerName":"b","cluster":"Wrong"}}`},
		{name: "no cluster", r: ask(901, "brokerName", "b"),
			want: notSet + `{"brokerMemberGroup":{"brokerAddrs":{0:"b:10911"},"brokerName":"b"}}`},
		{name: "unknown", r: ask(901, "clusterName", cluster, "brokerName", "none"),
			want: notSet + `{"brokerMemberGroup":{"brokerAddrs":{},"brokerName":"none","cluster":"DefaultCluster"}}`},
		{name: "no broker", r: ask(901, "clusterName", cluster),
			want: notSet + `{"brokerMemberGroup":{"brokerAddrs":{},"cluster":"DefaultCluster"}}`},
		{name: "no fields", r: ask(901), want: notSet + `{"brokerMemberGroup":{"brokerAddrs":{}}}`},
	})
}

func TestRequest106(t *testing.T) {
	const info = `0 {"brokerAddrTable":{` +
		`"a":{"brokerAddrs":{0:"a:10911",1:"a-1:10911"},"brokerName":"a","cluster":"DefaultCluster","enableActingMaster":false},` +
		`"b":{"brokerAddrs":{0:"b:10911"},"brokerName":"b","cluster":"OtherCluster","enableActingMaster":false,"zoneName":"z"}},` +
		`"clusterAddrTable":{"DefaultCluster":["a"],"OtherCluster":["b"]}}`
	runRequests(t, []requestRow{
		{name: "newest", r: ask(106), want: info},
		{name: "old", r: ask(106).from(317), want: info}, // no gate
		{name: "one gone", before: []request{broker("b").set("clusterName", "OtherCluster").unregister()}, r: ask(106),
			want: `0 {"brokerAddrTable":{"a":{"brokerAddrs":{0:"a:10911",1:"a-1:10911"},"brokerName":"a","cluster":"DefaultCluster","enableActingMaster":false}},` +
				`"clusterAddrTable":{"DefaultCluster":["a"]}}`},
	})
	start(t).dial().want(ask(106), `0 {"brokerAddrTable":{},"clusterAddrTable":{}}`)
}
