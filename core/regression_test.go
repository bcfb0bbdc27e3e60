package core_test

import (
	"testing"
	"time"

	"github.com/waymark-mq/waymark/codec"
	"github.com/waymark-mq/waymark/core"
	"github.com/waymark-mq/waymark/internal/golden"
)

// regressionRows are what the properties found, as short as it gets.
var regressionRows = []row{
	{"zoneFilterDropsASharedAddress", nil, func(f *fixture) {
		// One address in two clusters: the dropped broker's filter servers go, though a kept one has the address too.
		f.do(register(named("A"), at("a:1"), zone("z1"), topics("T"), filterServers("fs:1")))
		f.do(register(named("B"), at("a:1"), zone("z2"), topics("T"), inCluster("c2"), filterServers("fs:1")))
		f.wantFilters(golden.RouteOptions{ZoneMode: true, ZoneName: "z1"}, `{}`)
	}},
	{"zoneIgnoresCaseAsJavaDoes", nil, func(f *fixture) {
		f.do(register(named("A"), at("a:1"), zone("zı"), topics("T")))
		f.wantZoned(golden.RouteOptions{ZoneMode: true, ZoneName: "ZI"}, "A{0=a:1} 8/8/6/0")
	}},
	{"deletionInAClusterTakesMappingsWithoutQueue", nil, func(f *fixture) {
		f.do(register(topics("T")))
		f.do(register(named("B"), inCluster("c2"), at(otherAddr), topics("U"), mapped("T", "B")))
		f.do(&core.DeleteTopic{Topic: "T", ClusterName: "c2"})
		f.wantRoute("T", masterAlone)
		f.wantMapping("T", "")
	}},
	{"mappingTakenOverByItsHost", nil, func(f *fixture) {
		f.do(register(topics("T"), mapped("T", "B")))
		f.do(register(named("B"), at(otherAddr), topics("U"), mapped("T", "B")))
		f.do(&core.RegisterTopic{Topic: "T", Queues: queues("B")})
		f.do(leave(register())) // registered it first, has nothing to do with it any more
		f.wantRoute("T", "B{0=127.0.0.1:50911} 8/8/6/0")
		f.wantMapping("T", `{"B":{"bname":"B","currIdMap":{"0":3,"2":1},"dirty":false,"epoch":7,"scope":"__global__","topic":"T","totalQueues":4}}`)
	}},
	{"mappingTakenOverBackAndForth", nil, func(f *fixture) {
		host, other := register(topics("T"), mapped("T", broker)), register(named("B"), at(otherAddr), topics("U"), mapped("T", broker))
		for range 2 {
			other.Body.DataVersion.Counter++
			host.Body.DataVersion.Counter++
			f.do(other)
			f.do(host)
		}
		f.do(leave(other))
		f.wantMapping("T", `{"Default_Broker":{"bname":"Default_Broker","currIdMap":{"0":3,"2":1},"dirty":false,"epoch":7,"scope":"__global__","topic":"T","totalQueues":4}}`)
	}},
	{"groupIndexUsedAgain", deleteMissing, func(f *fixture) {
		// B takes A's address while it is the later group, then C comes and B loses its topics.
		f.do(register(named("A"), only()))
		f.do(register(named("B"), topics("T")))
		f.do(register(named("B"), only()))
		f.do(register(named("C"), at(otherAddr), id(1), topics("T")))
		f.do(register(named("B"), only()))
		f.wantRoute("T", "C{0=127.0.0.1:50911} 8/8/4/0")
	}},
	{"expiryInTheOrderOfDeadlines", notifyMin, func(f *fixture) {
		// The slave's timer is the first to fire, but it has beaten since; in one late tick the master still goes first.
		f.do(register(topics("T"), timeout(3*time.Second)))
		f.do(register(slave, topics("T"), timeout(time.Second)))
		f.now += int64(900 * time.Millisecond)
		f.Touch(2, cluster, slaveAddr, f.now)
		f.now += int64(time.Second)
		f.Touch(2, cluster, slaveAddr, f.now)
		f.now += int64(900 * time.Millisecond)
		f.Touch(2, cluster, slaveAddr, f.now)
		f.now += int64(900 * time.Millisecond)
		f.Touch(2, cluster, slaveAddr, f.now)
		f.pass(time.Minute)
		f.wantEffects("close 1", "close 2", "tell [127.0.0.1:30911] min 1=127.0.0.1:30911 offline 127.0.0.1:10911")
	}},
}

func TestRegressions(t *testing.T) {
	for _, r := range regressionRows {
		t.Run(r.name, func(t *testing.T) { runBoth(t, r) })
	}
}

// TestRegressionMemoOfOtherCluster has a broker under one name, address and id in
// two clusters: the second registration deletes the first one's topic, so the
// first one's table is no longer what it was.
func TestRegressionMemoOfOtherCluster(t *testing.T) {
	settings := core.DefaultSettings()
	settings.DeleteTopicWithBrokerRegistration = true
	tables := newRealTables(settings)
	tables.Step(0, []core.Command{register(topics("T"))})
	tables.Step(0, []core.Command{register(inCluster("c2"))})
	if _, ok := tables.Route("T", golden.RouteOptions{Dialect: codec.Legacy}); ok {
		t.Fatal("the second registration has not deleted T")
	}
	live, known := tables.Live([]byte(cluster), []byte(masterAddr))
	if !known {
		t.Fatal("the first broker is not live")
	}
	if tables.Current(live) {
		t.Error("registering again would bring T back, but the table says that nothing would change")
	}
}
