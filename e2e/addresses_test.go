//go:build e2e

package e2e

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/waymark-mq/waymark/e2e/harness"
)

// fetchLimit is for a peer that asks its address server: every peer does at its start, 10 s later and then every 2 minutes, and can't be
// told otherwise. A Go client first uses what it was told at its next poll.
const fetchLimit = 2*time.Minute + goPoll + flowLimit

// Topics, one for each kind of client.
const (
	unitTopic     = "Unit"
	subgroupTopic = "Subgroup"
	goTopic       = "Go"
)

// TestClientsFollowAddressServer: peers that are told nothing but an address server find their nameservers by it, and follow when these are
// replaced: of two nameservers one is drained and stopped, a third joins, and the other is drained. In the end everybody is connected to one
// of which nobody had heard, no send has failed and nothing is lost. On the control the list is the operator's, who edits it.
func TestClientsFollowAddressServer(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, nameserver string) {
		peer := harness.NewestGoClient(shared.root)
		const finds = "finds its nameservers, and those that replace them one by one"
		inMatrix(t, nameserver, "broker", currentVersion, "fetchNamesrvAddrByAddressServer=true: "+finds)
		inMatrix(t, nameserver, "Java client", currentVersion, "rocketmq.namesrv.domain, a unit's name: "+finds+"; no send fails")
		inMatrix(t, nameserver, "Java client", oldVersion, "rocketmq.namesrv.domain.subgroup: "+finds+"; no send fails")
		inMatrix(t, nameserver, peer.Name, peer.Version, "HTTP resolver: "+finds+"; no send fails")
		need(t, peer.Prepare())

		s := newSite(t, nameserver)
		s.startPeers(t, peer)
		s.replaceFirst(t)
		s.replaceSecond(t)
		s.end(t)
	})
}

// site is nameservers that peers find by an address server: two, and a third of which they are told later.
type site struct {
	first, second, newcomer *harness.Nameserver
	domain                  string // where the address server is, host:port, as rocketmq.namesrv.domain
	edited                  *editedList
	listed                  []*harness.Nameserver

	told, finder *harness.Broker // by its settings, and by the address server
	java         []flow
	goFleet      flow
}

// newSite starts the first two. The second of Waymark's is the address server; Apache's nameserver has none.
func newSite(t *testing.T, nameserver string) *site {
	t.Helper()
	s := &site{}
	var settings [3][]string
	if nameserver == waymark {
		settings, s.domain = settingsOfPeers(t)
	}
	var all [3]*harness.Nameserver
	for i := range all {
		n, err := harness.NewNameserver(programOf(t, nameserver), t.TempDir(), settings[i]...)
		must(t, err)
		t.Cleanup(func() { n.Kill(); logOnFailure(t, n) })
		all[i] = n
	}
	s.first, s.second, s.newcomer = all[0], all[1], all[2]
	if nameserver == apache {
		s.edited = newEditedList(t)
		s.domain = s.edited.addr
	}
	must(t, s.first.Start())
	must(t, s.second.Start())
	if nameserver == apache { // which takes its time
		must(t, s.newcomer.Start())
	}
	s.list(t, s.first, s.second)
	return s
}

// settingsOfPeers are those of nameservers that know one another, of which the second is the address server.
func settingsOfPeers(t *testing.T) (settings [3][]string, domain string) {
	t.Helper()
	var addrs [4]string
	for i := range addrs {
		addrs[i] = refusingAddr(t)
	}
	peers, domain := addrs[:3], addrs[3]
	for i := range settings {
		settings[i] = []string{"peers=" + strings.Join(peers, ";"), "peerListenAddress=" + peers[i], "drainSeconds=2"}
	}
	settings[1] = append(settings[1], "addressServerListen="+domain)
	return settings, domain
}

// startPeers starts brokers, and then clients that find both.
func (s *site) startPeers(t *testing.T, peer *harness.Peer) {
	t.Helper()
	s.told = brokerOf(t, currentVersion, "told", s.first, s.second, s.newcomer)
	s.finder = newBroker(t, harness.BrokerConfig{Jars: shared.jars(t, currentVersion), Name: "finder", Domain: s.domain,
		Nameservers: []*harness.Nameserver{s.first, s.second}})
	must(t, s.finder.Launch())
	startAll(t, s.told)
	s.startJava(t)
	must(t, s.finder.AwaitRegistered(brokerLimit))
	createTopic(t, s.finder, unitTopic)
	s.java[0].await(t, flowLimit, func(c counts) bool { return c[s.finder.Name] > 0 })
	s.goFleet = startGoFleet(t, peer, "http://"+s.domain+"/rocketmq/nsaddr", goTopic, 3)
}

