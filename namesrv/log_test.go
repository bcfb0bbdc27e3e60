package namesrv

import (
	"strings"
	"testing"
	"time"

	"github.com/waymark-mq/waymark/namesrv/settings"
)

// wantLines compares how many lines have been logged in all.
func (s *testServer) wantLines(when string, want int) {
	s.t.Helper()
	if got := s.logged(""); len(got) != want {
		s.t.Errorf("%s: %d lines, want %d\n%s", when, len(got), want, strings.Join(got, "\n"))
	}
}

// A registration is one line with counts, however many topics it has; queries and
// heartbeats are none.
func TestOneLineForARegistration(t *testing.T) {
	s := start(t)
	c := s.dial()
	base := len(s.logged(""))
	r := broker("a").having(append(many(500, 4), named("Base", "Pad")...)...)
	c.register(r)
	s.wantLines("registered", base+1)
	line := s.logged("broker registered")[0]
	for _, part := range []string{"level=INFO", "cluster=DefaultCluster", "broker=a", "id=0", "addr=a:10911", "topics=502"} {
		if !strings.Contains(line, part) {
			t.Errorf("%s is missing in %s", part, line)
		}
	}
	for range 50 {
		r = r.again()
		c.register(r)
		c.wantRoute("Base", "a{0=a:10911} 4/4/6/0")
		c.wantRoute("None", "none")
		for _, q := range []request{r.heartbeat(), r.query(), broker("nobody").heartbeat(), broker("nobody").query(), ask(106), ask(206),
			ask(224, "cluster", "nope"), ask(304), ask(311), ask(901, "brokerName", "a"), ask(319), get("n", "k"), listKV("n"), ask(9999),
			ask(216, "topic", "nope"), broker("nobody").unregister()} {
			c.call(q)
		}
	}
	s.wantLines("asked and registered again", base+1)
	topics := append(many(500, 4), named("Base", "Pad")...)
	topics[7].queues, topics[8].queues = 9, 9
	c.register(r.counter(2).having(topics...))
	s.wantLines("two topics changed", base+2)
	if line := s.logged("registered changes"); len(line) != 1 || !strings.Contains(line[0], "topics=502 topicsChanged=2") {
		t.Errorf("changed: %v", line)
	}
	c.want(r.unregister(), "0")
	s.wantLines("unregistered", base+3)
	if line := s.logged("broker unregistered"); len(line) != 1 || !strings.Contains(line[0], "topics=502") {
		t.Errorf("unregistered: %v", line)
	}
}

// What repeats with every registration of a misconfigured broker is told once a
// minute, with the number of what was left out.
func TestRepeatedConflictsOnceAMinute(t *testing.T) {
	for _, tt := range []struct {
		name  string
		setUp []registration
		again registration
		text  string
	}{
		{"lost", []registration{broker("a").state(6)}, broker("a").set("brokerAddr", "old:1").state(5), "registration lost"},
		{"refused", nil, broker("a").having(named("Base")...), "registration refused"},
		{"two clusters", []registration{broker("a")}, broker("a").set("clusterName", "Other", "brokerId", "1", "brokerAddr", "x:1"), "known in another cluster"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := start(t)
			c := s.dial()
			c.register(tt.setUp...)
			for i := range 5 {
				c.call(tt.again.counter(int64(i + 2)).request())
			}
			if got := s.logged(tt.text); len(got) != 1 {
				t.Fatalf("%d lines in one minute, want 1: %v", len(got), got)
			}
			s.advance(time.Minute)
			c.call(tt.again.counter(9).request())
			got := s.logged(tt.text)
			if len(got) != 2 || !strings.Contains(got[1], "notLogged=4") {
				t.Errorf("a minute later: %v, want a second line that counts 4", got)
			}
			for _, r := range []registration{tt.again.set("brokerName", "other", "brokerAddr", "o:1")} { // another broker has a line of its own
				c.register(broker("other").state(6))
				c.call(r.request())
			}
		})
	}
}

// Two brokers that take a slot from each other are told once a minute.
func TestFlappingSlotOnceAMinute(t *testing.T) {
	s := start(t)
	c := s.dial()
	x, y := broker("a"), broker("a").set("brokerAddr", "y:1")
	c.register(x)
	for range 5 {
		c.register(y, x)
	}
	got := s.logged("took the slot of another address")
	if len(got) != 1 || !strings.Contains(got[0], "displaced=a:10911") {
		t.Errorf("%d lines, want 1: %v", len(got), got)
	}
}

// A broker that registers in parts while each of them takes off the others' topics is told of once a minute.
func TestSplitRegistrationThatDeletesIsToldOnce(t *testing.T) {
	const text = "took topics off"
	for _, on := range []bool{false, true} {
		s := start(t, func(c *settings.Settings) { c.DeleteTopicWithBrokerRegistration = on })
		c := s.dial()
		c.register(broker("whole"), broker("whole").counter(2).having(named("Base", "Other")...))
		for round := range int64(3) {
			for _, part := range []string{"A", "B", "C"} {
				c.register(broker("parts").counter(round + 1).having(named(part+"1", part+"2")...))
			}
		}
		want := map[bool]int{true: 1}[on]
		if got := s.logged(text); len(got) != want || on && !strings.Contains(got[0], "broker=parts") {
			t.Errorf("deleting %v: %d lines, want %d: %v", on, len(got), want, got)
		}
	}
}

// A changed setting is one line with both values.
func TestLogOfSettings(t *testing.T) {
	s := start(t)
	c := s.dial()
	c.want(configure("enableTopicList=false\nlistenPort=1\nunknown=x"), "0")
	for _, want := range []string{
		"key=enableTopicList from=true to=false needsRestart=false", "key=listenPort", `key="\"unknown\"`,
	} {
		if got := s.logged(want); len(got) != 1 {
			t.Errorf("%d lines with %q, want 1", len(got), want)
		}
	}
	before := len(s.logged(""))
	c.want(configure("enableTopicList=false"), "0")
	s.wantLines("nothing changed", before)
}
