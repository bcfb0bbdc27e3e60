//go:build e2e

package e2e

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/waymark-mq/waymark/e2e/harness"
)

// brokerLimit is for what a broker does within some seconds, or within one registration period.
const brokerLimit = 3 * time.Minute

// brokerMessages is how many messages are sent through each broker.
const brokerMessages = 100

// brokerKind is a broker with settings that change how it registers.
type brokerKind struct {
	version    string
	name       string // also of its topic
	does       string // what is special, for the table of results
	properties []string
	options    []string // of the JVM
	env        []string
	refused    string                              // row of COMPATIBILITY.md that says why Apache's nameserver doesn't take it
	prepare    func(t *testing.T, b *tappedBroker) // before the start
	check      func(t *testing.T, b *tappedBroker) // after the work
}

// The two ways in which a broker is told to send headers of the kind ROCKETMQ.
var (
	rocketmqByOption = []string{"-Drocketmq.serialize.type=ROCKETMQ"}
	rocketmqByEnv    = []string{"ROCKETMQ_SERIALIZE_TYPE=ROCKETMQ"}
)

// binary says that a broker's requests have headers of the kind ROCKETMQ.
func (k *brokerKind) binary() bool { return k.options != nil || k.env != nil }

var brokerKinds = []brokerKind{
	{version: oldVersion, name: "deflated", does: "compressedRegister=true, JSON headers",
		properties: []string{"compressedRegister=true"}, check: checkDeflated("true")},
	{version: oldVersion, name: "unforced", does: "forceRegister=false, ROCKETMQ headers", options: rocketmqByOption,
		properties: []string{"forceRegister=false"}, check: awaitUnchanged},

	{version: middleVersion, name: "deflated", does: "compressedRegister=true, JSON headers", refused: "deflated",
		properties: []string{"compressedRegister=true"}, check: checkDeflated("false")},
	{version: middleVersion, name: "unforced", does: "forceRegister=false, ROCKETMQ headers", env: rocketmqByEnv,
		properties: []string{"forceRegister=false"}, check: awaitUnchanged},
	{version: middleVersion, name: "split", does: "enableSplitRegistration=true, JSON headers",
		properties: splitProperties, prepare: writeSplitTopics, check: checkSplit},

	{version: currentVersion, name: "deflated", does: "compressedRegister=true, ROCKETMQ headers", options: rocketmqByOption, refused: "deflated",
		properties: []string{"compressedRegister=true"}, check: checkDeflated("false")},
	{version: currentVersion, name: "unforced", does: "forceRegister=false, JSON headers",
		properties: []string{"forceRegister=false"}, check: awaitUnchanged},
	{version: currentVersion, name: "split", does: "enableSplitRegistration=true, ROCKETMQ headers", options: rocketmqByOption,
		properties: splitProperties, prepare: writeSplitTopics, check: checkSplit},
}

// tappedBroker is a broker whose requests to its nameserver are looked at.
type tappedBroker struct {
	*harness.Broker
	brokerKind
	nameserver *harness.Nameserver
	tap        *harness.Tap
}

// TestBrokers: brokers of every generation register in every way that they can be told to, with one nameserver. A client
// of the same version sends and receives through each, and the routes are the same on both nameservers.
func TestBrokers(t *testing.T) {
	t.Parallel()
	onEachAlike(t, func(t *testing.T, nameserver string) []string {
		n := newNameserver(t, programOf(t, nameserver))
		var routes []string
		for _, version := range []string{oldVersion, middleVersion, currentVersion} {
			t.Run(version, func(t *testing.T) { routes = append(routes, brokersOf(t, nameserver, n, version)...) })
		}
		if t.Failed() {
			t.FailNow() // there is nothing to compare
		}
		return routes
	})
}

// brokersOf runs all kinds of brokers of a version at the same time, and returns the routes of their topics.
func brokersOf(t *testing.T, nameserver string, n *harness.Nameserver, version string) (routes []string) {
	brokers := map[string]*tappedBroker{}
	for _, kind := range brokerKinds {
		if kind.version == version {
			brokers[kind.name] = launchTapped(t, n, kind)
		}
	}
	client := startRoundTrips(t, version, n.Addr)
	for _, kind := range brokerKinds {
		if kind.version != version {
			continue
		}
		t.Run(kind.name, func(t *testing.T) {
			if route := brokers[kind.name].run(t, nameserver, client); kind.refused == "" { // there is one to compare
				routes = append(routes, route)
			}
		})
	}
	if version == oldVersion {
		return routes
	}
	t.Run("static topic", func(t *testing.T) {
		inMatrix(t, nameserver, "broker", version,
			fmt.Sprintf("static topic by mqadmin updateStaticTopic on two brokers: %d messages sent and received", brokerMessages))
		routes = append(routes, staticTopic(t, nameserver, client, brokers["unforced"], brokers["split"]))
	})
	return routes
}

