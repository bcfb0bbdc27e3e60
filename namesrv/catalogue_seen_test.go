package namesrv

import (
	"os"
	"strings"

	"github.com/waymark-mq/waymark/namesrv/settings"
)

// Rows of what Apache's releases were seen to do, as far as they show in requests.
// Package core has those about tables alone.
var seenRows = []catalogueRow{
	// Differs: the refused registrations leave no broker without addresses behind.
	{"X2_firstRegistrationWithOneTopic", nil, func(_ *testServer, c *client) {
		one := broker("a").having(named("Base")...)
		for range 2 {
			c.want(one.request(), `1 "register broker failed" {}`)
			c.want(ask(106), `0 {"brokerAddrTable":{},"clusterAddrTable":{}}`)
		}
		c.want(broker("a").request(), "0 {}")
		c.want(one.counter(2).request(), "0 {}")
	}},
	{"X3_noTopics", nil, func(_ *testServer, c *client) {
		c.want(broker("a").having().request(), "0 {}")
		c.want(ask(206), `0 {"topicList":[]}`)
		c.want(broker("a").query(), `0 {changed=false} {"counter":1,"stateVersion":0,"timestamp":1700000000000}`)
	}},
	// Differs: Apache keeps the legacy dialect whatever the request's version.
	{"X26_zoneLetterCaseAndDialect", nil, func(_ *testServer, c *client) {
		c.register(zoned("a", "z1"), zoned("b", "z2").set("brokerId", "1"), zoned("c", "z2"))
		c.wantZoned("Base", "Z1", "TRUE", "a{0=a:10911} zone=z1 4/4/6/0; b{1=b:10911} zone=z2 4/4/6/0")
		if a := c.call(inZone("Base", "Z1", "TRUE")); !strings.Contains(a.body, `{"0":"a:10911"}`) {
			c.t.Errorf("version 513: want quoted ids in %s", a)
		}
		if a := c.call(inZone("Base", "Z1", "TRUE").from(317)); !strings.Contains(a.body, `{0:"a:10911"}`) {
			c.t.Errorf("version 317: want bare ids in %s", a)
		}
	}},
	// Differs: {} is an empty table, where Apache's start fails; a .bak is read.
	{"X27_kvFiles", nil, func(s *testServer, _ *client) {
		for _, tt := range []struct {
			content, backup string
			starts          bool
		}{
			{"", "", true},
			{"{}", "", true},
			{`{"configTable":{}}`, "", true},
			{"text", "", false},
			{`{"configTable":{"n":{"k":"v"`, "", false},
			{"text", `{"configTable":{"n":{"k":"v"}}}`, true},
		} {
			home := s.t.TempDir()
			c := settings.Default(settings.Env{HomeDir: home})
			mustWrite(s.t, c.KVConfigPath, tt.content)
			if tt.backup != "" {
				mustWrite(s.t, c.KVConfigPath+".bak", tt.backup)
			}
			logs := &logLines{}
			server, err := New(Options{Settings: c, Clock: newFakeClock(), Logger: logs.logger()})
			if (err == nil) != tt.starts {
				s.t.Errorf("file %q: error %v, starts: %v", tt.content, err, tt.starts)
			}
			if err != nil && !strings.Contains(err.Error(), c.KVConfigPath) {
				s.t.Errorf("file %q: error %v does not name the file", tt.content, err)
			}
			if tt.backup != "" {
				if v, _ := server.table.Load().KV("n", "k"); v != "v" {
					s.t.Errorf("backup not read: %q", v)
				}
				if len(logs.with("backup")) != 1 {
					s.t.Error("nothing said about the backup")
				}
			}
		}
	}},
	// Differs: blanks around a number are trimmed, where Apache ignores the value silently.
	{"X28_blankBehindNumber", nil, func(s *testServer, c *client) {
		c.want(configure("waitSecondsForService=7 "), "0")
		if got := s.settings.Load().WaitSecondsForService; got != 7 {
			s.t.Errorf("waitSecondsForService is %d, want 7", got)
		}
	}},
	// Differs: Apache takes every text but true for false.
	{"X29_ambiguousBool", nil, func(s *testServer, c *client) {
		a := c.call(configure("enableTopicList=yes"))
		if a.code != 1 || a.remark == nil || !strings.Contains(*a.remark, "enableTopicList") {
			s.t.Errorf("got %s, want code 1 and a remark that names the key", a)
		}
		if !s.settings.Load().EnableTopicList {
			s.t.Error("the value was applied")
		}
	}},
	{"X30_allowedAndRefusedKey", nil, func(s *testServer, c *client) {
		c.want(configure("enableTopicList=false\nkvConfigPath=/tmp/x"), `16 "Can not update config in black list."`)
		if !s.settings.Load().EnableTopicList {
			s.t.Error("the allowed key was applied")
		}
		if _, err := os.Stat(s.configPath()); err == nil {
			s.t.Error("a file was written")
		}
	}},
	{"X31_badRegistrations", nil, func(_ *testServer, c *client) {
		c.wantPrefix(broker("a").without("brokerId").request(), `1 "java.lang.NullPointerException`)
		c.wantPrefix(broker("a").set("brokerId", "x").request(), `1 "java.lang.NullPointerException`)
		c.want(broker("a").set("bodyCrc32", "1").request(), `1 "crc32 not match" {}`)
		c.want(broker("a").raw("").set("bodyCrc32", "1").request(), `1 "crc32 not match" {}`)
		c.wantPrefix(broker("a").raw("no JSON").request(),
			`1 "org.apache.rocketmq.remoting.exception.RemotingCommandException: Failed to decode RegisterBrokerBody, `)
		c.want(ask(106), `0 {"brokerAddrTable":{},"clusterAddrTable":{}}`)
		// Differs: a deflated body marked plain, as 5.x brokers send it, is taken.
		c.want(broker("a").raw(deflated5(c.t)).request(), "0 {}")
		c.wantRoute("Base", "a{0=a:10911} 4/4/6/0")
	}},
}

func (c *client) wantPrefix(r request, want string) {
	c.t.Helper()
	if got := c.call(r).String(); !strings.HasPrefix(got, want) {
		c.t.Errorf("code %d\n      got %s\nwant it to begin with %s", r.code, got, want)
	}
}
