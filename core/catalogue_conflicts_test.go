package core_test

import (
	"time"

	"github.com/waymark-mq/waymark/codec"
	"github.com/waymark-mq/waymark/core"
)

// mapped adds a static mapping of the topic to the broker itself.
func mapped(topic, host string) registering {
	return func(c *core.RegisterBroker) {
		c.Body.Mappings = append(c.Body.Mappings, codec.TopicQueueMapping{
			Key: topic, Topic: text(topic), Scope: text("__global__"), BrokerName: text(host), TotalQueues: 4, Epoch: 7,
			CurrIDMap: []codec.IDPair{{Logical: 0, Physical: 3}, {Logical: 2, Physical: 1}},
		})
	}
}

const (
	slaveAlone = "Default_Broker{0=127.0.0.1:30911} 8/8/6/0"
	emptyInfo  = `{"brokerAddrTable":{},"clusterAddrTable":{}}`
)

// conflictRows are what Apache 5.3.3 and 5.5.0 were seen to do with slots, refusals and removals.
var conflictRows = []row{
	{"X1_replacedAddress", nil, func(f *fixture) {
		f.do(register(topics("T")))
		f.do(register(at(slaveAddr), on(2), topics("T")))
		f.wantRoute("T", slaveAlone)
		f.want("old entry", f.versionOf(cluster, masterAddr), "0/1")
		// Apache keeps the old entry for ever. Here it goes, quietly, with its connection …
		f.do(&core.EndConnection{Conn: 1})
		f.want("old entry", f.versionOf(cluster, masterAddr), "none")
		f.wantRoute("T", slaveAlone)
		f.wantEffects()
	}},
	{"X1_replacedAddress_expires", nil, func(f *fixture) {
		f.do(register(topics("T"), timeout(time.Second)))
		f.do(register(at(slaveAddr), on(2), topics("T")))
		f.pass(2 * time.Second) // … or at its own timeout, closing nothing.
		f.want("old entry", f.versionOf(cluster, masterAddr), "none")
		f.wantRoute("T", slaveAlone)
		f.wantEffects()
	}},
	{"X2_oneTopicRefused", nil, func(f *fixture) {
		one := register(only(topic("T", 6)))
		f.wantResult("first", f.do(one), core.Result{Refused: true})
		f.wantResult("again", f.do(one), core.Result{Refused: true})
		f.want("106", f.ClusterInfo(), emptyInfo) // Apache leaves a broker without address
		f.wantResult("two topics", f.do(register(topics("T"))), core.Result{})
		f.wantRoute("T", masterAlone)
	}},
	{"X3_noTopics", nil, func(f *fixture) {
		f.wantResult("103", f.do(register(only())), core.Result{})
		f.want("version", f.versionOf(cluster, masterAddr), "0/1")
		f.want("206", f.TopicList(), `{"topicList":[]}`)
		f.want("901", f.MemberGroup(text(cluster), text(broker)),
			`{"brokerMemberGroup":{"brokerAddrs":{0:"127.0.0.1:10911"},"brokerName":"Default_Broker","cluster":"Default_Cluster"}}`)
	}},
	{"X4_oneTopicUnderNewID", nil, func(f *fixture) {
		f.do(register(topics("T")))
		f.wantResult("103", f.do(register(id(1), only(topic("T", 6)))), core.Result{Refused: true})
		f.wantRoute("T", masterAlone) // Apache has taken id 0 away by then
		f.want("version", f.versionOf(cluster, masterAddr), "0/1")
	}},
	{"X5_conflictLost", nil, func(f *fixture) {
		f.do(register(topics("T"), state(5)))
		f.do(register(slave, topics("T")))
		f.wantResult("103", f.do(register(slave, id(0), state(4), topics("T"), acting(core.ActingAbsent), zone("z"))), core.Result{Conflict: true})
		f.wantRoute("T", masterAlone)
		f.want("loser's version", f.versionOf(cluster, slaveAddr), "none")
		// Apache has written the acting flag and the zone by then; here both stay.
		f.want("106", f.ClusterInfo(), `{"brokerAddrTable":{"Default_Broker":{"brokerAddrs":{0:"127.0.0.1:10911"},"brokerName":"Default_Broker",`+
			`"cluster":"Default_Cluster","enableActingMaster":true}},"clusterAddrTable":{"Default_Cluster":["Default_Broker"]}}`)
	}},
	{"X6_equalStateWins", nil, func(f *fixture) {
		f.do(register(topics("T"), state(5)))
		f.do(register(slave, topics("T")))
		f.wantResult("103", f.do(register(slave, id(0), state(5), topics("T"))), core.Result{})
		f.wantRoute("T", slaveAlone)
	}},
	{"X7_wrongID", nil, func(f *fixture) {
		c := register(topics("T"))
		f.do(c)
		gone := leave(c)
		gone.BrokerID = 7
		f.do(gone)
		f.wantRoute("T", "none")
	}},
	{"X8_wrongAddress", nil, func(f *fixture) {
		c := register(topics("T"))
		f.do(c)
		gone := leave(c)
		gone.BrokerAddr = "10.9.9.9:1"
		f.do(gone)
		f.wantRoute("T", masterAlone)
		f.want("version", f.versionOf(cluster, masterAddr), "0/1")
	}},
	{"X9_wrongCluster", nil, func(f *fixture) {
		c := register(topics("T"))
		f.do(c)
		gone := leave(c)
		gone.ClusterName = "nowhere"
		f.do(gone)
		f.wantRoute("T", "none")
		f.want("106", f.ClusterInfo(), emptyInfo) // Apache leaves the name in the cluster's set
		f.want("version", f.versionOf(cluster, masterAddr), "0/1")
	}},
	{"X10_mappingGoesWithBroker", nil, func(f *fixture) {
		f.do(register(topics("T"), mapped("T", broker)))
		f.wantMapping("T", `{"Default_Broker":{"bname":"Default_Broker","currIdMap":{"0":3,"2":1},"dirty":false,"epoch":7,"scope":"__global__","topic":"T","totalQueues":4}}`)
		f.do(leave(register()))
		f.do(register(topics("T")))
		f.wantMapping("T", "") // Apache never forgets a mapping
	}},
	{"X10_mappingGoesWithTopic", nil, func(f *fixture) {
		f.do(register(topics("T"), mapped("T", broker)))
		f.do(&core.DeleteTopic{Topic: "T"})
		f.do(register(topics("T"))) // an equal version brings the topic back, not the mapping
		f.wantMapping("T", "")
	}},
	{"X11_wipedPerms", nil, func(f *fixture) {
		perm := func(topic string, want string) {
			f.t.Helper()
			f.wantRoute(topic, "Default_Broker{0=127.0.0.1:10911} 8/8/"+want+"/0")
		}
		all := only(topic("T", 6), topic("U", 6))
		f.do(register(all))
		f.do(&core.WipeWritePerm{BrokerName: broker})
		f.do(register(all))
		perm("T", "4")
		f.do(register(only(topic("T", 6)), counter(2)))
		perm("T", "6")
		perm("U", "4")
		f.do(register(all, counter(2)))
		perm("U", "4")
		f.do(register(all, counter(3)))
		perm("U", "6")
	}},
	{"X12_addWriteLosesInherit", nil, func(f *fixture) {
		f.do(register(only(topic("TBW102", 7), topic("R", 4))))
		f.wantResult("327", f.do(&core.AddWritePerm{BrokerName: broker}), core.Result{Count: 2})
		f.wantRoute("TBW102", masterAlone)
		f.wantRoute("R", masterAlone)
	}},
	{"X13_oldSlaveAlone", nil, func(f *fixture) {
		f.do(register(slave, acting(core.ActingAbsent), topics("T")))
		f.wantRoute("T", "none")
		f.want("version", f.versionOf(cluster, slaveAddr), "0/1")
	}},
	{"X14_slaveAlone", nil, func(f *fixture) {
		f.do(register(slave, actingOff, topics("T")))
		f.wantRoute("T", "Default_Broker{1=127.0.0.1:30911} 8/8/6/0")
	}},
	{"X15_actingSlaves", supportActing, func(f *fixture) {
		f.do(register(id(2), at(otherAddr), on(3), topics("T")))
		f.do(register(slave, topics("T")))
		f.wantRoute("T", "Default_Broker{0=127.0.0.1:30911 2=127.0.0.1:50911} 8/8/4/0")
	}},
	{"X15_actingNegativeID", supportActing, func(f *fixture) {
		// Apache takes −1 for the prime slave and shows it as master; here it is stored and shown only.
		f.do(register(id(-1), topics("T")))
		f.wantRoute("T", "none")
		f.want("901", f.MemberGroup(text(cluster), text(broker)),
			`{"brokerMemberGroup":{"brokerAddrs":{-1:"127.0.0.1:10911"},"brokerName":"Default_Broker","cluster":"Default_Cluster"}}`)
		f.do(register(slave, topics("T")))
		f.wantRoute("T", "Default_Broker{-1=127.0.0.1:10911 0=127.0.0.1:30911} 8/8/4/0")
	}},
}