// launchTapped starts a broker that finds the nameserver behind a tap.
func launchTapped(t *testing.T, n *harness.Nameserver, kind brokerKind) *tappedBroker {
	t.Helper()
	tap := newTap(t, n)
	config := harness.BrokerConfig{
		Jars: shared.jars(t, kind.version), Name: strings.ReplaceAll(kind.version, ".", "_") + "-" + kind.name,
		Nameservers: []*harness.Nameserver{n}, Properties: append([]string{"namesrvAddr=" + tap.Addr}, kind.properties...),
		Options: kind.options, Env: kind.env,
	}
	b := &tappedBroker{Broker: newBroker(t, config), brokerKind: kind, nameserver: n, tap: tap}
	if kind.prepare != nil {
		kind.prepare(t, b)
	}
	if err := b.Launch(); err != nil {
		t.Fatal(err)
	}
	return b
}

func newTap(t *testing.T, n *harness.Nameserver) *harness.Tap {
	t.Helper()
	tap, err := harness.NewTap(n.Addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(tap.Close)
	return tap
}

// run has the broker do what it can on a nameserver, and returns the route of its topic.
func (b *tappedBroker) run(t *testing.T, nameserver string, client *harness.Session) (route string) {
	t.Helper()
	does := fmt.Sprintf("%s: registers, %d messages sent and received", b.does, brokerMessages)
	if b.refused == "" {
		inMatrix(t, nameserver, "broker", b.version, does)
		return b.work(t, client)
	}
	refusedByApache(t, nameserver, "broker", b.version, does, b.refused)
	// A static topic's route has a part of every broker, and only one nameserver lists this one.
	defer b.Kill()
	if nameserver == apache {
		b.awaitRefused(t)
		return ""
	}
	return b.work(t, client)
}

// work has the broker register, get a topic, and serve messages. It returns the topic's route.
func (b *tappedBroker) work(t *testing.T, client *harness.Session) (route string) {
	t.Helper()
	if err := b.AwaitRegistered(brokerLimit); err != nil {
		t.Fatal(err)
	}
	topic := "Topic-" + b.Name
	createTopic(t, b.Broker, topic)
	awaitRoute(t, b.nameserver, topic, func(r *harness.Route) bool { return r.Broker(b.Name)["0"] == b.Addr })
	roundTrips(t, client, topic)
	b.checkHeaders(t)
	b.check(t, b)
	return canonicalRoute(t, b.nameserver, topic, b)
}

// checkHeaders: its registrations have the kind of header that it was told to write.
func (b *tappedBroker) checkHeaders(t *testing.T) {
	t.Helper()
	for _, e := range b.tap.Exchanges(registerBroker) {
		if e.Binary != b.binary() {
			t.Fatalf("registers with a binary header: %v", e.Binary)
		}
	}
}

// startRoundTrips starts a Java client of a version that knows nothing but a nameserver, or what stands for one.
func startRoundTrips(t *testing.T, version, nameserver string) *harness.Session {
	t.Helper()
	jars := shared.jars(t, version)
	session, err := shared.java.StartSession(jars, shared.program(t, jars, "RoundTrips.java"),
		filepath.Join(t.TempDir(), "client"), "RoundTrips", nameserver)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Kill(); logOnFailure(t, session) })
	return session
}

// roundTrips sends messages to a topic and receives each of them once.
func roundTrips(t *testing.T, client *harness.Session, topic string) {
	t.Helper()
	line, err := client.Ask(fmt.Sprintf("%s %d", topic, brokerMessages), "", brokerLimit)
	if err != nil {
		client.Kill() // an answer that comes late must not be taken for the next one's
		t.Fatal(err)
	}
	if want := fmt.Sprintf("OK sent=%[1]d received=%[1]d duplicates=0", brokerMessages); line != want {
		t.Fatalf("client of %s says %q, want %q", topic, line, want)
	}
}

// canonicalRoute is the route of a topic as it can be compared with another nameserver's: brokers' addresses are
// replaced by their names.
func canonicalRoute(t *testing.T, n *harness.Nameserver, topic string, brokers ...*tappedBroker) (text string) {
	t.Helper()
	err := n.Ask(func(a *harness.Asker) error {
		body, err := a.RouteBytes(topic)
		if err != nil {
			return err
		}
		for _, b := range brokers { // before the lists are sorted
			body = bytes.ReplaceAll(body, []byte(b.Addr), []byte("<"+b.Name+">"))
		}
		text, err = harness.Canonical(body)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return text
}
