package namesrv

import (
	"strings"
	"testing"
	"time"

	"github.com/waymark-mq/waymark/codec"
	"github.com/waymark-mq/waymark/namesrv/settings"
)

// fresh is a registration that the world doesn't have.
func fresh() registration { return broker("new").having(named("New", "Pad")...) }

const (
	nullPointer = `1 "java.lang.NullPointerException…`
	undecodable = `1 "org.apache.rocketmq.remoting.exception.RemotingCommandException: Failed to decode RegisterBrokerBody, …`
)

func TestRequest103(t *testing.T) {
	order := put("ORDER_TOPIC_CONFIG", "Base", "a:4;b:4")
	noFields := fresh().request()
	noFields.fields = nil
	runRequests(t, []requestRow{
		{name: "master", r: fresh().request(), want: "0 {}"},
		{name: "master again", before: []request{fresh().request()}, r: fresh().again().request(), want: "0 {}"},
		{name: "slave", r: broker("a").slave(2).request(), want: "0 {haServerAddr=a:10912 masterAddr=a:10911}"},
		{name: "slave again", r: broker("a").slave(1).again().request(), want: "0 {haServerAddr=a:10912 masterAddr=a:10911}"},
		{name: "slave alone", r: fresh().slave(1).request(), want: "0 {}"},
		{name: "slave of a master in another cluster", r: broker("b").slave(1).request(), want: "0 {}"},
		{name: "no acting flag", r: fresh().without("enableActingMaster").request(), want: "0 {}"},
		{name: "with order table", before: []request{order}, r: fresh().request(), want: `0 {} {"table":{"Base":"a:4;b:4"}}`},
		{name: "recognised, with order table", before: []request{fresh().request(), order}, r: fresh().again().request(),
			want: `0 {} {"table":{"Base":"a:4;b:4"}}`},
		{name: "slave, with order table", before: []request{order}, r: broker("a").slave(2).request(),
			want: `0 {haServerAddr=a:10912 masterAddr=a:10911} {"table":{"Base":"a:4;b:4"}}`},
		{name: "with emptied order table", before: []request{order, del("ORDER_TOPIC_CONFIG", "Base")}, r: fresh().request(), want: `0 {} {"table":{}}`},
		{name: "order table not returned", before: []request{order, configure("returnOrderTopicConfigToBroker=false")}, r: fresh().request(), want: "0 {}"},
		{name: "no checksum", r: fresh().set("bodyCrc32", "0").request(), want: "0 {}"},
		{name: "checksum out of range", r: fresh().set("bodyCrc32", "2147483648").request(), want: "0 {}"},
		{name: "checksum wrong", r: fresh().set("bodyCrc32", "1").request(), want: `1 "crc32 not match" {}`},
		{name: "checksum wrong and no body", r: fresh().raw("").set("bodyCrc32", "1").request(), want: `1 "crc32 not match" {}`},
		{name: "one topic", r: fresh().having(named("New")...).request(), want: `1 "register broker failed" {}`},
		{name: "one topic under a new id", r: broker("a").slave(2).having(named("Base")...).request(), want: `1 "register broker failed" {}`},
		{name: "one topic under a known id", r: broker("a").counter(2).having(named("Base")...).request(), want: "0 {}"},
		{name: "stateVersion lost", before: []request{fresh().state(5).request()},
			r: fresh().set("brokerAddr", "other:1").state(4).request(), want: "0 {}"},
		{name: "no haServerAddr", r: fresh().without("haServerAddr").request(), want: "0 {}"},
		{name: "no compressed", r: fresh().without("compressed").request(), want: "0 {}"},
		{name: "no brokerId", r: fresh().without("brokerId").request(), want: nullPointer},
		{name: "brokerId no number", r: fresh().set("brokerId", " 0").request(), want: nullPointer},
		{name: "brokerId with a sign", r: fresh().set("brokerId", "+0").request(), want: "0 {}"},
		{name: "brokerId negative", r: fresh().set("brokerId", "-1").request(), want: "0 {}"},
		// Apache answers these 0 and keeps a null in its tables.
		{name: "no brokerName", r: fresh().without("brokerName").request(), want: `1 "brokerName is missing"`},
		{name: "no brokerAddr", r: fresh().without("brokerAddr").request(), want: `1 "brokerAddr is missing"`},
		{name: "no clusterName", r: fresh().without("clusterName").request(), want: `1 "clusterName is missing"`},
		{name: "no fields", r: noFields, want: nullPointer},
		{name: "negative version", r: from(fresh(), -1).request(),
			want: `1 "java.lang.ArrayIndexOutOfBoundsException: Index -1 out of bounds for length 613, …`},
	})
}

