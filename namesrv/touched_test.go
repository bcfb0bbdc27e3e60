package namesrv

import (
	"testing"
	"time"

	"github.com/waymark-mq/waymark/codec"
	"github.com/waymark-mq/waymark/namesrv/settings"
)

// What was changed since a broker's last registration decides what the same
// registration does when it comes again: the rules are Apache's, however it is recognised.
func TestUnchangedRegistrationAfterChange(t *testing.T) {
	wipe := ask(codec.RequestWipeWritePermOfBroker, "brokerName", "a")
	for _, tt := range []struct {
		name   string
		change []request
		topic  string
		want   string
	}{
		{"wiped stays wiped", []request{wipe}, "Base", "a{0=a:10911} 4/4/4/0"},
		{"327 stays 6", []request{wipe, ask(codec.RequestAddWritePermOfBroker, "brokerName", "a")}, "Exec", "a{0=a:10911} 4/4/6/0"},
		{"deleted comes back", []request{ask(codec.RequestDeleteTopicInNamesrv, "topic", "Base")}, "Base", "a{0=a:10911} 4/4/6/0"},
		{"deleted in its cluster comes back",
			[]request{ask(codec.RequestDeleteTopicInNamesrv, "topic", "Base", "clusterName", cluster)}, "Base", "a{0=a:10911} 4/4/6/0"},
		{"deleted after wiping comes back as sent",
			[]request{wipe, ask(codec.RequestDeleteTopicInNamesrv, "topic", "Base")}, "Base", "a{0=a:10911} 4/4/6/0"},
		{"217's queues stay", []request{ask(codec.RequestRegisterTopicInNamesrv, "topic", "Base").with(
			`{"queueDatas":[{"brokerName":"a","perm":6,"readQueueNums":9,"topicSysFlag":0,"writeQueueNums":9}]}`)},
			"Base", "a{0=a:10911} 9/9/6/0"},
		{"217's topic stays", []request{ask(codec.RequestRegisterTopicInNamesrv, "topic", "Extra").with(
			`{"queueDatas":[{"brokerName":"a","perm":6,"readQueueNums":9,"topicSysFlag":0,"writeQueueNums":9}]}`)},
			"Extra", "a{0=a:10911} 9/9/6/0"},
		{"217's topic goes once missing ones are deleted", []request{
			ask(codec.RequestRegisterTopicInNamesrv, "topic", "Extra").with(
				`{"queueDatas":[{"brokerName":"a","perm":6,"readQueueNums":9,"topicSysFlag":0,"writeQueueNums":9}]}`),
			ask(codec.RequestUpdateNamesrvConfig).with("deleteTopicWithBrokerRegistration=true")},
			"Extra", "none"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := start(t)
			c := s.dial()
			r := broker("a").having(append(named("Base", "Pad"), topicConfig{"Exec", 4, 7, 0})...)
			c.register(r)
			for _, q := range tt.change {
				if a := c.call(q); a.code != 0 {
					t.Fatalf("code %d: %s", q.code, a)
				}
			}
			c.register(r.again())
			if got := s.unchanged.Load(); got != 0 {
				t.Errorf("%d registrations recognised, want 0: something was changed in between", got)
			}
			c.wantRoute(tt.topic, tt.want)
			// The third finds nothing changed since the second.
			c.register(r.again().again())
			if got := s.unchanged.Load(); got != 1 {
				t.Errorf("%d registrations recognised, want 1", got)
			}
			c.wantRoute(tt.topic, tt.want)
		})
	}
}

// A new DataVersion undoes a wipe; the same one sent with fewer topics doesn't.
func TestWipedUntilNewVersion(t *testing.T) {
	s := start(t)
	c := s.dial()
	r := broker("a")
	c.register(r)
	c.want(ask(codec.RequestWipeWritePermOfBroker, "brokerName", "a"), "0 {wipeTopicCount=2}")
	c.register(r.again().having(named("Base")...)) // one topic, known id: accepted
	c.wantRoute("Base", "a{0=a:10911} 4/4/4/0")
	c.register(r.counter(2).having(named("Base")...))
	c.wantRoute("Base", "a{0=a:10911} 4/4/6/0")
	c.wantRoute("Pad", "a{0=a:10911} 4/4/4/0")
	c.register(r.counter(2)) // marked current by the one before: Pad is not repaired
	c.wantRoute("Pad", "a{0=a:10911} 4/4/4/0")
	c.register(r.counter(3))
	c.wantRoute("Pad", "a{0=a:10911} 4/4/6/0")
}

