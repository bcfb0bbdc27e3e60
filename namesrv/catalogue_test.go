package namesrv

import (
	"net"
	"strings"
	"testing"
	"time"

	"github.com/waymark-mq/waymark/codec"
	"github.com/waymark-mq/waymark/namesrv/settings"
)

// The catalogue's rows that need a server: what the unit tests of Apache 5.5.0
// assert about its request processors, KV manager, zone hook and start. Those
// about its tables are in package core, X22 to X25 in TestCatalogueNotifications,
// C1 in TestClusterTestUnreachable. A row whose outcome differs from Apache's says so.
//
// Rows that only Java can have:
//
//	H1  close and exception events with a null connection: no connection is null here
//	H2  getters of the controller class, and its server field before initialisation
//	H4  the properties field of the start-up class before any -c
//	Z1, Z4 (its null answers): the hook is called without an answer; here the
//	    filter is part of making one, so only its answers with a code or a body remain

type catalogueRow struct {
	name     string
	settings func(*settings.Settings)
	run      func(s *testServer, c *client)
}

func TestCatalogue(t *testing.T) {
	for _, rows := range [][]catalogueRow{requestRows, readinessRows, kvRows, zoneRows, startRows, seenRows} {
		for _, r := range rows {
			t.Run(r.name, func(t *testing.T) {
				change := r.settings
				if change == nil {
					change = func(*settings.Settings) {}
				}
				s := start(t, change)
				r.run(s, s.dial())
			})
		}
	}
}

// q is the world of the Q rows: default-broker under id 1234, with two topics.
func q() registration {
	return broker("default-broker").set("clusterName", "default-cluster", "brokerAddr", "127.0.0.1:10911",
		"haServerAddr", "127.0.0.1:1002", "brokerId", "1234")
}

const kvNamespace, kvKey = "namespace", "key"

func put(namespace, key, value string) request {
	return ask(codec.RequestPutKVConfig, "namespace", namespace, "key", key, "value", value)
}

func get(namespace, key string) request {
	return ask(codec.RequestGetKVConfig, "namespace", namespace, "key", key)
}

func del(namespace, key string) request {
	return ask(codec.RequestDeleteKVConfig, "namespace", namespace, "key", key)
}

func listKV(namespace string) request {
	return ask(codec.RequestGetKVListByNamespace, "namespace", namespace)
}

func configure(body string) request { return ask(codec.RequestUpdateNamesrvConfig).with(body) }

