package core_test

import (
	"fmt"
	"strings"

	"github.com/waymark-mq/waymark/codec"
	"github.com/waymark-mq/waymark/core"
	"github.com/waymark-mq/waymark/internal/golden"
)

// lone is the broker of RouteInfoManagerTest: id 1234, in acting-master mode no.
func lone(changes ...registering) *core.RegisterBroker {
	return register(append([]registering{
		inCluster("default-cluster"), named("default-broker"), id(1234), actingOff, state(0),
		only(topic("unit-test0", 6), topic("unit-test1", 6)),
	}, changes...)...)
}

// withTopic registers lone without topics, then one topic of the given permission through 217.
func withTopic(f *fixture, perm int32) {
	f.do(lone(only()))
	q := queues("default-broker")
	q[0].Perm = perm
	f.do(&core.RegisterTopic{Topic: "unit-test", Queues: q})
}

func lonePerm(perm int) string {
	return fmt.Sprintf("default-broker{1234=127.0.0.1:10911} 8/8/%d/0", perm)
}

// gridAddr is the address of broker number b, id i in the 3 × 3 world of B and S.
func gridAddr(b, i int) string { return fmt.Sprintf("127.0.0.1:%d", 10000+b*100+i) }

// grid registers three names × ids 0–2, each with ten topics.
func grid(f *fixture) {
	for b := range 3 {
		for i := range 3 {
			f.do(gridBroker(b, i))
		}
	}
}

func gridBroker(b, i int) *core.RegisterBroker {
	return register(named(fmt.Sprintf("broker-%d", b)), id(int64(i)), at(gridAddr(b, i)), on(core.ConnID(b*3+i+1)), actingOff, only(), func(c *core.RegisterBroker) {
		for t := range 10 {
			c.Body.Topics = append(c.Body.Topics, topic(fmt.Sprintf("topic-%d", t), 6))
		}
	})
}

const gridTopics = `{"topicList":["topic-0","topic-1","topic-2","topic-3","topic-4","topic-5","topic-6","topic-7","topic-8","topic-9"]}`