// Bodies with holes: what is absent has its default, what is broken is refused.
func TestRequest103Bodies(t *testing.T) {
	runRequests(t, []requestRow{
		{name: "none", r: fresh().raw("").request(), want: "0 {}"},
		{name: "empty object", r: fresh().raw("{}").request(), want: "0 {}"},
		{name: "null", r: fresh().raw("null").request(), want: `1 "…`},
		{name: "no JSON", r: fresh().raw("no JSON").request(), want: undecodable},
		{name: "cut", r: fresh().raw(fresh().encode()[:100]).request(), want: undecodable},
		{name: "wrapper null", r: fresh().raw(`{"topicConfigSerializeWrapper":null}`).request(), want: "0 {}"},
		{name: "wrapper empty", r: fresh().raw(`{"topicConfigSerializeWrapper":{}}`).request(), want: "0 {}"},
		{name: "version null", r: fresh().raw(`{"topicConfigSerializeWrapper":{"dataVersion":null}}`).request(), want: "0 {}"},
		{name: "counter null", r: fresh().raw(`{"topicConfigSerializeWrapper":{"dataVersion":{"counter":null}}}`).request(), want: "0 {}"},
		{name: "table null", r: fresh().raw(`{"topicConfigSerializeWrapper":{"topicConfigTable":null}}`).request(), want: "0 {}"},
		{name: "filter servers null", r: fresh().raw(`{"filterServerList":null}`).request(), want: "0 {}"},
		{name: "unknown members", r: fresh().raw(`{"z":[{"a":[1,{}]}],"topicConfigSerializeWrapper":{"y":0}}`).request(), want: "0 {}"},
		{name: "deflated, 5.x", r: fresh().set("compressed", "true").raw(deflated5(t)).request(), want: "0 {}"},
		{name: "deflated, 4.x", r: from(fresh().set("compressed", "true").raw(deflated4(t)), 407).request(), want: "0 {}"},
		{name: "deflated, 4.x body from 5.x", r: fresh().set("compressed", "true").raw(deflated4(t)).request(), want: undecodable},
		// Apache refuses what 5.x brokers send with compressedRegister.
		{name: "deflated, marked plain", r: fresh().raw(deflated5(t)).request(), want: "0 {}"},
		{name: "deflated, cut", r: fresh().set("compressed", "true").raw(deflated5(t)[:20]).request(), want: undecodable},
		{name: "old form", r: from(fresh().raw(`{"dataVersion":{"counter":1,"timestamp":1700000000000},"topicConfigTable":{}}`), 36).request(), want: "0 {}"},
		{name: "old form, no body", r: from(fresh().raw(""), 36).request(), want: "0 {}"},
		{name: "old form, no JSON", r: from(fresh().raw("no JSON"), 36).request(), want: `1 "…`},
	})
}

// What a refused registration leaves in the tables: nothing.
func TestRefusedRegistrationLeavesNothing(t *testing.T) {
	for _, r := range []request{
		fresh().without("brokerName").request(), fresh().without("brokerAddr").request(), fresh().without("clusterName").request(),
		fresh().without("brokerId").request(), fresh().set("bodyCrc32", "1").request(), fresh().raw("x").request(),
		fresh().having(named("New")...).request(),
	} {
		s := start(t)
		c := s.dial()
		if a := c.call(r); a.code != 1 {
			t.Errorf("%v: %s", r.fields, a)
		}
		c.want(ask(106), `0 {"brokerAddrTable":{},"clusterAddrTable":{}}`)
		c.want(ask(304), `0 {"topicList":[]}`)
		c.want(ask(206), `0 {"topicList":[]}`)
	}
}

// An inflated body is bounded by a setting.
func TestInflateLimit(t *testing.T) {
	bomb := deflate(t, strings.Repeat(" ", 4<<20)+`{"counter":1}`, true)
	for _, tt := range []struct {
		name  string
		limit int
		want  string
	}{
		{"below", 8 << 20, "0"},
		{"above", 1 << 20, "1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := start(t, func(c *settings.Settings) { c.MaxInflatedBodyBytes = tt.limit }).dial()
			if got := c.call(broker("a").set("compressed", "true").raw(bomb).request()).String(); got[:1] != tt.want {
				t.Errorf("got %s, want code %s", got, tt.want)
			}
		})
	}
}

func TestRequest104(t *testing.T) {
	runRequests(t, []requestRow{
		{name: "known", r: broker("a").unregister(), want: "0"},
		{name: "unknown", r: broker("nobody").unregister(), want: "0"},
		{name: "with a body", r: broker("a").unregister().with("ignored"), want: "0"},
		{name: "no brokerId", r: ask(104, "brokerName", "a", "brokerAddr", "a:10911", "clusterName", cluster), want: "0"},
		{name: "brokerId no number", r: ask(104, "brokerName", "a", "brokerAddr", "a:10911", "clusterName", cluster, "brokerId", "x"), want: "0"},
		// Apache answers these 0; they change nothing there either.
		{name: "no brokerName", r: ask(104, "brokerAddr", "a:10911", "clusterName", cluster), want: `1 "brokerName is missing"`},
		{name: "no brokerAddr", r: ask(104, "brokerName", "a", "clusterName", cluster), want: `1 "brokerAddr is missing"`},
		{name: "no clusterName", r: ask(104, "brokerName", "a", "brokerAddr", "a:10911"), want: `1 "clusterName is missing"`},
		{name: "no fields", r: ask(104), want: `1 "brokerName is missing"`},
	})
}

