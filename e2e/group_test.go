//go:build e2e

package e2e

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/waymark-mq/waymark/e2e/harness"
)

// stepLimit is how long one step of a group's life may take. Several brokers start at once: a slow machine needs it.
const stepLimit = 3 * time.Minute

// connectionEndLimit tells the end of a connection from what ends a route otherwise: a minute or more of silence.
const connectionEndLimit = 30 * time.Second

// Names of the brokers in a group's cluster, and the topic that both have.
const (
	groupName  = "broker-a"
	otherName  = "broker-b"
	groupTopic = "GroupTopic"
)

// groupConfig says how a group differs from the default.
type groupConfig struct {
	version    string   // of the masters
	slaves     string   // version of the slaves and of the client
	settings   []string // of the nameserver
	properties []string // of all brokers
	replicas   []string // properties of master and slaves alone
	listener   string   // of the client: concurrently or orderly
}

// group is a master with two slaves, another master beside them in the cluster, and a client that sends and receives.
type group struct {
	nameserver    *harness.Nameserver
	master, other *harness.Broker
	slaves        []*harness.Broker
	tap           *harness.Tap // between the last slave and the nameserver
	client        *harness.Session
	stages        []string // the topic's route at each stage, addresses by name
}

// startGroup starts it all and waits until the nameserver knows the members and the slaves know the topic.
func startGroup(t *testing.T, nameserver string, config groupConfig) *group {
	t.Helper()
	masters, slaves := shared.jars(t, config.version), shared.jars(t, config.slaves)
	classes := shared.program(t, slaves, "GroupClient.java")
	g := &group{nameserver: newNameserver(t, programOf(t, nameserver), config.settings...)}
	broker := func(jars harness.Jars, name string, id int, properties []string) *harness.Broker {
		return newBroker(t, harness.BrokerConfig{
			Jars: jars, Name: name, ID: id, Nameservers: []*harness.Nameserver{g.nameserver},
			Properties: append([]string{"slaveReadEnable=true"}, properties...),
		})
	}
	replicas := slices.Concat(config.properties, config.replicas)
	g.master, g.other = broker(masters, groupName, 0, replicas), broker(masters, otherName, 0, config.properties)
	g.tap = newTap(t, g.nameserver)
	tapped := append(slices.Clone(replicas), "namesrvAddr="+g.tap.Addr)
	g.slaves = []*harness.Broker{broker(slaves, groupName, 1, replicas), broker(slaves, groupName, 2, tapped)}
	// A slave learns its master from the answer to its own registration: the master has to come first.
	startAll(t, g.master, g.other)
	for _, master := range []*harness.Broker{g.master, g.other} {
		createTopic(t, master, groupTopic)
	}
	startAll(t, g.slaves...)
	g.startClient(t, slaves, classes, config.listener)
	for _, slave := range g.slaves {
		awaitTopicAt(t, slave, groupTopic)
	}
	return g
}

func (g *group) startClient(t *testing.T, jars harness.Jars, classes, listener string) {
	t.Helper()
	client, err := shared.java.StartSession(jars, classes, filepath.Join(t.TempDir(), "client"), "GroupClient",
		g.nameserver.Addr, groupTopic, listener)
	if err != nil {
		t.Fatal(err)
	}
	g.client = client
	t.Cleanup(func() { client.Kill(); logOnFailure(t, client) })
	if _, err := client.Await("ready", stepLimit); err != nil {
		t.Fatal(err)
	}
}

// awaitRoute waits until the topic's route has the members of the group by brokerId, queues of that permission there,
// and the other master; and keeps that route under the name of the stage.
func (g *group) awaitRoute(t *testing.T, stage string, perm int, members map[string]*harness.Broker, limit time.Duration) {
	t.Helper()
	want := map[string]string{}
	for id, b := range members {
		want[id] = b.Addr
	}
	err := harness.Eventually(limit, func() error {
		return g.nameserver.Ask(func(a *harness.Asker) error {
			route, err := a.Route(groupTopic)
			if err != nil {
				return err
			}
			if route == nil || !maps.Equal(route.Broker(groupName), want) || permOf(route) != perm || route.Broker(otherName)["0"] != g.other.Addr {
				return fmt.Errorf("%s: route is %v, want %s with %v and permission %d", stage, route, groupName, want, perm)
			}
			body, err := a.RouteBytes(groupTopic)
			if err != nil {
				return err
			}
			text, err := harness.Canonical([]byte(g.named(string(body))))
			g.stages = append(g.stages, stage+": "+text)
			return err
		})
	})
	if err != nil {
		t.Fatal(err)
	}
}

// permOf is the permission of the group's queues.
func permOf(route *harness.Route) int {
	for _, queues := range route.Queues {
		if queues.Broker == groupName {
			return queues.Perm
		}
	}
	return 0
}

// named writes the brokers' names for their addresses.
func (g *group) named(text string) string {
	return strings.NewReplacer(g.master.Addr, "master", g.other.Addr, "other", g.slaves[0].Addr, "slave 1", g.slaves[1].Addr, "slave 2").Replace(text)
}

// killMaster kills the master and waits until the route shows the members that are left, with that permission.
func (g *group) killMaster(t *testing.T, perm int, left map[string]*harness.Broker) {
	t.Helper()
	g.master.Kill()
	g.awaitRoute(t, "master killed", perm, left, connectionEndLimit)
	t.Logf("route without the master seen %v after its end", time.Since(g.master.Process().EndedAt()).Round(time.Millisecond))
}

// onEachAlike runs a script on every nameserver and compares the routes that it has seen on each.
func onEachAlike(t *testing.T, script func(t *testing.T, nameserver string) (stages []string)) {
	t.Helper()
	var mu sync.Mutex
	seen := map[string][]string{}
	t.Run("script", func(t *testing.T) {
		onEach(t, func(t *testing.T, nameserver string) {
			stages := script(t, nameserver)
			mu.Lock()
			defer mu.Unlock()
			seen[nameserver] = stages
		})
	})
	if len(seen) < len(nameservers) { // one has failed, or was not to be run
		return
	}
	for i, stage := range seen[apache] {
		if stage != seen[waymark][i] {
			t.Errorf("routes differ\n%s: %s\n%s: %s", apache, stage, waymark, seen[waymark][i])
		}
	}
}
