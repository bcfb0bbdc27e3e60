//go:build e2e

package e2e

import (
	"os"
	"strings"
	"testing"

	"github.com/waymark-mq/waymark/e2e/harness"
)

// orderTypo is an order configuration at which Java clients fail.
const orderTypo = "broker-a:x"

// TestOrderTypo: an order configuration that is none makes its topic's producer fail, and with it the refreshing of other
// topics' routes; as with Apache's nameserver, which serves what was stored. With orderConfStrict=true nobody gets it and all goes on.
func TestOrderTypo(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, nameserver string) {
		inMatrix(t, nameserver, "Java client", currentVersion,
			"an order configuration that is none: the topic's producer fails and refreshes other topics no more")
		n := newNameserver(t, programOf(t, nameserver), "orderMessageEnable=true")
		b := brokerOf(t, currentVersion, "broker-a", n)
		startAll(t, b)
		putAll(t, n, "ORDER_TOPIC_CONFIG", map[string]string{"Typo": orderTypo})
		if said := sendWithTypo(t, n, b); !strings.HasPrefix(said, "sent NumberFormatException, stale ") || strings.Contains(said, "stale 0 ") {
			t.Errorf("the producer says %q", said)
		}
		if nameserver == apache {
			return
		}
		if err := n.Stop(); err != nil {
			t.Fatal(err)
		}
		appendLine(t, n.ConfigFile(), "orderConfStrict=true")
		if err := n.Start(); err != nil {
			t.Fatal(err)
		}
		if err := b.AwaitRegistered(backLimit); err != nil {
			t.Fatal(err)
		}
		if said, want := sendWithTypo(t, n, b), "sent ok, stale 0 of 16"; said != want {
			t.Errorf("with orderConfStrict=true the producer says %q, want %q", said, want)
		}
	})
}

// sendWithTypo returns what a producer says of its sends: see OrderTypo.java.
func sendWithTypo(t *testing.T, n *harness.Nameserver, b *harness.Broker) string {
	t.Helper()
	jars := shared.jars(t, currentVersion)
	session, err := shared.java.StartSession(jars, shared.program(t, jars, "OrderTypo.java"), t.TempDir(), "OrderTypo", n.Addr, b.Addr, "Typo")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Kill(); logOnFailure(t, session) })
	said, err := session.Await("", 2*flowLimit)
	if err != nil {
		t.Fatal(err)
	}
	t.Log(said)
	return said
}

func appendLine(t *testing.T, file, line string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(strings.TrimRight(string(text), "\n")+"\n"+line+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
}
