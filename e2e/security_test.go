//go:build e2e

package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/waymark-mq/waymark/e2e/harness"
)

// A strict cluster has a broker that takes no request but those signed by its user, and one that stands in a zone.
const (
	guardedName  = "broker-guarded"
	zonedName    = "broker-zoned"
	strictUser   = "keeper"
	strictSecret = "open-sesame"
	strictZone   = "east"
	otherZone    = "west"
)

// strictLimit is how long the brokers may take to start, and the nameserver to know what has happened at one.
const strictLimit = 3 * time.Minute

// strictCluster is such a cluster with a nameserver that hands out the order of topics, and the clients of each version.
type strictCluster struct {
	nameserver     *harness.Nameserver
	guarded, zoned *harness.Broker
	clients        []*javaClients
}

// launchStrict starts the cluster and doesn't wait until its brokers are ready.
func launchStrict(t *testing.T, nameserver string) *strictCluster {
	t.Helper()
	s := &strictCluster{nameserver: newNameserver(t, programOf(t, nameserver), "orderMessageEnable=true")}
	config := harness.BrokerConfig{Jars: shared.jars(t, currentVersion), Nameservers: []*harness.Nameserver{s.nameserver}}

	zoned := config
	zoned.Name, zoned.Options = zonedName, []string{"-Drocketmq.zone=" + strictZone}
	// It asks about transactions when their messages say so, about others long after any test.
	zoned.Properties = []string{"transactionCheckInterval=1000", "transactionTimeOut=600000"}
	s.zoned = newBroker(t, zoned)

	const provider = "org.apache.rocketmq.auth.authentication.provider."
	guarded := config
	guarded.Name = guardedName
	guarded.Properties = []string{
		"authenticationEnabled=true",
		"authenticationProvider=" + provider + "DefaultAuthenticationProvider",
		"authenticationMetadataProvider=" + provider + "LocalAuthenticationMetadataProvider",
		fmt.Sprintf(`initAuthenticationUser={"username":%q,"password":%q}`, strictUser, strictSecret),
		fmt.Sprintf(`innerClientAuthenticationCredentials={"accessKey":%q,"secretKey":%q}`, strictUser, strictSecret),
	}
	s.guarded = newBroker(t, guarded)

	for _, b := range []*harness.Broker{s.zoned, s.guarded} {
		if err := b.Launch(); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func (s *strictCluster) awaitReady(t *testing.T) {
	t.Helper()
	for _, b := range []*harness.Broker{s.zoned, s.guarded} {
		if err := b.AwaitRegistered(strictLimit); err != nil {
			t.Fatal(err)
		}
	}
}

// signed names a nameserver to clients that sign their requests.
func signed(addr string) string { return strictUser + ":" + strictSecret + "@" + addr }

func testSecurityHeaders(t *testing.T, nameserver string, open *stack, s *strictCluster, c *javaClients) {
	t.Run("credentials", func(t *testing.T) { testCredentials(t, nameserver, s, c) })
	if c.version != oldVersion { // which knows no zones
		t.Run("zone", func(t *testing.T) { testZone(t, nameserver, s, c) })
	}
	t.Run("binary", func(t *testing.T) { testBinaryHeaders(t, nameserver, open, s, c) })
}

const headerMessages = 100

// exchange: messages to a topic are received once each.
func (c *javaClients) exchange(t *testing.T, nameserver, topic string) {
	t.Helper()
	c.do(t, "round-trip", nameserver, topic, "push", fmt.Sprint(headerMessages))
}

// guardedTopic creates a topic on the guarded broker.
func (c *javaClients) guardedTopic(t *testing.T, s *strictCluster, name string) string {
	t.Helper()
	return c.do(t, "create-topic", signed(s.nameserver.Addr), c.topic(name), s.guarded.Addr, "4")
}

// mustBeRefused: a message can't be sent.
func (c *javaClients) mustBeRefused(t *testing.T, nameserver, topic, why string) {
	t.Helper()
	if got := c.do(t, "refused", nameserver, topic); !strings.Contains(got, why) {
		t.Errorf("refused with %q, want %q", got, why)
	}
}

// checkRouteQueries: all that was asked through the tap looks as it should.
func checkRouteQueries(t *testing.T, tap *harness.Tap, as func(harness.Exchange) bool) {
	t.Helper()
	const routeQuery = 105
	queries := tap.Exchanges(routeQuery)
	if len(queries) == 0 {
		t.Error("no route was asked for")
	}
	for _, query := range queries {
		if !as(query) {
			t.Errorf("a route was asked for with a binary header: %v, fields %v", query.Binary, query.Fields)
		}
	}
}

// testCredentials: signatures are in the requests to the nameserver too, which doesn't mind them. The broker does.
func testCredentials(t *testing.T, nameserver string, s *strictCluster, c *javaClients) {
	c.inMatrix(t, nameserver, fmt.Sprintf("ACL credentials: %d messages to a broker that asks for them", headerMessages))
	tap := newTap(t, s.nameserver)
	topic := c.guardedTopic(t, s, "Signed")
	c.exchange(t, signed(tap.Addr), topic)
	checkRouteQueries(t, tap, func(e harness.Exchange) bool {
		return e.Fields["AccessKey"] == strictUser && e.Fields["Signature"] != ""
	})
	c.mustBeRefused(t, s.nameserver.Addr, topic, "CODE: 16")
}

// testZone: a client in a zone finds the broker there and no other; in a zone without a broker it finds none.
func testZone(t *testing.T, nameserver string, s *strictCluster, c *javaClients) {
	c.inMatrix(t, nameserver, fmt.Sprintf("zone mode: %d messages within a zone; no route from a zone without a broker", headerMessages))
	tap := newTap(t, s.nameserver)
	topic := c.topic("Zone")
	c.do(t, "zone", strictZone)
	defer c.do(t, "zone", "-")
	c.exchange(t, tap.Addr, topic)
	checkRouteQueries(t, tap, func(e harness.Exchange) bool {
		return e.Fields["__ZONE_NAME"] == strictZone && e.Fields["__ZONE_MODE"] == "true"
	})
	c.do(t, "zone", otherZone)
	c.mustBeRefused(t, s.nameserver.Addr, topic, "No route info of this topic")
}

// testBinaryHeaders: clients with headers in RocketMQ's own serialization, and TLS explicitly off. An empty field of
// such a header arrives as none, which makes a signature wrong: others, whose headers are JSON, create the topic.
func testBinaryHeaders(t *testing.T, nameserver string, open *stack, s *strictCluster, others *javaClients) {
	c := startClients(t, others.version, "rocketmq.serialize.type=ROCKETMQ", "tls.enable=false")
	c.inMatrix(t, nameserver, fmt.Sprintf("ROCKETMQ headers, tls.enable=false: %d messages without, %[1]d with credentials", headerMessages))
	const want = "serialize=ROCKETMQ tls=false"
	if got := c.do(t, "headers"); got != want {
		t.Errorf("the clients have %q, want %q", got, want)
	}
	binary := func(e harness.Exchange) bool { return e.Binary }
	openTap, strictTap := newTap(t, open.nameserver), newTap(t, s.nameserver)
	c.exchange(t, openTap.Addr, c.topic("Binary"))
	checkRouteQueries(t, openTap, binary)
	c.exchange(t, signed(strictTap.Addr), others.guardedTopic(t, s, "BinarySigned"))
	checkRouteQueries(t, strictTap, binary)
}