// startJava makes the topics and starts two generations of Java clients, each with another way of naming its list.
func (s *site) startJava(t *testing.T) {
	t.Helper()
	for _, topic := range []string{unitTopic, subgroupTopic, goTopic} {
		createTopic(t, s.told, topic)
		for _, n := range []*harness.Nameserver{s.first, s.second} {
			awaitRoute(t, n, topic, func(*harness.Route) bool { return true })
		}
	}
	domain := "-Drocketmq.namesrv.domain=" + s.domain
	s.java = []flow{
		runFlow(t, currentVersion, domain, "-Dflow.unit=blue", "-", unitTopic),
		runFlow(t, oldVersion, domain, "-Drocketmq.namesrv.domain.subgroup=nsaddr-green", "-", subgroupTopic),
	}
}

// replaceFirst retires the first for the newcomer.
func (s *site) replaceFirst(t *testing.T) {
	t.Helper()
	s.retire(t, s.first)
	if !s.newcomer.Running() {
		must(t, s.newcomer.Start())
	}
	s.list(t, s.second, s.newcomer)
	for _, f := range s.clients() {
		awaitNoConnection(t, f, s.first)
	}
	s.stop(t, s.first)
	must(t, s.told.AwaitRegisteredAt(s.newcomer, backLimit))
}

// replaceSecond leaves the newcomer alone. The second runs until all have heard of that from it.
func (s *site) replaceSecond(t *testing.T) {
	t.Helper()
	s.retire(t, s.second)
	for _, f := range s.clients() {
		awaitConnections(t, f, fetchLimit, func(to map[string]int) bool { return to[s.newcomer.Addr] > 0 && to[s.second.Addr] == 0 })
	}
	must(t, s.finder.AwaitRegisteredAt(s.newcomer, fetchLimit))
	for _, f := range s.java {
		f.fresh(t, "with nothing but the newcomer")
	}
	s.stop(t, s.second)
}

func (s *site) clients() []flow { return append(slices.Clone(s.java), s.goFleet) }

// retire takes a nameserver that runs off the list, and sends its clients away if it can.
func (s *site) retire(t *testing.T, n *harness.Nameserver) {
	t.Helper()
	rest := slices.DeleteFunc(slices.Clone(s.listed), func(other *harness.Nameserver) bool { return other == n })
	if s.edited == nil {
		must(t, n.Process().Drain())
	}
	s.list(t, rest...)
	if s.edited != nil {
		s.stop(t, n)
	}
}

// stop stops a nameserver that may be stopped already.
func (s *site) stop(t *testing.T, n *harness.Nameserver) {
	t.Helper()
	if n.Running() {
		must(t, n.Stop())
	}
}

// list waits until the address server's answer is these nameservers, or makes it so where it doesn't know by itself.
func (s *site) list(t *testing.T, nameservers ...*harness.Nameserver) {
	t.Helper()
	s.listed = nameservers
	addrs := strings.Split(harness.Addrs(nameservers), ";")
	slices.Sort(addrs)
	want := strings.Join(addrs, ";")
	if s.edited != nil {
		s.edited.set(want)
	}
	err := harness.Eventually(flowLimit, func() error {
		answer, err := http.Get("http://" + s.domain + "/rocketmq/nsaddr")
		if err != nil {
			return err
		}
		defer answer.Body.Close()
		body, err := io.ReadAll(answer.Body)
		if err == nil && (answer.StatusCode != http.StatusOK || string(body) != want) {
			err = fmt.Errorf("the address server says %s, %q, want %q", answer.Status, body, want)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// end: with the newcomer alone everybody goes on.
func (s *site) end(t *testing.T) {
	t.Helper()
	for _, f := range s.java {
		f.awaitPolls(t, 1)
	}
	for _, f := range s.clients() {
		awaitConnections(t, f, flowLimit, func(to map[string]int) bool {
			return to[s.newcomer.Addr] > 0 && to[s.first.Addr]+to[s.second.Addr] == 0
		})
	}
	for _, f := range s.java {
		f.stop(t)
	}
	stopGoFleet(t, s.goFleet)
	if s.edited != nil {
		s.edited.checkAsked(t)
	}
}