func TestSlaveBecomesPrimeWithUnchangedTable(t *testing.T) {
	s := start(t)
	master, slave := s.dial(), s.dial()
	acting := broker("a").set("enableActingMaster", "true")
	r := acting.slave(1).having(named("Base", "Pad", "OnSlave")...)
	master.register(acting)
	slave.register(r, r.again(), r.again().again())
	if got := s.unchanged.Load(); got != 2 {
		t.Fatalf("%d registrations recognised, want 2", got)
	}
	slave.wantRoute("OnSlave", "none")
	s.end(master)
	slave.register(r.again())
	slave.wantRoute("OnSlave", "a{1=a-1:10911} acting 4/4/4/0")
	slave.wantRoute("Base", "a{1=a-1:10911} acting 4/4/4/0")
	// And back: the master's unchanged table, on a new connection.
	again := s.dial()
	again.register(acting.again())
	again.wantRoute("Base", "a{0=a:10911 1=a-1:10911} acting 4/4/6/0")
	again.wantRoute("OnSlave", "a{0=a:10911 1=a-1:10911} acting 4/4/4/0")
}

// Split registration: the frames of a round, and of all rounds, carry one DataVersion.
func TestSplitRound(t *testing.T) {
	s := start(t)
	c := s.dial()
	parts := []registration{
		broker("a").having(named("A1", "A2")...),
		broker("a").having(named("B1", "B2")...),
		broker("a").having(named("C1", "C2")...),
	}
	all := []string{"A1", "A2", "B1", "B2", "C1", "C2"}
	for round := range 3 {
		for _, part := range parts {
			part.mappingTime += int64(round)
			c.register(part)
		}
		for _, topic := range all {
			c.wantRoute(topic, "a{0=a:10911} 4/4/6/0")
		}
	}
	if got := s.unchanged.Load(); got != 0 {
		t.Errorf("%d parts recognised, want 0: each differs from the one before", got)
	}
	// A deleted topic of a middle part is back after the next round.
	c.want(ask(codec.RequestDeleteTopicInNamesrv, "topic", "B1"), "0")
	for _, part := range parts {
		c.register(part.again())
	}
	for _, topic := range all {
		c.wantRoute(topic, "a{0=a:10911} 4/4/6/0")
	}
}

// The first part of a round with a new version updates, later ones only add what is missing.
func TestSplitRoundWithNewVersion(t *testing.T) {
	eight := func(names ...string) (topics []topicConfig) {
		for _, name := range names {
			topics = append(topics, topicConfig{name, 8, 6, 0})
		}
		return topics
	}
	for _, tt := range []struct {
		name          string
		deleteMissing bool
		first, second string // routes of a topic of the first and of the second part
	}{
		{"kept", false, "a{0=a:10911} 8/8/6/0", "a{0=a:10911} 4/4/6/0"},
		{"missing deleted", true, "none", "a{0=a:10911} 8/8/6/0"}, // each part deletes the one before
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := start(t, func(c *settings.Settings) { c.DeleteTopicWithBrokerRegistration = tt.deleteMissing })
			c := s.dial()
			c.register(broker("a").having(named("A1", "A2")...), broker("a").counter(2).having(named("B1", "B2")...))
			c.register(broker("a").counter(3).having(eight("A1", "A2")...), broker("a").counter(3).having(eight("B1", "B2")...))
			c.wantRoute("A1", tt.first)
			c.wantRoute("B1", tt.second)
		})
	}
}

// Two brokers claim one slot with the same stateVersion: the later registration wins, an unchanged one too.
func TestDisplacedBrokerRegistersAgain(t *testing.T) {
	s := start(t)
	c1, c2 := s.dial(), s.dial()
	x, y := broker("a"), broker("a").set("brokerAddr", "y:10911")
	c1.register(x)
	for range 3 {
		c2.register(y)
		c1.wantRoute("Base", "a{0=y:10911} 4/4/6/0")
		c1.register(x)
		c1.wantRoute("Base", "a{0=a:10911} 4/4/6/0")
	}
	if got := s.unchanged.Load(); got != 0 {
		t.Errorf("%d registrations recognised, want 0: the slot was taken each time", got)
	}
}

// A fenced master sends its unchanged table every 30 s and changes nothing.
func TestFencedBrokerRegistersAgain(t *testing.T) {
	s := start(t)
	c1, c2 := s.dial(), s.dial()
	old, winner := broker("a").state(5), broker("a").set("brokerAddr", "y:10911").state(6)
	c1.register(old)
	c2.register(winner)
	for range 3 {
		c1.want(old.request(), "0 {}")
		c1.want(old.heartbeat(), "0")
		c1.want(old.query(), "0 {changed=true}")
		c1.wantRoute("Base", "a{0=y:10911} 4/4/6/0")
		s.advance(30 * time.Second)
		c2.want(winner.heartbeat(), "0")
	}
	s.end(c1)
	c2.wantRoute("Base", "a{0=y:10911} 4/4/6/0")
	c2.want(old.unregister(), "0")
	c2.wantRoute("Base", "a{0=y:10911} 4/4/6/0")
}
