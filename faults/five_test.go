//go:build faults && linux

package faults

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/waymark-mq/waymark/codec"
)

const (
	// fiveBrokers are so few that how many of them don't answer says nothing: whether a server is cut off shows by its peers alone.
	fiveBrokers = 2
	// removeAfter is for how long a broker must be silent before probes remove it. cutTime is longer, by all that is waited for besides, and ends before the
	// kernels' fifth repetition, 12.6 s after the first packet that was lost: the next comes as much later.
	removeAfter, cutTime = 8 * time.Second, 12 * time.Second
	vanishGoal           = 10 * time.Second // what is aimed at on a quiet machine: shown, not judged
)

// removals are the kinds of events in which a broker's address goes.
const removals = "unregistered,closed,expired,replaced,moved,unanswered,told_dead,unconfirmed,refused_connection"

// TestFiveNameservers: five nameservers that know one another, and brokers that register with all of them and answer probes, each on a host of its
// own. Three of the servers probe, two only look into what others say. One server is cut off, then one broker from one server, then a broker's host
// vanishes and boots again. A broker that lives goes nowhere but where its own connection ended, the dead one everywhere, and in the end all
// agree.
func TestFiveNameservers(t *testing.T) {
	t.Parallel() // it mostly waits
	listens := []string{"probeRemoves=true"}
	probes := append([]string{"probeIntervalMillis=1000", fmt.Sprint("probeRemoveAfterMillis=", removeAfter.Milliseconds())}, listens...)
	f := newFleet(t, fiveBrokers, probes, probes, probes, listens, listens)
	f.agree(fiveBrokers)
	want := make([][]fleetEvent, len(f.servers)) // the only removals of each server
	if !testing.Short() {
		f.cutServer(f.servers[0])
		f.wantRemovals(want)
	}

	closing := f.servers[2]
	f.cutPair(f.servers[1], f.brokers[0], closing)
	want[2] = append(want[2], fleetEvent{Kind: "closed", Broker: f.brokers[0].name})
	f.wantRemovals(want)

	victim := f.brokers[len(f.brokers)-1]
	f.vanish(victim)
	for i, s := range f.servers {
		want[i] = append(want[i], f.end(s, victim))
	}
	f.must(victim.host.Connect())
	victim.boot()
	f.agree(fiveBrokers)
	f.wantRemovals(want)
	f.wantSameRoutes()
	f.wantNoDivergence()
}

// agree waits until each server reaches all others, and all hold the same so many brokers, as their present versions are.
func (f *fleet) agree(brokers int) {
	f.t.Helper()
	from := time.Now()
	others := len(f.servers) - 1
	for _, s := range f.servers {
		waitFor(f.t, s.name+" that agrees with all others", func() bool {
			p := s.peers()
			agree := p.in("ready") == others && p.Self.Brokers == brokers
			for _, peer := range p.Peers {
				agree = agree && peer.RoutesAgree != nil && *peer.RoutesAgree
			}
			return agree && f.newest(s)
		})
	}
	f.t.Logf("all agree after %.1f s", time.Since(from).Seconds())
}

// newest reports whether a server has the last topic of each broker.
func (f *fleet) newest(s *fleetServer) bool {
	f.t.Helper()
	c := s.dial()
	defer c.close()
	for _, b := range f.brokers {
		topics := b.topics(b.version.Load())
		if c.call(route(topics[len(topics)-1])).Code != codec.ResponseSuccess {
			return false
		}
	}
	return true
}

// cutServer takes a server off the network for a while, in which brokers change.
func (f *fleet) cutServer(lonely *fleetServer) {
	f.t.Helper()
	from := time.Now()
	f.must(lonely.host.Cut())
	f.brokers[1].version.Add(1)
	for _, s := range f.servers {
		if s != lonely {
			waitFor(f.t, "nameserver that is given up", func() bool { p := s.peers(); return p.in("gone") == 1 })
		}
	}
	for _, b := range f.brokers {
		waitFor(f.t, "suspicion of "+b.name, func() bool { return lonely.has("suspected", b) })
	}
	time.Sleep(time.Until(from.Add(cutTime))) // nothing is to happen
	f.must(lonely.host.Connect())
	f.t.Logf("%s was cut off for %.1f s", lonely.name, time.Since(from).Seconds())
	f.agree(fiveBrokers)
}