var requestRows = []catalogueRow{
	{"Q1_putKVConfig", nil, func(s *testServer, c *client) {
		c.want(put(kvNamespace, kvKey, "value"), "0")
		if v, ok := s.table.Load().KV(kvNamespace, kvKey); !ok || v != "value" {
			s.t.Errorf("stored %q, %v", v, ok)
		}
	}},
	{"Q2_getKVConfigReturnNotNull", nil, func(_ *testServer, c *client) {
		c.want(put(kvNamespace, kvKey, "value"), "0")
		c.want(get(kvNamespace, kvKey), "0 {value=value}")
	}},
	{"Q3_getKVConfigReturnNull", nil, func(_ *testServer, c *client) {
		c.want(get(kvNamespace, kvKey), `22 "No config item, Namespace: namespace Key: key" {}`)
	}},
	{"Q4_deleteKVConfig", nil, func(s *testServer, c *client) {
		c.want(put(kvNamespace, kvKey, "value"), "0")
		c.want(del(kvNamespace, kvKey), "0")
		if _, ok := s.table.Load().KV(kvNamespace, kvKey); ok {
			s.t.Error("still there")
		}
	}},
	{"Q5_unSupportedRequest", nil, func(_ *testServer, c *client) {
		c.want(ask(99999), `3 " request type 99999 not supported"`)
	}},
	{"Q6_updateConfig", nil, func(_ *testServer, c *client) { c.want(configure("enableTopicList=true"), "0") }},
	{"Q7_updateConfigWithUnSupportedNamesrvConfig", nil, func(_ *testServer, c *client) {
		for _, key := range []string{"configStorePath", "kvConfigPath", "configBlackList"} {
			c.want(configure(key+"=test/path"), `16 "Can not update config in black list."`)
		}
	}},
	{"Q8_registerBroker", nil, func(_ *testServer, c *client) {
		r := q().set("brokerId", "2333", "brokerAddr", "10.10.1.1").raw("")
		r.version = 0
		c.want(r.request(), "0 {}")
		c.want(ask(106), `0 {"brokerAddrTable":{"default-broker":{"brokerAddrs":{2333:"10.10.1.1"},"brokerName":"default-broker",`+
			`"cluster":"default-cluster","enableActingMaster":false}},"clusterAddrTable":{"default-cluster":["default-broker"]}}`)
	}},
	{"Q9_registerBrokerWithFilterServer", nil, func(_ *testServer, c *client) {
		r := q().set("brokerId", "2333", "brokerAddr", "10.10.1.1").raw("")
		r.version = 100
		c.want(r.request(), "0 {}")
		c.want(ask(901, "clusterName", "default-cluster", "brokerName", "default-broker"), `0 "not set any response code" `+
			`{"brokerMemberGroup":{"brokerAddrs":{2333:"10.10.1.1"},"brokerName":"default-broker","cluster":"default-cluster"}}`)
	}},
	// Differs: Apache answers 104 before it is applied; here its effect is visible with the answer.
	{"Q10_unregisterBroker", nil, func(s *testServer, c *client) {
		c.register(q())
		c.want(q().unregister(), "0")
		if n := s.table.Load().Brokers(); n != 0 {
			s.t.Errorf("%d brokers left", n)
		}
	}},
	{"Q11_getAllTopicList", nil, func(_ *testServer, c *client) {
		c.register(q())
		c.want(ask(206), `0 {"topicList":["Base","Pad"]}`)
		c.want(configure("enableAllTopicList=false"), "0")
		c.want(ask(206), `1 "disable"`)
	}},
	{"Q12_getRouteInfo", nil, func(_ *testServer, c *client) {
		c.register(q())
		c.wantRoute("Base", "default-broker{1234=127.0.0.1:10911} 4/4/6/0")
		if a := c.call(routeOf("unit-test-not-exist")); a.code != codec.ResponseTopicNotExist {
			c.t.Errorf("unknown topic: %s", a)
		}
	}},
	{"Q13_getBrokerClusterInfo", nil, func(_ *testServer, c *client) { c.wantCode(ask(106), 0) }},
	{"Q14_queryDataVersion", nil, func(_ *testServer, c *client) {
		c.register(q())
		c.want(q().query().with(""), `0 {changed=true} {"counter":1,"stateVersion":0,"timestamp":1700000000000}`)
	}},
	{"Q15_brokerRequests", nil, func(_ *testServer, c *client) {
		c.register(q())
		for _, code := range []int32{901, 904, 327, 205, 216} {
			c.wantCode(ask(code, "clusterName", "default-cluster", "brokerName", "default-broker", "brokerAddr", "127.0.0.1:10911",
				"brokerId", "1234", "topic", "Base"), 0)
		}
	}},
	{"Q16_getKVListByNamespace", nil, func(_ *testServer, c *client) {
		c.want(listKV("default-namespace-1"), `22 "No config item, Namespace: default-namespace-1"`)
		c.want(put("default-namespace-1", "key", "value"), "0")
		c.want(listKV("default-namespace-1"), `0 {"table":{"key":"value"}}`)
	}},
	{"Q17_topicLists", nil, func(_ *testServer, c *client) {
		c.register(q())
		for _, code := range []int32{224, 304, 311, 312, 313} {
			c.wantCode(ask(code, "cluster", "default-cluster"), 0)
		}
	}},
	{"Q18_updateNamesrvConfigUnknownKey", nil, func(_ *testServer, c *client) { c.want(configure("{key=value}"), "0") }},
	{"Q19_getNamesrvConfig", nil, func(s *testServer, c *client) {
		_, port, _ := net.SplitHostPort(s.Addr())
		if a := c.call(ask(319)); a.code != 0 || !strings.Contains(a.body, "\nlistenPort="+port+"\n") {
			s.t.Errorf("want code 0 and port %s in %s", port, a)
		}
	}},
}

