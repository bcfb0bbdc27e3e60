package core_test

import (
	"strings"
	"time"

	"github.com/waymark-mq/waymark/codec"
	"github.com/waymark-mq/waymark/core"
	"github.com/waymark-mq/waymark/internal/golden"
)

// wantMapping compares the static mappings in the topic's route; "" is none.
func (f *fixture) wantMapping(topic, want string) {
	f.t.Helper()
	body, _ := f.Route(topic, golden.RouteOptions{})
	_, got, _ := strings.Cut(body, `"topicQueueMappingByBroker":`)
	f.want("mapping of "+topic, strings.TrimSuffix(got, "}"), want)
}

// effectRows are what Apache 5.3.3 and 5.5.0 were seen to do with connections,
// single topics, filter servers, notifications (905) and zones.
var effectRows = []row{
	{"X16_twoBrokersOnOneConnection", nil, func(f *fixture) {
		f.do(register(topics("T")))
		f.do(register(topics("U"), named("Second"), at(otherAddr)))
		f.do(&core.EndConnection{Conn: 1}) // Apache frees one of the two
		f.want("106", f.ClusterInfo(), emptyInfo)
	}},
	{"X17_oneNameInTwoClusters", nil, func(f *fixture) {
		f.do(register(topics("T")))
		f.do(register(slave, inCluster("c2"), topics("T")))
		f.do(&core.EndConnection{Conn: 2})
		f.want("106", f.ClusterInfo(), `{"brokerAddrTable":{"Default_Broker":{"brokerAddrs":{0:"127.0.0.1:10911",1:"127.0.0.1:30911"},"brokerName":"Default_Broker",`+
			`"cluster":"Default_Cluster","enableActingMaster":true}},"clusterAddrTable":{"Default_Cluster":["Default_Broker"],"c2":["Default_Broker"]}}`)
		f.do(leave(register(slave)))
		f.do(leave(register()))
		f.want("106", f.ClusterInfo(), emptyInfo) // Apache leaves the name in the second cluster's set
	}},
	{"X18_deleteFlagWithOneTopic", deleteMissing, func(f *fixture) {
		f.do(register(topics("T", "U")))
		f.do(register(only(topic("New", 6)), counter(2)))
		f.want("206", f.TopicList(), `{"topicList":["New"]}`)
	}},
	{"X19_registerTopic_existing", nil, func(f *fixture) {
		f.do(register(topics("T")))
		changed := queues(broker)
		changed[0].Perm = 2
		f.do(&core.RegisterTopic{Topic: "T", Queues: append(changed, queues("nobody")...)})
		f.wantRoute("T", "Default_Broker{0=127.0.0.1:10911} 8/8/2/0")
	}},
	{"X19_registerTopic_new", nil, func(f *fixture) {
		f.do(register(topics("T")))
		f.do(&core.RegisterTopic{Topic: "U", Queues: append(queues(broker), queues("nobody")...)})
		f.wantRoute("U", "none")
		f.do(&core.RegisterTopic{Topic: "U"})
		f.wantRoute("U", "none")
	}},
	{"X20_registersAfterUnregister", nil, func(f *fixture) {
		// Apache works the removal off later and loses the new registration; here the order sent holds.
		c := register(topics("T"))
		f.do(c)
		f.Step(f.now, []core.Command{leave(c), c})
		f.wantRoute("T", masterAlone)
	}},
	{"X20_endOfOldConnection", nil, func(f *fixture) {
		f.do(register(topics("T")))
		f.do(register(topics("T"), on(2)))
		f.do(&core.EndConnection{Conn: 1})
		f.wantRoute("T", masterAlone)
	}},
	{"X20_heartbeatMovesTheBroker", nil, func(f *fixture) {
		// Apache binds a broker by registering only, and loses it here.
		f.do(register(topics("T")))
		if !f.Touch(2, cluster, masterAddr, f.now) {
			f.t.Error("the broker is unknown")
		}
		f.do(&core.EndConnection{Conn: 1})
		f.wantRoute("T", masterAlone)
		f.do(&core.EndConnection{Conn: 2})
		f.wantRoute("T", "none")
	}},
	{"X20_heartbeatKeepsTheBroker", nil, func(f *fixture) {
		f.do(register(topics("T"), timeout(10*time.Second)))
		f.now += int64(9 * time.Second)
		f.Touch(1, cluster, masterAddr, f.now)
		f.pass(10 * time.Second)
		f.wantRoute("T", masterAlone)
		f.pass(time.Second)
		f.wantRoute("T", "none")
		if f.Touch(1, cluster, masterAddr, f.now) {
			f.t.Error("a heartbeat brought the broker back")
		}
	}},
	{"X20_frozenProcess", nil, func(f *fixture) {
		// Apache wakes up and expires everybody.
		f.do(register(topics("T"), timeout(10*time.Second)))
		f.now += int64(time.Minute)
		f.do(&core.Tick{LatenessNanos: int64(55 * time.Second)})
		f.wantRoute("T", masterAlone)
		f.pass(6 * time.Second)
		f.wantRoute("T", "none")
	}},
	{"X21_filterServers", nil, func(f *fixture) {
		f.do(register(topics("T"), filterServers("fs:1", "fs:2")))
		f.do(register(slave, topics("T")))
		f.wantFilters(golden.RouteOptions{}, `{"127.0.0.1:10911":["fs:1","fs:2"]}`)
		f.do(register(topics("T"), func(c *core.RegisterBroker) { c.Body.HasFilterServers = false }))
		f.wantFilters(golden.RouteOptions{}, `{"127.0.0.1:10911":["fs:1","fs:2"]}`)
		f.do(register(topics("T")))
		f.wantFilters(golden.RouteOptions{}, `{}`)
	}},
	{"X22_masterJoins", notifyMin, func(f *fixture) {
		f.do(register(slave, topics("T")))
		f.do(register(id(2), at(otherAddr), on(3), topics("T")))
		f.do(register(topics("T")))
		f.wantEffects("tell [127.0.0.1:30911 127.0.0.1:50911] min 0=127.0.0.1:10911 ha 127.0.0.1:20911")
		f.do(register(topics("T")))
		f.wantEffects()
	}},
	{"X23_mastersLeaves", notifyMin, func(f *fixture) {
		masterAndSlave(f)
		f.do(register(id(2), at(otherAddr), on(3), topics("T")))
		f.do(leave(register()))
		f.wantEffects("tell [127.0.0.1:30911 127.0.0.1:50911] min 1=127.0.0.1:30911 offline 127.0.0.1:10911")
		f.do(leave(register(id(2), at(otherAddr))))
		f.wantEffects()
		f.do(leave(register(slave)))
		f.wantEffects() // nobody is left
	}},
	{"X24_sameAddressNewID", notifyMin, func(f *fixture) {
		f.do(register(slave, topics("T")))
		f.do(register(slave, id(0), topics("T")))
		f.wantEffects("tell [127.0.0.1:30911] min 0=127.0.0.1:30911 ha 127.0.0.1:40911")
	}},
	{"X25_actingOff", notifyMin, func(f *fixture) {
		f.do(register(slave, actingOff, topics("T")))
		f.do(register(actingOff, topics("T")))
		f.wantEffects("tell [127.0.0.1:30911] min 0=127.0.0.1:10911 ha 127.0.0.1:20911")
		f.do(leave(register()))
		f.wantEffects()
	}},
	{"X26_zone", nil, func(f *fixture) {
		f.do(register(named("a"), at("a:1"), zone("z1"), topics("T")))
		f.do(register(named("b"), at("b:1"), zone("z2"), topics("T"), id(1), actingOff, on(2)))
		f.do(register(named("c"), at("c:1"), zone("z2"), topics("T"), on(3)))
		o := golden.RouteOptions{ZoneMode: true, ZoneName: "Z1"}
		f.wantZoned(o, "a{0=a:1} 8/8/6/0; b{1=b:1} 8/8/6/0") // Apache writes bare ids, which the helper couldn't read
		o.Dialect = codec.Legacy
		body, _ := f.Route("T", o)
		f.want("legacy", body[:strings.Index(body, `,"filterServerTable"`)], `{"brokerDatas":[`+
			`{"brokerAddrs":{0:"a:1"},"brokerName":"a","cluster":"Default_Cluster","enableActingMaster":true,"zoneName":"z1"},`+
			`{"brokerAddrs":{1:"b:1"},"brokerName":"b","cluster":"Default_Cluster","enableActingMaster":false,"zoneName":"z2"}]`)
	}},
}
