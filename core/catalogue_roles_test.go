package core_test

import (
	"time"

	"github.com/waymark-mq/waymark/codec"
	"github.com/waymark-mq/waymark/core"
)

// actingOff is a 5.x broker outside acting-master mode.
var actingOff = acting(core.ActingFalse)

// masterAndSlave registers both with TestTopic.
func masterAndSlave(f *fixture, changes ...registering) {
	changes = append([]registering{topics("TestTopic")}, changes...)
	f.do(register(changes...))
	f.do(register(append([]registering{slave}, changes...)...))
}

// roleRows are RouteInfoManagerNewTest, masters, slaves and connections.
var roleRows = []row{
	{"N8_switchBrokerRole", supportActing, func(f *fixture) {
		masterAndSlave(f, actingOff)
		f.do(leave(register()))
		f.wantRoute("TestTopic", "Default_Broker{1=127.0.0.1:30911} 8/8/6/0")
	}},
	{"N8b_switchBrokerRole_promoted", supportActing, func(f *fixture) {
		masterAndSlave(f, actingOff)
		f.do(leave(register()))
		f.do(register(slave, id(0), actingOff, counter(2), topics("TestTopic")))
		f.wantRoute("TestTopic", "Default_Broker{0=127.0.0.1:30911} 8/8/6/0")
	}},
	{"N8c_switchBrokerRole_oldMasterAsSlave", supportActing, func(f *fixture) {
		masterAndSlave(f, actingOff)
		f.do(leave(register()))
		f.do(register(slave, id(0), actingOff, counter(2), topics("TestTopic")))
		f.do(register(id(1), actingOff, topics("TestTopic")))
		f.wantRoute("TestTopic", "Default_Broker{0=127.0.0.1:30911 1=127.0.0.1:10911} 8/8/6/0")
	}},
	{"N9_unRegisterSlaveBroker", supportActing, func(f *fixture) {
		masterAndSlave(f)
		f.do(leave(register(slave)))
		f.wantRoute("TestTopic", masterAlone)
	}},
	{"N10_unRegisterMasterBroker", supportActing, func(f *fixture) {
		masterAndSlave(f)
		f.do(leave(register()))
		f.wantRoute("TestTopic", slaveActs)
	}},
	{"N11_unRegisterMasterBrokerOldVersion", supportActing, func(f *fixture) {
		masterAndSlave(f, actingOff)
		f.do(leave(register()))
		f.wantRoute("TestTopic", "Default_Broker{1=127.0.0.1:30911} 8/8/6/0")
	}},
	{"N19_scanNotActiveBroker", supportActing, func(f *fixture) {
		f.do(register(topics("TestTopic"), timeout(30*time.Second)))
		f.pass(30 * time.Second) // strictly more than the timeout is too late
		f.wantRoute("TestTopic", masterAlone)
		f.pass(time.Second)
		f.wantRoute("TestTopic", "none")
		f.wantEffects("close 1")
	}},
	{"N20_pickupPartitionOrderTopicRouteData", supportActing, func(f *fixture) {
		f.do(register(slave, topics("TestTopic")))
		f.wantRoute("TestTopic", slaveActs)
	}},
	{"N20b_pickupPartitionOrderTopicRouteData_masterLeft", supportActing, func(f *fixture) {
		f.do(register(slave, topics("TestTopic")))
		f.do(register(topics("TestTopic")))
		f.do(leave(register()))
		f.wantRoute("TestTopic", slaveActs)
	}},
	{"N20c_pickupPartitionOrderTopicRouteData_twoGroups", supportActing, func(f *fixture) {
		masterAndSlave(f)
		f.do(register(topics("TestTopic"), named("AnotherBroker"), at("10.0.0.1:1")))
		f.do(register(slave, topics("TestTopic"), named("AnotherBroker"), at("10.0.0.2:1")))
		f.do(leave(register()))
		f.wantRoute("TestTopic", "AnotherBroker{0=10.0.0.1:1 1=10.0.0.2:1} 8/8/6/0; "+slaveActs)
	}},
	{"N21_pickupGlobalOrderTopicRouteData", supportActing, func(f *fixture) {
		one := topic("Global", 6)
		one.ReadQueueNums, one.WriteQueueNums = 1, 1
		table := only(topic("baseTopic", 6), one)
		const alone = "Default_Broker{0=127.0.0.1:30911} 1/1/4/0"
		f.do(register(slave, table))
		f.wantRoute("Global", alone)
		f.do(register(table))
		f.wantRoute("Global", "Default_Broker{0=127.0.0.1:10911 1=127.0.0.1:30911} 1/1/6/0")
		f.do(leave(register()))
		f.wantRoute("Global", alone)
	}},
	{"N22_registerOnlySlaveBroker", supportActing, func(f *fixture) {
		f.do(register(slave, topics("TestTopic")))
		f.wantRoute("TestTopic", slaveActs)
	}},
	{"N22b_registerOnlySlaveBroker_masterComesAndGoes", supportActing, func(f *fixture) {
		masterAndSlave(f)
		f.wantRoute("TestTopic", bothRoute)
		f.do(leave(register()))
		f.wantRoute("TestTopic", slaveActs)
		f.do(register(topics("TestTopic")))
		f.wantRoute("TestTopic", bothRoute)
	}},
	{"N23_onChannelDestroy", supportActing, func(f *fixture) {
		f.do(register(topics("TestTopic")))
		f.do(&core.EndConnection{Conn: 1})
		f.wantRoute("TestTopic", "none")
		f.wantRoute("baseTopic", "none")
	}},
	{"N23b_onChannelDestroy_oneAfterTheOther", supportActing, func(f *fixture) {
		masterAndSlave(f, actingOff)
		f.do(&core.EndConnection{Conn: 1})
		f.wantRoute("TestTopic", "Default_Broker{1=127.0.0.1:30911} 8/8/6/0")
		f.do(&core.EndConnection{Conn: 2})
		f.wantRoute("TestTopic", "none")
	}},
	{"N24_onChannelDestroyByBrokerInfo", supportActing, func(f *fixture) {
		// Apache names the broker by cluster and address; here that is what silence does.
		f.do(register(topics("TestTopic"), on(0)))
		f.pass(121 * time.Second)
		f.wantRoute("TestTopic", "none")
		f.wantEffects() // no connection, nothing to close
	}},
	{"N25_switchBrokerRole_ChannelDestroy", supportActing, func(f *fixture) {
		masterAndSlave(f, actingOff)
		f.do(&core.EndConnection{Conn: 1})
		f.wantRoute("TestTopic", "Default_Broker{1=127.0.0.1:30911} 8/8/6/0")
		f.do(register(slave, id(0), actingOff, counter(2), topics("TestTopic")))
		f.wantRoute("TestTopic", "Default_Broker{0=127.0.0.1:30911} 8/8/6/0")
		f.do(register(id(1), on(3), actingOff, topics("TestTopic")))
		f.wantRoute("TestTopic", "Default_Broker{0=127.0.0.1:30911 1=127.0.0.1:10911} 8/8/6/0")
	}},
}