func (c *client) wantCode(r request, code int32) {
	c.t.Helper()
	if a := c.call(r); a.code != code {
		c.t.Errorf("code %d: got %s, want code %d", r.code, a, code)
	}
}

func waiting(need bool, seconds int) func(*settings.Settings) {
	return func(c *settings.Settings) { c.NeedWaitForService, c.WaitSecondsForService = need, seconds }
}

var readinessRows = []catalogueRow{
	{"C2_needWaitForZeroSeconds", waiting(true, 0), func(_ *testServer, c *client) {
		c.register(broker("a"))
		c.wantCode(routeOf("Base"), 0)
	}},
	{"C3_noNeedToWait", waiting(false, 45), func(_ *testServer, c *client) {
		c.register(broker("a"))
		c.wantCode(routeOf("Base"), 0)
	}},
	{"C4_needWait", waiting(true, 45), func(_ *testServer, c *client) {
		c.register(broker("a"))
		c.want(routeOf("Base"), `1 "name server not ready"`)
	}},
	{"C5_needWaitForThreeSeconds", waiting(true, 3), func(s *testServer, c *client) {
		c.register(broker("a"))
		c.want(routeOf("Base"), `1 "name server not ready"`)
		s.advance(4 * time.Second)
		c.wantCode(routeOf("Base"), 0)
	}},
}

var kvRows = []catalogueRow{
	{"K1_put", nil, func(_ *testServer, c *client) {
		c.want(put("ORDER_TOPIC_CONFIG", "UnitTest", "test"), "0")
		c.want(listKV("ORDER_TOPIC_CONFIG"), `0 {"table":{"UnitTest":"test"}}`)
		c.want(get("ORDER_TOPIC_CONFIG", "UnitTest"), "0 {value=test}")
	}},
	{"K2_deleteOnFreshTable", nil, func(_ *testServer, c *client) {
		c.want(del("ORDER_TOPIC_CONFIG", "UnitTest"), "0")
		c.want(listKV("ORDER_TOPIC_CONFIG"), `22 "No config item, Namespace: ORDER_TOPIC_CONFIG"`)
		c.want(get("ORDER_TOPIC_CONFIG", "UnitTest"), `22 "No config item, Namespace: ORDER_TOPIC_CONFIG Key: UnitTest" {}`)
	}},
	// Encoding and decoding are package storage's; here the table goes through a restart.
	{"K3_encodeAndDecode", nil, func(s *testServer, c *client) {
		c.want(put("ORDER_TOPIC_CONFIG", "Topic1", "broker-a:4"), "0")
		c.want(put("ORDER_TOPIC_CONFIG", "Topic2", `quoted " \ ü`), "0")
		c.want(put("other", "k", ""), "0")
		s.stop()
		c = startIn(s.t, s.home).dial()
		c.want(listKV("ORDER_TOPIC_CONFIG"), `0 {"table":{"Topic1":"broker-a:4","Topic2":"quoted \" \\ ü"}}`)
		c.want(get("other", "k"), "0 {value=}")
	}},
}

var startRows = []catalogueRow{
	{"H3_startAndShutdown", nil, func(s *testServer, _ *client) { s.stop() }},
	// Apache's row runs on 9876, which may be taken where this runs.
	{"H5_fullStart", nil, func(s *testServer, c *client) {
		c.register(broker("a"))
		c.wantRoute("Base", "a{0=a:10911} 4/4/6/0")
		s.stop()
		c.wantClosed()
	}},
}
