//go:build e2e

package e2e

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/waymark-mq/waymark/e2e/harness"
)

// clientVersions are those of the Java clients. Both work with a broker of the current version.
var clientVersions = []string{currentVersion, oldVersion}

// taskLimit is longer than what the clients allow themselves for one task.
const taskLimit = 10 * time.Minute

// javaClients are producers and consumers of one version that do, in one virtual machine, one task after another.
type javaClients struct {
	version string
	session *harness.Session
}

// startClients starts clients with some system properties, key=value. They look for changes in their group every second.
func startClients(t *testing.T, version string, properties ...string) *javaClients {
	t.Helper()
	jars := shared.jars(t, version)
	classes := shared.program(t, jars, filepath.Join("clients", "Clients.java"))
	properties = append(properties,
		"rocketmq.client.rebalance.waitInterval=1000", "rocketmq.client.rebalance.minInterval=200",
		"com.rocketmq.remoting.client.connect.timeout=30000") // 3 s if not told
	session, err := shared.java.StartSession(jars, classes, filepath.Join(t.TempDir(), "clients"), "clients.Clients", properties...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Kill(); logOnFailure(t, session) })
	return &javaClients{version, session}
}

// do gives the clients a task and returns its result. The test ends if they can't do it.
func (c *javaClients) do(t *testing.T, task ...string) (result string) {
	t.Helper()
	answer, err := c.session.Ask(strings.Join(task, " "), "= ", taskLimit)
	if err != nil {
		c.session.Kill() // an answer that comes late must not be taken for the next one's
		t.Fatal(err)
	}
	result, ok := strings.CutPrefix(answer, "= OK ")
	if !ok {
		t.Fatalf("%s: %s", strings.Join(task, " "), answer)
	}
	t.Logf("%s: %s", task[0], result)
	return result
}

// topic makes a topic's name of words, one for each version.
func (c *javaClients) topic(words ...string) string {
	return strings.ReplaceAll(strings.Join(append(words, c.version), "-"), ".", "_")
}

// inMatrix adds the test to the table of results.
func (c *javaClients) inMatrix(t *testing.T, nameserver, does string) {
	t.Helper()
	inMatrix(t, nameserver, "Java client", c.version, does)
}

// TestJavaClients: what Java producers and consumers do, they do knowing nothing but the nameserver.
func TestJavaClients(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, nameserver string) {
		strict := launchStrict(t, nameserver)
		open := stackOf(t, nameserver, currentVersion)
		for _, version := range clientVersions {
			strict.clients = append(strict.clients, startClients(t, version))
		}
		for _, c := range strict.clients {
			t.Run(c.version, func(t *testing.T) {
				t.Run("round trip", func(t *testing.T) { testRoundTrips(t, nameserver, c) })
				t.Run("consumer", func(t *testing.T) { testConsumers(t, nameserver, open, c) })
				strict.awaitReady(t)
				t.Run("producer", func(t *testing.T) { testProducers(t, nameserver, open, strict, c) })
				t.Run("security headers", func(t *testing.T) { testSecurityHeaders(t, nameserver, open, strict, c) })
			})
		}
		strict.awaitReady(t)
		t.Run("order topics", func(t *testing.T) { testOrderTopics(t, nameserver, strict) })
	})
}

const roundTripMessages = 1000

// testRoundTrips: messages sent to a topic that doesn't exist yet are received once each. The broker is of the client's
// version.
func testRoundTrips(t *testing.T, nameserver string, c *javaClients) {
	s := stackOf(t, nameserver, c.version)
	for _, consumer := range consumerKinds {
		t.Run(consumer.kind, func(t *testing.T) {
			c.inMatrix(t, nameserver, fmt.Sprintf("%d messages to a new topic on a broker of its version, received once each by a %s consumer",
				roundTripMessages, consumer.name))
			c.do(t, "round-trip", s.nameserver.Addr, c.topic("RoundTrip", consumer.kind), consumer.kind, fmt.Sprint(roundTripMessages))
		})
	}
}
