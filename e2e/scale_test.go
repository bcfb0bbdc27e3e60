//go:build e2e

package e2e

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/waymark-mq/waymark/e2e/harness"
)

// TestScaleOutAndIn: under a steady flow a second broker group joins and gets its share within one poll of the client;
// mqadmin takes its write permission and it gets nothing more; its last messages are read, and it leaves.
func TestScaleOutAndIn(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, nameserver string) {
		inMatrix(t, nameserver, "brokers, Java client, mqadmin", currentVersion,
			"a second broker group joins, is drained by wipeWritePerm and leaves under a steady flow: nothing is lost")
		const topic = "Scaled"
		n := newNameserver(t, programOf(t, nameserver))
		first, second := brokerOf(t, currentVersion, "broker-a", n), brokerOf(t, currentVersion, "broker-b", n)
		startAll(t, first)
		f := startFlow(t, currentVersion, topic, []*harness.Nameserver{n}, first)

		startAll(t, second)
		createTopic(t, second, topic)
		joined := func(r *harness.Route) bool { return r.Broker(second.Name) != nil }
		awaitRoute(t, n, topic, joined)
		if c := f.awaitPolls(t, 1); c[second.Name] == 0 {
			t.Errorf("one poll after the second group was in the route it got nothing: %v", c)
		}

		// The group's retry topic makes itself; a topic that came after the drain would give the permission back.
		awaitRoute(t, n, "%RETRY%"+topic+"-consumer", joined)
		drain(t, n, topic, second)
		drained := f.awaitPolls(t, 1)
		later := f.awaitPolls(t, 2)
		if later[second.Name] != drained[second.Name] || later[first.Name] == drained[first.Name] {
			t.Errorf("sends after the drain: %v, two polls later: %v", drained, later)
		}
		f.await(t, flowLimit, func(c counts) bool { return c[second.Name+".missing"] == 0 })

		leave(t, n, topic, second)
		f.awaitPolls(t, 1)
		f.fresh(t, "after the second group left")
		f.stop(t)
	})
}

// drain takes a broker's write permission by the admin tool.
func drain(t *testing.T, n *harness.Nameserver, topic string, b *harness.Broker) {
	t.Helper()
	out, err := shared.java.MQAdmin(b.Jars, filepath.Join(t.TempDir(), "tool"), "wipeWritePerm", "-b", b.Name, "-n", n.Addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Log(out)
	const readOnly = 4
	awaitRoute(t, n, topic, func(r *harness.Route) bool {
		for _, queues := range r.Queues {
			if queues.Broker == b.Name {
				return queues.Perm == readOnly
			}
		}
		return false
	})
}

// leave stops a broker; its routes are gone with it.
func leave(t *testing.T, n *harness.Nameserver, topic string, b *harness.Broker) {
	t.Helper()
	if err := b.Process().Terminate(); err != nil {
		t.Fatal(err)
	}
	awaitRoute(t, n, topic, func(r *harness.Route) bool { return r.Broker(b.Name) == nil && len(r.Queues) == 1 })
	err := harness.Eventually(endLimit, func() error {
		if b.Running() {
			return errors.New("broker still runs")
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
