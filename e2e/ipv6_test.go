//go:build e2e

package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/waymark-mq/waymark/e2e/harness"
)

// TestIPv6Only: where there is no IPv4 address at all a broker registers under a bracketed one, and Java and Go clients that know
// nothing but the nameserver's send and receive. Nameserver and broker bind the default, IPv4's wildcard.
func TestIPv6Only(t *testing.T) {
	for _, nameserver := range nameservers {
		t.Run(nameserver, func(t *testing.T) { // one after the other: each has its namespace
			inMatrix(t, nameserver, "broker, Java client, Go client", currentVersion,
				"IPv6 alone: the broker registers under a bracketed address, both clients send and receive 100 messages")
			overIPv6(t, nameserver)
		})
	}
}

func overIPv6(t *testing.T, nameserver string) {
	program, peer := programOf(t, nameserver), harness.NewestGoClient(shared.root)
	need(t, peer.Prepare())
	const anyFamily = "-Djava.net.preferIPv4Stack=false"
	n, err := harness.NewNameserver(program.WithJavaOptions(anyFamily), t.TempDir(), "bindAddress=0.0.0.0")
	if err != nil {
		t.Fatal(err)
	}
	b := newBroker(t, harness.BrokerConfig{
		Jars: shared.jars(t, currentVersion), Name: "broker-6", Nameservers: []*harness.Nameserver{n}, Options: []string{anyFamily},
		Properties: []string{"bindAddress=0.0.0.0", "brokerIP1=[::1]", "brokerIP2=[::1]"},
	})
	n.Addr, b.Addr = onIPv6(n.Addr), onIPv6(b.Addr)
	b.Properties = append(b.Properties, "namesrvAddr="+n.Addr)
	if err := harness.EnterIPv6Only(); err != nil {
		table.incomplete.Store(true)
		t.Skip(err)
	}
	t.Cleanup(func() { n.Kill(); logOnFailure(t, n) })
	if err := n.Start(); err != nil {
		t.Fatal(err)
	}
	if err := b.Start(); err != nil {
		t.Fatal(err)
	}
	java := startClients(t, currentVersion, "java.net.preferIPv4Stack=false")
	java.do(t, "round-trip", n.Addr, "OverIPv6", "push", fmt.Sprint(brokerMessages))
	out, err := peer.Run(t.TempDir(), "roundtrip", n.Addr, "OverIPv6-go", fmt.Sprint(brokerMessages))
	if err != nil || !strings.HasPrefix(out, "OK ") {
		t.Errorf("Go client: %q, %v", out, err)
	}
}

// onIPv6 is an address on the loopback interface as IPv6 writes it.
func onIPv6(addr string) string { return strings.Replace(addr, "127.0.0.1", "[::1]", 1) }
