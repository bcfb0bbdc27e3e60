package core_test

import (
	"github.com/waymark-mq/waymark/codec"
	"github.com/waymark-mq/waymark/core"
	"github.com/waymark-mq/waymark/internal/golden"
)

const (
	masterAlone = "Default_Broker{0=127.0.0.1:10911} 8/8/6/0"
	slaveActs   = "Default_Broker{0=127.0.0.1:30911} 8/8/4/0" // shown as 0, read-only
	bothRoute   = "Default_Broker{0=127.0.0.1:10911 1=127.0.0.1:30911} 8/8/6/0"
)

// topicRows are RouteInfoManagerNewTest, topics and versions.
var topicRows = []row{
	{"N1_getAllClusterInfo", supportActing, func(f *fixture) {
		f.do(register(topics("TestTopic")))
		f.do(register(named("AnotherBroker"), inCluster("AnotherCluster"), at(slaveAddr), topics("TestTopic")))
		f.want("106", f.ClusterInfo(), `{"brokerAddrTable":{`+
			`"AnotherBroker":{"brokerAddrs":{0:"127.0.0.1:30911"},"brokerName":"AnotherBroker","cluster":"AnotherCluster","enableActingMaster":true},`+
			`"Default_Broker":{"brokerAddrs":{0:"127.0.0.1:10911"},"brokerName":"Default_Broker","cluster":"Default_Cluster","enableActingMaster":true}},`+
			`"clusterAddrTable":{"AnotherCluster":["AnotherBroker"],"Default_Cluster":["Default_Broker"]}}`)
	}},
	{"N2_deleteTopic", supportActing, func(f *fixture) {
		f.do(register(topics("TestTopic")))
		f.wantRoute("TestTopic", masterAlone)
		f.do(&core.DeleteTopic{Topic: "TestTopic"})
		f.wantRoute("TestTopic", "none")
	}},
	{"N2b_deleteTopic_twoClusters", supportActing, func(f *fixture) {
		f.do(register(topics("TestTopic")))
		f.do(&core.DeleteTopic{Topic: "TestTopic"})
		f.do(register(topics("TestTopic")))
		f.do(register(topics("TestTopic"), named("AnotherBroker"), inCluster("AnotherCluster")))
		f.wantRoute("TestTopic", "AnotherBroker{0=127.0.0.1:10911} 8/8/6/0; "+masterAlone)
	}},
	{"N2c_deleteTopic_inOneCluster", supportActing, func(f *fixture) {
		f.do(register(topics("TestTopic")))
		f.do(register(topics("TestTopic"), named("AnotherBroker"), inCluster("AnotherCluster")))
		f.do(&core.DeleteTopic{Topic: "TestTopic", ClusterName: cluster})
		f.wantRoute("TestTopic", "AnotherBroker{0=127.0.0.1:10911} 8/8/6/0")
		f.do(&core.DeleteTopic{Topic: "TestTopic", ClusterName: "nowhere"})
		f.wantRoute("TestTopic", "AnotherBroker{0=127.0.0.1:10911} 8/8/6/0")
	}},
	{"N3_getAllTopicList_empty", supportActing, func(f *fixture) {
		f.want("206", f.TopicList(), `{"topicList":[]}`)
	}},
	{"N3b_getAllTopicList", supportActing, func(f *fixture) {
		f.do(register(topics("TestTopic2", "TestTopic", "TestTopic1")))
		f.want("206", f.TopicList(), `{"topicList":["TestTopic","TestTopic1","TestTopic2","baseTopic"]}`)
	}},
	{"N4_registerBroker", supportActing, func(f *fixture) {
		f.wantResult("master", f.do(register(topics("TestTopic"))), core.Result{})
	}},
	{"N4b_registerBroker_slave", supportActing, func(f *fixture) {
		f.do(register(topics("TestTopic")))
		f.wantResult("slave", f.do(register(slave, topics("TestTopic"))),
			core.Result{MasterAddr: text(masterAddr), HAServerAddr: text(masterHA)})
	}},
	{"N5_unregisterBroker", supportActing, func(f *fixture) {
		c := register(topics("TestTopic", "TestTopic1", "TestTopic2"))
		f.do(c)
		f.do(leave(c))
		for _, topic := range []string{"TestTopic", "TestTopic1", "TestTopic2"} {
			f.wantRoute(topic, "none")
		}
	}},
	{"N5b_unregisterBroker_again", supportActing, func(f *fixture) {
		c := register(topics("TestTopic", "TestTopic1"))
		f.do(c)
		f.do(leave(c))
		f.do(c)
		f.wantRoute("TestTopic", masterAlone)
		f.do(leave(c))
		f.wantRoute("TestTopic", "none")
		f.wantRoute("TestTopic1", "none")
	}},
	{"N6_registerSlaveBroker", supportActing, func(f *fixture) {
		f.do(register(topics("TestTopic")))
		f.do(register(slave, topics("TestTopic")))
		f.wantRoute("TestTopic", bothRoute)
	}},
	{"N7_createNewTopic", supportActing, func(f *fixture) {
		f.do(register(topics("TestTopic")))
		f.do(register(slave, topics("TestTopic")))
		f.do(register(topics("TestTopic1"))) // the version's counter is the same
		f.wantRoute("TestTopic1", bothRoute)
	}},
	{"N12_submitMultiUnRegisterRequests", supportActing, func(f *fixture) {
		// Two addresses: Apache's test has one address under two names, which are one broker here.
		a := register(topics("TestTopic"))
		b := register(topics("TestTopic1"), named("AnotherBroker"), at(otherAddr))
		f.do(a)
		f.do(b)
		f.Step(f.now, []core.Command{leave(a), leave(b)})
		f.wantRoute("TestTopic", "none")
		f.wantRoute("TestTopic1", "none")
		f.want("106", f.ClusterInfo(), `{"brokerAddrTable":{},"clusterAddrTable":{}}`)
	}},
	{"N13_isBrokerTopicConfigChanged_equal", supportActing, func(f *fixture) {
		c := register(topics("TestTopic"))
		f.do(c)
		f.wantResult("322", f.do(ask(c.Body.DataVersion)), core.Result{Known: true, DataVersion: c.Body.DataVersion})
	}},
	{"N13b_isBrokerTopicConfigChanged_timestamp", supportActing, func(f *fixture) {
		c := register(topics("TestTopic"))
		f.do(c)
		v := c.Body.DataVersion
		v.Timestamp++
		f.wantResult("322", f.do(ask(v)), core.Result{Known: true, Changed: true, DataVersion: c.Body.DataVersion})
	}},
	{"N13c_isBrokerTopicConfigChanged_counter", supportActing, func(f *fixture) {
		c := register(topics("TestTopic"))
		f.do(c)
		v := c.Body.DataVersion
		v.Counter++
		f.wantResult("322", f.do(ask(v)), core.Result{Known: true, Changed: true, DataVersion: c.Body.DataVersion})
	}},
	{"N14_isTopicConfigChanged_unregistered", supportActing, func(f *fixture) {
		f.wantResult("322", f.do(ask(codec.DataVersion{Counter: 1})), core.Result{Changed: true})
	}},
	{"N14b_isTopicConfigChanged_sameVersion", supportActing, func(f *fixture) {
		f.do(register(topics("TestTopic")))
		f.do(register(only(topic("baseTopic", 6), topic("TestTopic", 4))))
		f.wantRoute("TestTopic", masterAlone) // an equal version changes no known topic
	}},
	{"N14c_isTopicConfigChanged_unknownTopic", supportActing, func(f *fixture) {
		f.do(register(topics("TestTopic")))
		f.do(register(topics("TestTopic1")))
		f.wantRoute("TestTopic1", masterAlone) // an equal version still adds an unknown one
	}},
	{"N15_queryBrokerTopicConfig", supportActing, func(f *fixture) {
		f.do(register(topics("TestTopic"), state(3), counter(9)))
		f.want("version", f.versionOf(cluster, masterAddr), "3/9")
	}},
	{"N16_wipeWritePermOfBrokerByLock", supportActing, func(f *fixture) {
		f.do(register(topics("TestTopic")))
		f.wantResult("205", f.do(&core.WipeWritePerm{BrokerName: broker}), core.Result{Count: 2})
		f.wantRoute("TestTopic", "Default_Broker{0=127.0.0.1:10911} 8/8/4/0")
	}},
	{"N17_pickupTopicRouteData", supportActing, func(f *fixture) {
		f.do(register(topics("TestTopic")))
		body, _ := f.Route("TestTopic", golden.RouteOptions{})
		f.want("105", body, `{"brokerDatas":[{"brokerAddrs":{"0":"127.0.0.1:10911"},"brokerName":"Default_Broker",`+
			`"cluster":"Default_Cluster","enableActingMaster":true}],"filterServerTable":{},"queueDatas":[{"brokerName":`+
			`"Default_Broker","perm":6,"readQueueNums":8,"topicSysFlag":0,"writeQueueNums":8}]}`)
	}},
	{"N17b_pickupTopicRouteData_secondName", supportActing, func(f *fixture) {
		f.do(register(topics("TestTopic")))
		f.do(register(topics("TestTopic"), named("AnotherBroker"), at(otherAddr)))
		f.wantRoute("TestTopic", "AnotherBroker{0=127.0.0.1:50911} 8/8/6/0; "+masterAlone)
	}},
	{"N17b_pickupTopicRouteData_secondNameSameAddress", supportActing, func(f *fixture) {
		// Apache keeps both names. Here an address belongs to the name it registered under last.
		f.do(register(topics("TestTopic", "Lost")))
		f.do(register(topics("TestTopic"), named("AnotherBroker")))
		f.wantRoute("TestTopic", "AnotherBroker{0=127.0.0.1:10911} 8/8/6/0")
		f.wantRoute("Lost", "none")
	}},
	{"N18_pickupTopicRouteDataWithSlave", supportActing, func(f *fixture) {
		f.do(register(topics("TestTopic")))
		f.do(register(slave, topics("TestTopic")))
		f.wantRoute("TestTopic", bothRoute)
	}},
	{"N18b_pickupTopicRouteDataWithSlave_masterLeft", supportActing, func(f *fixture) {
		f.do(register(topics("TestTopic")))
		f.do(register(slave, topics("TestTopic")))
		f.do(leave(register()))
		f.wantRoute("TestTopic", slaveActs)
	}},
	{"N18c_pickupTopicRouteDataWithSlave_masterBack", supportActing, func(f *fixture) {
		f.do(register(topics("TestTopic")))
		f.do(register(slave, topics("TestTopic")))
		f.do(leave(register()))
		f.do(register(topics("TestTopic")))
		f.wantRoute("TestTopic", bothRoute)
	}},
}

// ask is a version query (322) about Default_Broker's master.
func ask(v codec.DataVersion) *core.QueryDataVersion {
	return &core.QueryDataVersion{Conn: 1, ClusterName: cluster, BrokerAddr: masterAddr, DataVersion: v, HasDataVersion: true}
}
