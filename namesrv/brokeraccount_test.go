package namesrv

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/waymark-mq/waymark/namesrv/settings"
)

// The queues that records of broker()'s changes have, with their digests.
const (
	bothTopics = `"queues":[{"perm":6,"read":4,"topic":"Base","write":4},{"perm":6,"read":4,"topic":"Pad","write":4}],"queuesDigest":"82ee4a628ab1859e"`
	padWiped   = `"queues":[{"perm":4,"read":4,"topic":"Pad","write":4}],"queuesDigest":"d71ca8b8c799d2ca"`
)

// told is how a record has a broker that stands alone under its name.
func told(name string, timeoutMillis int, queues string) string {
	return fmt.Sprintf(`{"addrs":{"0":"%s:10911"},"dataVersion":{"counter":1,"stateVersion":0,"timestamp":1700000000000},"haServerAddr":"%[1]s:10912",%s,"timeoutMillis":%d}`,
		name, queues, timeoutMillis)
}

// accounts are an audit file's records of brokers.
func (s *testServer) accounts(path string) (records []account) {
	s.t.Helper()
	for _, line := range s.auditLines(path) {
		var a account
		if err := json.Unmarshal([]byte(line), &a); err != nil {
			s.t.Fatal(err)
		}
		a.bytes = len(line)
		records = append(records, a)
	}
	return records
}

type account struct {
	Event         string
	Result        *int
	Remark        string
	Before, After *brokerRecord
	bytes         int
}

func (a account) String() string {
	side := func(r *brokerRecord) string {
		if r == nil {
			return "nothing"
		}
		text := fmt.Sprint(r.Addrs)
		if r.DataVersion != nil && r.DataVersion.Counter != nil {
			text += fmt.Sprint(" version ", *r.DataVersion.Counter)
		}
		if r.Zone != nil {
			text += " zone " + *r.Zone
		}
		if r.HAServerAddr != "" {
			text += " ha " + r.HAServerAddr
		}
		for _, q := range r.Queues {
			text += fmt.Sprintf(" %s %d/%d/%d", q.Topic, q.Read, q.Write, q.Perm)
		}
		return text
	}
	return a.Event + ": " + side(a.Before) + " to " + side(a.After)
}

// Whatever a registration changes, of topics or of the broker itself, is told with what stood there before; one that changes nothing,
// and signs of life, are not.
func TestAuditOfBrokers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.log")
	s := start(t, audited(path))
	c := s.dial()
	a := broker("a")
	c.register(a, a.again(), a.set("haServerAddr", "thief:1"), a.set("__ZONE_NAME", "z"))
	c.wantCode(a.heartbeat(), 0)
	c.wantCode(a.query(), 0)
	c.register(a.counter(2).having(topicConfig{"Base", 8, 6, 0}, topicConfig{"Pad", 4, 6, 0}, topicConfig{"New", 1, 6, 0}))
	c.register(a.slave(1))
	c.want(a.unregister(), "0")
	var got []string
	for _, r := range s.accounts(path) {
		if r.Result == nil || *r.Result != 0 {
			t.Errorf("%s: result %v", r, r.Result)
		}
		got = append(got, r.String())
	}
	wantLines(t, got, []string{
		"broker registered: nothing to map[0:a:10911] version 1 ha a:10912 Base 4/4/6 Pad 4/4/6",
		"broker changed: map[0:a:10911] version 1 ha a:10912 to map[0:a:10911] version 1 ha thief:1",
		"broker changed: map[0:a:10911] version 1 ha thief:1 to map[0:a:10911] version 1 zone z ha a:10912",
		"broker changed: map[0:a:10911] version 1 zone z ha a:10912 Base 4/4/6 to map[0:a:10911] version 2 ha a:10912 Base 8/8/6 New 1/1/6",
		"broker registered: map[0:a:10911] to map[0:a:10911 1:a-1:10911] version 1 ha a-1:10912",
		"broker unregistered: map[0:a:10911 1:a-1:10911] version 2 ha a:10912 to map[1:a-1:10911]",
	})
}

// A broker that loses a conflict is told of when it loses something, not each time that it asks again.
func TestAuditOfALostConflict(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.log")
	s := start(t, audited(path))
	c := s.dial()
	a := broker("a")
	c.register(a.state(5), a.slave(1))
	loser := a.slave(1).set("brokerId", "0").counter(2)
	c.register(loser, loser.again(), loser.again().again())
	got := s.accounts(path)
	if len(got) != 3 || got[2].String() != "broker lost: map[0:a:10911 1:a-1:10911] version 1 ha a-1:10912 to map[0:a:10911]" {
		t.Errorf("%v", got)
	}
}