// queues is the body of a topic's registration through 217.
func queues(brokerName string) []codec.QueueData {
	return []codec.QueueData{{BrokerName: brokerName, ReadQueueNums: 8, WriteQueueNums: 8, Perm: 6}}
}

// deletionRows are RouteInfoManagerNewTest, topics missing from a registration.
var deletionRows = []row{
	{"N26_keepTopicWithBrokerRegistration", supportActing, func(f *fixture) {
		f.do(register(only(topic("TestTopic", 6), topic("TestTopic1", 6))))
		f.do(register(only(topic("TestTopic1", 6)), counter(2)))
		f.wantRoute("TestTopic", masterAlone)
		f.wantRoute("TestTopic1", masterAlone)
	}},
	{"N27_deleteTopicWithBrokerRegistration", deleteMissing, func(f *fixture) {
		f.do(register(only(topic("TestTopic", 6), topic("TestTopic1", 6))))
		f.do(register(only(topic("TestTopic1", 6)), counter(2)))
		f.wantRoute("TestTopic", "none")
		f.wantRoute("TestTopic1", masterAlone)
	}},
	{"N28_deleteTopicWithBrokerRegistration2", deleteMissing, func(f *fixture) {
		two := only(topic("TestTopic", 6), topic("TestTopic1", 6))
		one := only(topic("TestTopic1", 6))
		another := []registering{named("AnotherBroker"), at(otherAddr)}
		const anotherAlone = "AnotherBroker{0=127.0.0.1:50911} 8/8/6/0"
		f.do(register(two))
		f.do(register(append(another, two)...))
		f.wantRoute("TestTopic", anotherAlone+"; "+masterAlone)
		f.do(register(one, counter(2)))
		f.wantRoute("TestTopic", anotherAlone)
		f.do(register(append(another, one, counter(2))...))
		f.wantRoute("TestTopic", "none")
		f.wantRoute("TestTopic1", anotherAlone+"; "+masterAlone)
	}},
	{"N29_registerSingleTopicWithBrokerRegistration", deleteMissing, func(f *fixture) {
		f.do(&core.RegisterTopic{Topic: "TestTopic", Queues: queues(broker)})
		f.wantRoute("TestTopic", "none")
	}},
	{"N29b_registerSingleTopicWithBrokerRegistration_known", deleteMissing, func(f *fixture) {
		f.do(register(topics("TestTopic1")))
		f.do(&core.RegisterTopic{Topic: "TestTopic", Queues: queues(broker)})
		f.wantRoute("TestTopic", masterAlone)
	}},
	{"N29c_registerSingleTopicWithBrokerRegistration_full", deleteMissing, func(f *fixture) {
		f.do(register(topics("TestTopic1")))
		f.do(&core.RegisterTopic{Topic: "TestTopic", Queues: queues(broker)})
		f.do(register(topics("TestTopic", "TestTopic1")))
		f.wantRoute("TestTopic", masterAlone)
		f.do(register(topics("TestTopic1")))
		f.wantRoute("TestTopic", "none")
		f.wantRoute("TestTopic1", masterAlone)
	}},
	{"N29d_registerSingleTopicWithBrokerRegistration_left", deleteMissing, func(f *fixture) {
		f.do(register(topics("TestTopic1")))
		f.do(&core.RegisterTopic{Topic: "TestTopic", Queues: queues(broker)})
		f.do(leave(register()))
		f.wantRoute("TestTopic", "none")
		f.wantRoute("TestTopic1", "none")
	}},
}
