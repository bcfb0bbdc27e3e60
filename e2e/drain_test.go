//go:build e2e

package e2e

import (
	"fmt"
	"testing"
	"time"

	"github.com/waymark-mq/waymark/e2e/harness"
)

// goPoll is the time between two route queries of a Go client, which can't be told another.
const goPoll = 30 * time.Second

// TestDrainOfAFleet: a hundred Java and Go clients know two nameservers, and send and receive all the time. One nameserver is drained
// and then stopped: by the end of the drain nobody is left on it, Java clients don't come back, and no send fails, neither
// then nor in the polls that follow.
func TestDrainOfAFleet(t *testing.T) {
	t.Parallel()
	const (
		javaClients, goClients = 20, 80
		seconds                = 4
		topic                  = "Drained"
	)
	program := programOf(t, waymark)
	drained, other := newNameserver(t, program, fmt.Sprint("drainSeconds=", seconds)), newNameserver(t, program)
	both := []*harness.Nameserver{drained, other}
	peer := harness.NewestGoClient(shared.root)
	need(t, peer.Prepare())
	b := brokerOf(t, currentVersion, "broker-a", both...)
	startAll(t, b)
	for _, name := range []string{topic, topic + "-go"} {
		createTopic(t, b, name)
		for _, n := range both {
			awaitRoute(t, n, name, func(*harness.Route) bool { return true })
		}
	}
	java := startClientsOfFlow(t, currentVersion, topic, both, javaClients)
	goFleet := startGoFleet(t, peer, harness.Addrs(both), topic+"-go", goClients)

	if err := drained.Process().Drain(); err != nil {
		t.Fatal(err)
	}
	// Go clients ask one nameserver after the other, so some may come again, and are sent away again.
	for _, f := range []flow{java, goFleet} {
		awaitNoConnection(t, f, drained)
	}
	java.awaitPolls(t, 2*javaClients)
	awaitConnections(t, java, flowLimit, func(to map[string]int) bool { return to[drained.Addr] == 0 && to[other.Addr] == javaClients })
	if err := drained.Stop(); err != nil {
		t.Fatal(err)
	}
	before := goFleet.report(t)
	goFleet.await(t, flowLimit, func(c counts) bool { return c["sent"]-before["sent"] > int(goPoll/goSendEvery) })
	java.stop(t)
	stopGoFleet(t, goFleet)
}

// goSendEvery is the time between two messages of a fleet of Go clients.
const goSendEvery = 20 * time.Millisecond

// startGoFleet starts so many Go clients in one process, and waits until their messages come back.
func startGoFleet(t *testing.T, peer *harness.Peer, nameservers, topic string, clients int) flow {
	t.Helper()
	session, err := peer.StartSession(t.TempDir(), "fleet", nameservers, topic, fmt.Sprint(clients))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Kill(); logOnFailure(t, session) })
	if _, err := session.Await("ready", flowLimit); err != nil {
		t.Fatal(err)
	}
	return flow{session}
}

// stopGoFleet: no send has failed, and all that was sent has been received.
func stopGoFleet(t *testing.T, f flow) {
	t.Helper()
	line, err := f.Ask("stop", "OK ", 2*flowLimit)
	if err != nil {
		t.Fatal(err)
	}
	t.Log(line)
	if c, err := parseCounts(line); err != nil || c["sent"] == 0 || c["failed"] != 0 || c["missing"] != 0 {
		t.Errorf("Go clients ended with %s, error %v", line, err)
	}
}

// awaitNoConnection waits for a moment at which clients have no connection to a nameserver.
func awaitNoConnection(t *testing.T, f flow, n *harness.Nameserver) {
	t.Helper()
	awaitConnections(t, f, flowLimit, func(to map[string]int) bool { return to[n.Addr] == 0 })
}

// awaitConnections waits until the connections of a peer, counted by where they lead, are as expected.
func awaitConnections(t *testing.T, peer interface{ Process() *harness.Process }, limit time.Duration, expected func(to map[string]int) bool) {
	t.Helper()
	err := harness.Eventually(limit, func() error {
		to, err := peer.Process().Connections()
		if err == nil && !expected(to) {
			err = fmt.Errorf("it is connected to %v", to)
		}
		return err
	}, peer.Process())
	if err != nil {
		t.Fatal(err)
	}
}
