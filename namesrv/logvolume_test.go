package namesrv

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/waymark-mq/waymark/namesrv/settings"
)

// Brokers that come with their topics, change them all and go cost lines by their number, not by their topics': far fewer than 500
// for 20 of them.
func TestLinesFollowBrokersNotTopics(t *testing.T) {
	const brokers = 20
	for _, topics := range []int{2, 200} {
		s := start(t)
		base := len(s.logged(""))
		c := s.dial()
		table, changed := many(topics, 4), many(topics, 8)
		for i := range brokers {
			c.register(broker(fmt.Sprint("b", i)).having(table...).set("heartbeatTimeoutMillis", "10000"))
		}
		for i := range brokers {
			c.register(broker(fmt.Sprint("b", i)).having(changed...).counter(2).set("heartbeatTimeoutMillis", "10000"))
		}
		s.wantLines(fmt.Sprint(topics, " topics came and changed"), base+2*brokers)
		s.advance(16 * time.Second)
		if got := s.logged("broker removed: silent"); len(got) != brokers || !strings.Contains(got[0], fmt.Sprint("topics=", topics)) {
			t.Errorf("%d topics are gone: %d lines, the first %.200s", topics, len(got), got)
		}
		// A few more say that the connection of expired brokers was ended, and that the clock jumped.
		if got := len(s.logged("")) - len(s.logged("netpoll: ")); got > base+3*brokers {
			t.Errorf("%d topics came, changed and went in %d lines", topics, got-base)
		}
	}
}

// While nothing happens nothing is written: ten minutes of heartbeats, unchanged registrations, queries, hits and misses. Nothing in the
// server has a longer period than the minute of its limits, so an hour is no different.
func TestSteadyStateIsSilent(t *testing.T) {
	s := start(t)
	c := s.dial()
	var rs []registration
	for i := range 5 {
		rs = append(rs, broker(fmt.Sprint("b", i)))
		c.register(rs[i])
	}
	base := len(s.logged(""))
	for range 20 {
		s.advance(30 * time.Second)
		for i := range rs {
			rs[i] = rs[i].again()
			c.register(rs[i])
			c.call(rs[i].heartbeat())
			c.call(rs[i].query())
		}
		client := s.dial()
		client.call(routeOf("Base"))
		client.call(routeOf("None"))
		client.call(ask(216, "topic", "None"))
		client.close()
	}
	// The sockets' own timers see the test's clock jump.
	if got := len(s.logged("")) - len(s.logged("netpoll: the process stood still")); got != base {
		t.Errorf("%d lines in ten minutes: %v", got-base, s.logged(""))
	}
}

// The level follows the setting while the server runs.
func TestLogLevelAtRunTime(t *testing.T) {
	home := t.TempDir()
	level := new(slog.LevelVar)
	c := settings.Default(settings.Env{HomeDir: home})
	c.LogLevel = "warn"
	s := newTestServer(t, home, Options{Settings: c, Level: level})
	s.mustStart()
	if level.Level() != slog.LevelWarn {
		t.Errorf("level %v at the start, want that of the file", level.Level())
	}
	conn := s.dial()
	for text, want := range map[string]slog.Level{"debug": slog.LevelDebug, "ERROR": slog.LevelError, "info": slog.LevelInfo} {
		conn.want(configure("logLevel="+text), "0")
		if level.Level() != want {
			t.Errorf("%s: level %v", text, level.Level())
		}
	}
	before := level.Level()
	conn.want(configure("logLevel=loud"), `1 "settings: logLevel: \"loud\" is none of debug, info, warn, error"`)
	if level.Level() != before {
		t.Error("a refused level works")
	}
}

// Files that can't be written to cost a line a minute, however often it is tried.
func TestUnwritableFilesAreToldOnceAMinute(t *testing.T) {
	s := start(t)
	c := s.dial()
	mustWrite(t, s.kvPath()+"/in-the-way", "")
	mustWrite(t, s.configPath()+"/in-the-way", "")
	for range 5 {
		c.wantCode(put("n", "k", "v"), 1)
		c.wantCode(configure("enableTopicList=false"), 1)
	}
	for _, text := range []string{"KV configuration not written", "configuration not written", "an operator's request has failed"} {
		want := 1
		if text[0] != 'K' {
			want = 2 // of each kind of request
		}
		if got := s.logged(text); len(got) != want {
			t.Errorf("%q: %d lines, want %d: %v", text, len(got), want, got)
		}
	}
}

// flood sends n requests at once and waits for their answers.
func (c *client) flood(n int, r func(i int) request) {
	c.t.Helper()
	var requests []request
	for i := range n {
		requests = append(requests, r(i))
	}
	last := c.send(requests...)
	for i := range int32(n) {
		c.wait(last - i)
	}
}

// What an operator's tool does in a loop is bounded too, and counted.
func TestFloodOfChangesIsBounded(t *testing.T) {
	s := start(t)
	c := s.dial()
	base := len(s.logged(""))
	c.flood(2*burstLines, func(i int) request { return put("n", "k", fmt.Sprint(i)) })
	s.wantLines("in one moment", base+burstLines)
	s.advance(burstPeriod)
	c.want(put("n", "k", "more"), "0")
	if got := s.logged(fmt.Sprint("otherEventsNotLogged=", burstLines)); len(got) != 1 {
		t.Errorf("%v", got)
	}
}

// Lines of a kind that differ in what peers send, and so each count as new, are bounded together, and silence no other kind.
func TestLinesOfManyKindsAreBounded(t *testing.T) {
	s := start(t, adminList)
	in := s.proxied(inside)
	base := len(s.logged(""))
	rubbish := func(i int) request { return put("ORDER_TOPIC_CONFIG", fmt.Sprint("topic", i), "rubbish") }
	in.flood(2*otherLines, rubbish)
	s.wantLines("operators' changes counted", base+3*otherLines)
	for i := range 20 {
		s.proxied(fmt.Sprintf("172.16.1.%d:1", i)).wantCode(put("n", "k", "v"), 16)
	}
	const text = "order configuration would make clients fail"
	if bad, refused := len(s.logged(text)), len(s.logged("request refused")); bad != otherLines || refused != 20 {
		t.Errorf("%d and %d lines, want %d and 20", bad, refused, otherLines)
	}
	s.advance(otherPeriod)
	in.wantCode(rubbish(2*otherLines), 0)
	if got := s.logged(text); len(got) != otherLines+1 || !strings.Contains(got[otherLines], fmt.Sprint("otherLinesNotLogged=", otherLines)) {
		t.Errorf("%d lines, the last %s", len(got), got[len(got)-1])
	}
}