// cutPair parts one server from one broker for a while, in which that broker's connection to another server ends.
func (f *fleet) cutPair(s *fleetServer, b *fleetBroker, closing *fleetServer) {
	f.t.Helper()
	from := time.Now()
	f.must(s.host.Isolate(true))
	f.must(b.host.Isolate(true))
	b.version.Add(1)
	waitFor(f.t, "suspicion of "+b.name, func() bool { return s.has("suspected", b) })
	b.hangUp(closing)
	waitFor(f.t, "end of the connection of "+b.name, func() bool { return closing.has("closed", b) })
	time.Sleep(time.Until(from.Add(cutTime))) // nothing is to happen
	f.must(s.host.Isolate(false))
	f.must(b.host.Isolate(false))
	waitFor(f.t, "trust in "+b.name, func() bool { return s.has("trusted", b) })
	f.agree(fiveBrokers)
}

// vanish ends a broker with its host, and waits until it is in nobody's routes.
func (f *fleet) vanish(b *fleetBroker) {
	f.t.Helper()
	from := time.Now()
	f.must(b.host.Cut())
	b.crash()
	var last time.Duration
	for _, s := range f.servers {
		waitFor(f.t, "end of "+b.name, func() bool { return s.peers().Self.Brokers == fiveBrokers-1 })
		last = max(last, time.Since(from))
	}
	f.t.Logf("out of all routes after %.1f s; %v is aimed at", last.Seconds(), vanishGoal)
}

// end is how a server came to remove a broker: by its own probes, or because another one said so that is named. One that doesn't probe by itself
// can have heard it only.
func (f *fleet) end(s *fleetServer, b *fleetBroker) fleetEvent {
	f.t.Helper()
	ends := s.events("unanswered,told_dead")
	if len(ends) != 1 {
		f.t.Fatalf("%s: ends of brokers %+v", s.name, ends)
	}
	e := ends[0]
	known := slices.ContainsFunc(f.servers, func(other *fleetServer) bool { return other != s && other.name == e.Other })
	listens := !strings.Contains(readFile(f.t, s.config), "probeIntervalMillis")
	if e.Broker != b.name || (e.Kind == "told_dead") != known || listens && !known {
		f.t.Errorf("%s: end of %s %+v", s.name, b.name, e)
	}
	f.t.Logf("%s: %+v", s.name, e)
	return e
}

// wantRemovals compares all removals since the start with those that the setup calls for.
func (f *fleet) wantRemovals(want [][]fleetEvent) {
	f.t.Helper()
	for i, s := range f.servers {
		if got := s.events(removals); !slices.Equal(got, want[i]) {
			f.t.Errorf("%s has removed %+v, want %+v", s.name, got, want[i])
		}
	}
}

// wantSameRoutes compares the list of topics, and each topic's route, of all servers.
func (f *fleet) wantSameRoutes() {
	f.t.Helper()
	answers := func(s *fleetServer) (texts []string) {
		c := s.dial()
		list := c.want(codec.ResponseSuccess, ask(codec.RequestGetAllTopicListFromNameserver)).body
		var topics struct{ TopicList []string }
		if err := json.Unmarshal([]byte(list), &topics); err != nil {
			f.t.Fatal(err)
		}
		slices.Sort(topics.TopicList)
		for _, topic := range topics.TopicList {
			texts = append(texts, topic+": "+c.want(codec.ResponseSuccess, route(topic)).body)
		}
		return texts
	}
	first := answers(f.servers[0])
	if least := 1 + fiveBrokers; len(first) < least || !strings.Contains(first[slices.IndexFunc(first, func(text string) bool { return strings.HasPrefix(text, sharedTopic) })], f.brokers[0].addr()) {
		f.t.Errorf("routes %q", first)
	}
	for _, s := range f.servers[1:] {
		if got := answers(s); !slices.Equal(got, first) {
			f.t.Errorf("routes of %s %q, of %s %q", s.name, got, f.servers[0].name, first)
		}
	}
}

// wantNoDivergence looks at what each server's metrics say of the others.
func (f *fleet) wantNoDivergence() {
	f.t.Helper()
	for _, s := range f.servers {
		var got []string
		for line := range strings.Lines(s.text("/metrics")) {
			if strings.HasPrefix(line, "rocketmq_namesrv_peer_divergence{") {
				got = append(got, strings.TrimSpace(line))
			}
		}
		var want []string
		for _, other := range f.servers {
			if other != s {
				want = append(want, fmt.Sprintf("rocketmq_namesrv_peer_divergence{peer=%q} 0", other.name))
			}
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			f.t.Errorf("%s: %q, want %q", s.name, got, want)
		}
	}
}