// A record's size doesn't follow what a broker sends: few topics are named, names are cut, of many members some are listed.
func TestAuditOfBrokersIsBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.log")
	s := start(t, audited(path))
	c := s.dial()
	long := strings.Repeat("ü", 10_000)
	var topics []topicConfig
	for i := range 200 {
		topics = append(topics, topicConfig{fmt.Sprint(i, long), 4, 6, 0})
	}
	c.register(broker("a").having(topics...))
	for id := 1; id <= 40; id++ {
		a := broker("a").slave(id)
		c.register(a.set("brokerAddr", fmt.Sprint(id, long), "haServerAddr", long, "__ZONE_NAME", long))
	}
	got := s.accounts(path)
	last := got[len(got)-1]
	if last.After.Members != 41 || len(last.After.Addrs) != maxMembersTold || len(got[0].After.Queues) == 0 || len(got[0].After.Queues) > 8 {
		t.Errorf("%d members, %d listed, %d topics named", last.After.Members, len(last.After.Addrs), len(got[0].After.Queues))
	}
	for i, r := range got {
		const most = 16 << 10
		if r.bytes > most {
			t.Errorf("record %d has %d bytes", i, r.bytes)
		}
	}
}

// An operator's request that is declined without a look at it is told of with the answer it got: when too much waits and when the
// server is about to stop.
func TestAuditOfDeclinedRequests(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.log")
	s := start(t, audited(path))
	c := s.proxied(inside)
	c.wantCode(ask(106), 0)
	s.writeBytes.Store(s.maxWriteBytes + 1)
	c.wantCode(put("n", "k", "v"), 2)
	c.send(configure("enableTopicList=false").oneway())
	c.wantCode(broker("a").request(), 2)
	s.writeBytes.Store(0)
	s.goingAway.Store(true)
	c.wantCode(ask(216, "topic", "T").from(476), 1500)
	c.wantCode(routeOf("T").from(476), 1500)
	c.wantCode(broker("a").heartbeat().from(476), 1500)
	s.goingAway.Store(false)
	const who = `"event":"failed","from":"10.1.2.3:1000"`
	wantLines(t, s.auditLines(path), []string{
		`{"code":100,` + who + `,"name":"PUT_KV_CONFIG","remark":"` + remarkBusy + `","result":2,"what":{"key":"k","namespace":"n"}}`,
		`{"code":318,` + who + `,"name":"UPDATE_NAMESRV_CONFIG","remark":"` + remarkBusy + `","result":2,"what":{"body":"enableTopicList=false"}}`,
		`{"code":216,` + who + `,"name":"DELETE_TOPIC_IN_NAMESRV","remark":"please go away","result":1500,"what":{"topic":"T"}}`,
	})
}

// Without an audit file the log tells of declined requests, once a minute whoever sends how many.
func TestLogOfDeclinedRequests(t *testing.T) {
	s := start(t)
	s.writeBytes.Store(s.maxWriteBytes + 1)
	for range 3 {
		c := s.proxied(inside)
		for range 10 {
			c.wantCode(put("n", "k", "v"), 2)
		}
	}
	s.writeBytes.Store(0)
	if got := s.logged("an operator's request has failed"); len(got) != 1 || !strings.Contains(got[0], "result=2") {
		t.Errorf("%v", got)
	}
}

// The registration of one topic is a broker's as well as an operator's: either list lets it through, and readOnly is not against brokers
// that are listed. Who is in neither is refused, though the other requests of a list that isn't set are open to him.
func TestOneTopicIsForEitherList(t *testing.T) {
	const admin, listed = "10.1.2.3:1000", "192.168.3.4:1000"
	request := ask(217, "topic", "New").with(`{"queueDatas":[{"brokerName":"a","readQueueNums":1,"writeQueueNums":1,"perm":6,"topicSysFlag":0}]}`)
	for _, tt := range []struct {
		name    string
		set     func(*settings.Settings)
		allowed string // of admin, listed and outside, those that are
	}{
		{"no list", func(*settings.Settings) {}, "admin listed outside"},
		{"admins", adminList, "admin"},
		{"brokers", func(c *settings.Settings) { c.BrokerAllowList = "192.168.0.0/16, 127.0.0.1" }, "listed"},
		{"both", func(c *settings.Settings) { adminList(c); c.BrokerAllowList = "192.168.0.0/16" }, "admin listed"},
		{"read only", func(c *settings.Settings) { c.ReadOnly = true }, ""},
		{"read only, both", func(c *settings.Settings) {
			adminList(c)
			c.ReadOnly, c.BrokerAllowList = true, "192.168.0.0/16, 127.0.0.1"
		}, "listed"},
	} {
		s := start(t, tt.set)
		for _, peer := range []struct{ name, from string }{{"admin", admin}, {"listed", listed}, {"outside", outside}} {
			want := int32(16)
			if strings.Contains(tt.allowed, peer.name) {
				want = 0
			}
			if a := s.proxied(peer.from).call(request); a.code != want {
				t.Errorf("%s, %s: %s, want code %d", tt.name, peer.name, a, want)
			}
		}
	}
}