// tableRows are RouteInfoManagerTest (M), …BrokerRegisterTest (B), …BrokerPermTest (P) and …StaticRegisterTest (S).
var tableRows = []row{
	{"M1_getAllClusterInfo", nil, func(f *fixture) {
		f.do(lone())
		f.want("106", f.ClusterInfo(), `{"brokerAddrTable":{"default-broker":{"brokerAddrs":{1234:"127.0.0.1:10911"},"brokerName":"default-broker",`+
			`"cluster":"default-cluster","enableActingMaster":false}},"clusterAddrTable":{"default-cluster":["default-broker"]}}`)
	}},
	{"M2_queryBrokerTopicConfig", nil, func(f *fixture) {
		f.do(lone(counter(10)))
		f.want("version", f.versionOf("default-cluster", masterAddr), "0/10")
	}},
	{"M2b_queryBrokerTopicConfig_sameAddressInTwoClusters", nil, func(f *fixture) {
		f.do(lone(counter(10)))
		f.do(lone(counter(20), inCluster("default-cluster-1"), named("default-broker-1")))
		f.want("first", f.versionOf("default-cluster", masterAddr), "0/10")
		f.want("second", f.versionOf("default-cluster-1", masterAddr), "0/20")
	}},
	{"M2c_queryBrokerTopicConfig_oneLeaves", nil, func(f *fixture) {
		second := lone(counter(20), inCluster("default-cluster-1"), named("default-broker-1"))
		f.do(lone(counter(10)))
		f.do(second)
		f.do(leave(second))
		f.want("first", f.versionOf("default-cluster", masterAddr), "0/10")
		f.want("second", f.versionOf("default-cluster-1", masterAddr), "none")
	}},
	{"M3_getAllTopicList", nil, func(f *fixture) {
		f.do(lone())
		f.want("206", f.TopicList(), `{"topicList":["unit-test0","unit-test1"]}`)
	}},
	{"M4_registerBroker", nil, func(f *fixture) {
		f.wantResult("103", f.do(lone()), core.Result{})
		f.wantRoute("unit-test0", lonePerm(6)) // the smallest id there is brings topics
	}},
	{"M5_wipeWritePermOfBrokerByLock", nil, func(f *fixture) {
		withTopic(f, 6)
		f.wantResult("205", f.do(&core.WipeWritePerm{BrokerName: "default-broker"}), core.Result{Count: 1})
		f.wantRoute("unit-test", lonePerm(4))
	}},
	{"M6_pickupTopicRouteData_unknown", nil, func(f *fixture) {
		f.do(lone())
		f.wantRoute("unit_test", "none")
	}},
	{"M7_lists", nil, func(f *fixture) {
		unit, unitSub, both := topic("unit", 6), topic("unitSub", 6), topic("both", 6)
		unit.TopicSysFlag, unitSub.TopicSysFlag, both.TopicSysFlag = codec.TopicFlagUnit, codec.TopicFlagUnitSub, 3
		f.do(lone(only(unit, unitSub, both, topic("plain", 6))))
		f.want("304", f.SystemTopics(), `{"brokerAddr":"127.0.0.1:10911","topicList":["default-broker","default-cluster"]}`)
		f.want("224", f.TopicsByCluster("default-cluster"), `{"topicList":["both","plain","unit","unitSub"]}`)
		f.want("224 of an unknown cluster", f.TopicsByCluster("nowhere"), `{"topicList":[]}`)
		f.want("311", f.UnitTopics(311), `{"topicList":["both","unit"]}`)
		f.want("312", f.UnitTopics(312), `{"topicList":["both","unitSub"]}`)
		f.want("313", f.UnitTopics(313), `{"topicList":["unitSub"]}`)
	}},
	{"M8_addWritePermOfBrokerByLock", nil, func(f *fixture) {
		withTopic(f, 4)
		f.wantResult("327", f.do(&core.AddWritePerm{BrokerName: "default-broker"}), core.Result{Count: 1})
		f.wantRoute("unit-test", lonePerm(6))
	}},
	{"B1_changeMaster", nil, func(f *fixture) {
		grid(f)
		c := gridBroker(0, 1)
		c.BrokerID = 0
		f.do(c)
		f.want("901", f.MemberGroup(text(cluster), text("broker-0")),
			`{"brokerMemberGroup":{"brokerAddrs":{0:"127.0.0.1:10001",2:"127.0.0.1:10002"},"brokerName":"broker-0","cluster":"Default_Cluster"}}`)
	}},
	{"B2_unregisterSlave", nil, func(f *fixture) {
		grid(f)
		f.do(leave(gridBroker(0, 2)))
		f.want("route of broker-0", strings.Split(f.route("topic-0"), "; ")[0],
			"broker-0{0=127.0.0.1:10000 1=127.0.0.1:10001} 8/8/6/0")
	}},
	{"P1_addWritePerm", nil, func(f *fixture) {
		withTopic(f, 4)
		f.wantResult("327", f.do(&core.AddWritePerm{BrokerName: "default-broker"}), core.Result{Count: 1})
		f.wantRoute("unit-test", lonePerm(6))
	}},
	{"P2_wipeWritePerm", nil, func(f *fixture) {
		withTopic(f, 4)
		f.wantResult("205", f.do(&core.WipeWritePerm{BrokerName: "default-broker"}), core.Result{Count: 1})
		f.wantRoute("unit-test", lonePerm(4))
		f.wantResult("205 of an unknown broker", f.do(&core.WipeWritePerm{BrokerName: "nobody"}), core.Result{})
	}},
	{"S1_getAllClusterInfo", nil, func(f *fixture) {
		grid(f)
		f.want("clusters", f.ClusterInfo()[strings.Index(f.ClusterInfo(), `"clusterAddrTable"`):],
			`"clusterAddrTable":{"Default_Cluster":["broker-0","broker-1","broker-2"]}}`)
	}},
	{"S2_getAllTopicList", nil, func(f *fixture) {
		grid(f)
		f.want("206", f.TopicList(), gridTopics)
	}},
	{"S3_getTopicsByCluster", nil, func(f *fixture) {
		grid(f)
		f.want("224", f.TopicsByCluster(cluster), gridTopics)
	}},
	{"S4_pickupTopicRouteData", nil, func(f *fixture) {
		grid(f)
		for t := range 10 {
			f.wantRoute(fmt.Sprintf("topic-%d", t),
				"broker-0{0=127.0.0.1:10000 1=127.0.0.1:10001 2=127.0.0.1:10002} 8/8/6/0; "+
					"broker-1{0=127.0.0.1:10100 1=127.0.0.1:10101 2=127.0.0.1:10102} 8/8/6/0; "+
					"broker-2{0=127.0.0.1:10200 1=127.0.0.1:10201 2=127.0.0.1:10202} 8/8/6/0")
		}
	}},
	{"S5_deleteTopic", nil, func(f *fixture) {
		grid(f)
		f.do(&core.DeleteTopic{Topic: "topic-0"})
		f.wantRoute("topic-0", "none")
	}},
	{"S6_lists", nil, func(f *fixture) {
		grid(f)
		f.want("304", f.SystemTopics(), `{"brokerAddr":"127.0.0.1:10000","topicList":["Default_Cluster","broker-0","broker-1","broker-2"]}`)
		for _, code := range []int{311, 312, 313} {
			f.want(fmt.Sprint(code), f.UnitTopics(code), `{"topicList":[]}`)
		}
	}},
}