// The address counts: neither id nor cluster need fit.
func TestRequest104Effect(t *testing.T) {
	for _, tt := range []struct {
		name  string
		r     request
		route string
	}{
		{"right", broker("a").unregister(), "none"},
		{"wrong id", broker("a").set("brokerId", "7").unregister(), "none"},
		{"no id", ask(104, "brokerName", "a", "brokerAddr", "a:10911", "clusterName", cluster), "none"},
		{"wrong cluster", broker("a").set("clusterName", "Wrong").unregister(), "none"},
		{"wrong address", broker("a").set("brokerAddr", "a:1").unregister(), "a{0=a:10911} 4/4/6/0"},
		{"wrong name", broker("a").set("brokerName", "b").unregister(), "a{0=a:10911} 4/4/6/0"},
		{"no cluster", ask(104, "brokerName", "a", "brokerAddr", "a:10911"), "a{0=a:10911} 4/4/6/0"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := start(t).dial()
			c.register(broker("a"))
			c.call(tt.r)
			c.wantRoute("Base", tt.route)
		})
	}
}

func TestRequest322(t *testing.T) {
	const stored = ` {"counter":1,"stateVersion":0,"timestamp":1700000000000}`
	a := broker("a")
	later := a.query().with(`{"counter":1,"stateVersion":0,"timestamp":1700000000001}`)
	runRequests(t, []requestRow{
		{name: "equal", r: a.query(), want: "0 {changed=false}" + stored},
		{name: "equal, no brokerName", r: ask(322, "clusterName", cluster, "brokerAddr", "a:10911").with(stored[1:]), want: "0 {changed=false}" + stored},
		{name: "equal, 4.x form", r: a.query().with(`{"timestamp":1700000000000,"counter":"1"}`), want: "0 {changed=false}" + stored},
		{name: "other counter", r: a.counter(2).query(), want: "0 {changed=true}" + stored},
		{name: "other stateVersion", r: a.state(1).query(), want: "0 {changed=true}" + stored},
		{name: "other timestamp", r: later, want: "0 {changed=true}" + stored},
		{name: "unknown", r: broker("nobody").query(), want: "0 {changed=true}"},
		{name: "other cluster", r: a.set("clusterName", "OtherCluster").query(), want: "0 {changed=true}"},
		{name: "no body", r: a.query().with(""), want: "0 {changed=true}" + stored},
		{name: "no body, unknown", r: broker("nobody").query().with(""), want: "0 {changed=true}"},
		{name: "no JSON", r: a.query().with("no JSON"), want: `1 "com.alibaba.fastjson2.JSONException: …`},
		{name: "no clusterName", r: ask(322, "brokerAddr", "a:10911"), want: nullPointer},
		{name: "no brokerAddr", r: ask(322, "clusterName", cluster), want: nullPointer},
		{name: "no fields", r: ask(322), want: nullPointer},
	})
}

func TestRequest904(t *testing.T) {
	a := broker("a")
	full := a.heartbeat()
	full.fields = append(full.fields, ask(0, "brokerId", "0", "epoch", "1", "maxOffset", "2", "confirmOffset", "3",
		"heartbeatTimeoutMills", "1000", "electionPriority", "4").fields...)
	runRequests(t, []requestRow{
		{name: "known", r: a.heartbeat(), want: "0"},
		{name: "all fields", r: full, want: "0"},
		{name: "no brokerName", r: ask(904, "clusterName", cluster, "brokerAddr", "a:10911"), want: "0"},
		{name: "unknown", r: broker("nobody").heartbeat(), want: "0"},
		{name: "no clusterName", r: ask(904, "brokerAddr", "a:10911"), want: nullPointer},
		{name: "no brokerAddr", r: ask(904, "clusterName", cluster), want: nullPointer},
		{name: "no fields", r: ask(904), want: nullPointer},
	})
}

// Its own spelling of the timeout changes nothing.
func TestRequest904KeepsTimeout(t *testing.T) {
	s := start(t)
	c := s.dial()
	c.register(broker("a"))
	r := broker("a").heartbeat()
	r.fields = append(r.fields, codec.ExtField{Name: "heartbeatTimeoutMills", Value: "1000"})
	c.want(r, "0")
	livesFor(120*time.Second)(t, s, c)
}
