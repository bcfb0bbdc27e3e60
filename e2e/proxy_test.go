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

// grpcVersion is the version of the Java client that speaks gRPC with a proxy.
const grpcVersion = "5.2.0"

// grpcLimit is more than the client gives itself.
const grpcLimit = 6 * time.Minute

// TestProxy: a proxy in cluster mode finds the broker through the nameserver. A client of the gRPC protocol and one of
// the remoting protocol that know nothing but the proxy send and receive through it.
func TestProxy(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, nameserver string) {
		n := newNameserver(t, programOf(t, nameserver), "orderMessageEnable=true")
		b := newBroker(t, harness.BrokerConfig{
			Jars: shared.jars(t, currentVersion), Name: "broker-a", Nameservers: []*harness.Nameserver{n},
			Properties: []string{"timerWheelEnable=true"}, // a broker without it refuses to hand out messages as a proxy asks for them
		})
		if err := b.Start(); err != nil {
			t.Fatal(err)
		}
		proxy := startProxy(t, n.Addr)
		t.Run("gRPC", func(t *testing.T) {
			inMatrix(t, nameserver, "proxy, cluster mode; gRPC client "+grpcVersion, currentVersion,
				fmt.Sprintf("%d messages sent and received (push)", brokerMessages))
			makeTopicAndGroup(t, n)
			awaitRoute(t, n, "ProxyGrpc", func(*harness.Route) bool { return true })
			grpcRoundTrip(t, proxy)
		})
		t.Run("remoting", func(t *testing.T) {
			inMatrix(t, nameserver, "proxy, cluster mode; Java client", currentVersion,
				fmt.Sprintf("%d messages sent and received (push)", brokerMessages))
			createTopic(t, b, "ProxyRemoting")
			awaitRoute(t, n, "ProxyRemoting", func(*harness.Route) bool { return true })
			roundTrips(t, startRoundTrips(t, currentVersion, proxy.RemotingAddr), "ProxyRemoting")
		})
		t.Run("vanished broker", func(t *testing.T) {
			inMatrix(t, nameserver, "proxy, cluster mode", currentVersion,
				"an order configuration that names a broker which is gone: the proxy can't load the topic until it is put right")
			createTopic(t, b, vanishedTopic)
			putAll(t, n, "ORDER_TOPIC_CONFIG", map[string]string{vanishedTopic: "broker-a:4;broker-gone:4"})
			awaitRoute(t, n, vanishedTopic, func(*harness.Route) bool { return true })
			awaitRouteOfProxy(t, proxy, 1, "BrokerData.getBrokerAddrs()")
			putAll(t, n, "ORDER_TOPIC_CONFIG", map[string]string{vanishedTopic: "broker-a:4"})
			awaitRouteOfProxy(t, proxy, 0, "")
		})
	})
}

// vanishedTopic has an order configuration with a broker that isn't in its route.
const vanishedTopic = "ProxyVanished"

// awaitRouteOfProxy waits until a proxy that is asked for the route of vanishedTopic answers with a code and a remark.
func awaitRouteOfProxy(t *testing.T, proxy *harness.Proxy, code int, remark string) {
	t.Helper()
	asker, err := harness.Dial(proxy.RemotingAddr)
	if err != nil {
		t.Fatal(err)
	}
	defer asker.Close()
	const askRoute = 105
	err = harness.Eventually(time.Minute, func() error {
		answer, err := asker.Ask(askRoute, map[string]string{"topic": vanishedTopic, "acceptStandardJsonOnly": "true"})
		if err == nil && (answer.Code != code || !strings.Contains(answer.Remark, remark)) {
			err = fmt.Errorf("the proxy answers %d, %q", answer.Code, answer.Remark)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

func startProxy(t *testing.T, nameserver string) *harness.Proxy {
	t.Helper()
	proxy, err := harness.NewProxy(shared.java, jarsOf(t, harness.ServerJars, currentVersion), t.TempDir(), nameserver)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { proxy.Kill(); logOnFailure(t, proxy) })
	if err := proxy.Start(); err != nil {
		t.Fatal(err)
	}
	return proxy
}

// jarsOf returns the jars of a set, as lab.jars does for those that most peers need.
func jarsOf(t *testing.T, set harness.JarSet, version string) harness.Jars {
	t.Helper()
	need(t, shared.javaErr)
	jars, err := shared.java.JarsOf(set, version)
	need(t, err)
	return jars
}

// makeTopicAndGroup makes what clients of the gRPC protocol don't make by their use: a topic with a type of message, and
// a group of consumers.
func makeTopicAndGroup(t *testing.T, n *harness.Nameserver) {
	t.Helper()
	jars := shared.jars(t, currentVersion)
	shell := harness.NewAdminShell(shared.java, jars, shared.program(t, jars, "AdminShell.java"), filepath.Join(t.TempDir(), "tool"))
	defer shell.Kill()
	for _, command := range [][]string{
		{"updateTopic", "-t", "ProxyGrpc", "-a", "+message.type=NORMAL"},
		{"updateSubGroup", "-g", "ProxyGrpcGroup"},
	} {
		out, err := shell.Run(append(command, "-c", "DefaultCluster", "-n", n.Addr)...)
		if err != nil || !strings.Contains(out, "success") {
			t.Fatalf("mqadmin %s: %v\n%s", command[0], err, out)
		}
	}
}

func grpcRoundTrip(t *testing.T, proxy *harness.Proxy) {
	t.Helper()
	jars := jarsOf(t, harness.GRPCClients, grpcVersion)
	client, err := shared.java.StartSession(jars, shared.program(t, jars, "GrpcRoundTrip.java"),
		filepath.Join(t.TempDir(), "client"), "GrpcRoundTrip", proxy.GRPCAddr, "ProxyGrpc", "ProxyGrpcGroup", fmt.Sprint(brokerMessages))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Kill(); logOnFailure(t, client) })
	line, err := client.Await("", grpcLimit)
	if err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf("OK sent=%[1]d received=%[1]d duplicates=0", brokerMessages); line != want {
		t.Errorf("client says %q, want %q", line, want)
	}
}