// zoned registers A (zone1) and B (zone2) with masters and slaveless C (zone2) without one, all with T.
func zoned(f *fixture) {
	f.do(register(named("A"), at("a:1"), zone("zone1"), topics("T"), filterServers("fa:1")))
	f.do(register(named("B"), at("b:1"), zone("zone2"), topics("T"), filterServers("fb:1"), on(2)))
	f.do(register(named("C"), at("c:1"), zone("zone2"), topics("T"), id(1), actingOff, on(3)))
}

func (f *fixture) wantZoned(o golden.RouteOptions, want string) {
	f.t.Helper()
	body, _ := f.Route("T", o)
	f.want("zoned route", routeLine(f.t, body), want)
}

const allZones = "A{0=a:1} 8/8/6/0; B{0=b:1} 8/8/6/0; C{1=c:1} 8/8/6/0"

// zoneRows are ZoneRouteRPCHookTest and …MoreTest, as far as they are about the route itself.
var zoneRows = []row{
	{"Z2_modeFalse", nil, func(f *fixture) {
		zoned(f)
		f.wantZoned(golden.RouteOptions{ZoneName: "zone1"}, allZones)
	}},
	{"Z3_noZoneName", nil, func(f *fixture) {
		zoned(f)
		f.wantZoned(golden.RouteOptions{ZoneMode: true}, allZones)
		f.wantZoned(golden.RouteOptions{ZoneMode: true, ZoneName: " \t"}, allZones)
	}},
	{"Z5_brokers", nil, func(f *fixture) {
		zoned(f)
		f.wantZoned(golden.RouteOptions{ZoneMode: true, ZoneName: "zone1"}, "A{0=a:1} 8/8/6/0; C{1=c:1} 8/8/6/0")
		f.wantZoned(golden.RouteOptions{ZoneMode: true, ZoneName: "ZONE2"}, "B{0=b:1} 8/8/6/0; C{1=c:1} 8/8/6/0")
	}},
	{"Z6_filterServerOfKeptBroker", nil, func(f *fixture) {
		zoned(f)
		f.do(register(named("B"), at("b:1"), zone("zone2"), topics("T"), on(2)))
		f.wantFilters(golden.RouteOptions{ZoneMode: true, ZoneName: "zone1"}, `{"a:1":["fa:1"]}`)
	}},
	{"Z7_filterServerOfDroppedBroker", nil, func(f *fixture) {
		zoned(f)
		f.wantFilters(golden.RouteOptions{}, `{"a:1":["fa:1"],"b:1":["fb:1"]}`)
		f.wantFilters(golden.RouteOptions{ZoneMode: true, ZoneName: "zone1"}, `{"a:1":["fa:1"]}`)
	}},
}

func (f *fixture) wantFilters(o golden.RouteOptions, want string) {
	f.t.Helper()
	body, _ := f.Route("T", o)
	_, rest, _ := strings.Cut(body, `"filterServerTable":`)
	table, _, _ := strings.Cut(rest, `,"queueDatas"`)
	f.want("filter servers", table, want)
}
