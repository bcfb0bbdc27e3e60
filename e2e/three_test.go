//go:build e2e

package e2e

import (
	"fmt"
	"slices"
	"testing"

	"github.com/waymark-mq/waymark/e2e/harness"
)

// TestThreeNameservers: of three nameservers in everybody's list one is killed, one frozen and one restarted, each of
// them the one that the client works through, under a steady flow. Brokers are connected to all of them, the client
// moves on, and afterwards all know the same.
func TestThreeNameservers(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, nameserver string) {
		inMatrix(t, nameserver, "brokers, Java client", currentVersion,
			"of three nameservers one killed, one frozen, one restarted under a steady flow: nothing is lost, routes are the same")
		program, form := programOf(t, nameserver), sameBytes
		if nameserver == apache {
			form = harness.Canonical // lists in the order of its hash maps
		}
		all := []*harness.Nameserver{newNameserver(t, program), newNameserver(t, program), newNameserver(t, program)}
		brokers := []*harness.Broker{
			brokerOf(t, currentVersion, "broker-a", all...),
			brokerOf(t, currentVersion, "broker-b", all...),
		}
		startAll(t, brokers...)
		trio := &trio{flow: startFlow(t, currentVersion, "Threefold", all, brokers...), all: all, brokers: brokers, form: form}
		trio.awaitBrokers(t)

		trio.kill(t)
		trio.freeze(t)
		trio.restart(t)
		trio.flow.stop(t)
	})
}

// trio is three nameservers with brokers and a client that know all of them.
type trio struct {
	flow    flow
	all     []*harness.Nameserver
	brokers []*harness.Broker
	form    func([]byte) (string, error) // in which equal routes are the same text
}

// kill starts no new client meanwhile: its first query isn't repeated when the nameserver that it picks is dead.
func (s *trio) kill(t *testing.T) {
	t.Helper()
	n := s.inUse(t)
	n.Kill()
	s.awaitMovedOn(t, n)
	awaitSameRoutes(t, s.others(n), s.form)
	if err := n.Start(); err != nil {
		t.Fatal(err)
	}
	s.awaitBack(t, n)
}

// frozenPolls is for how many polls of the client, one a second, a nameserver stays frozen: brokers register with the
// others meanwhile.
const frozenPolls = 15

func (s *trio) freeze(t *testing.T) {
	t.Helper()
	n := s.inUse(t)
	if err := n.Process().Freeze(); err != nil {
		t.Fatal(err)
	}
	s.awaitMovedOn(t, n)
	s.flow.awaitPolls(t, frozenPolls)
	awaitSameRoutes(t, s.others(n), s.form)
	if err := n.Process().Thaw(); err != nil {
		t.Fatal(err)
	}
	s.awaitBack(t, n)
}

func (s *trio) restart(t *testing.T) {
	t.Helper()
	n := s.inUse(t)
	if err := n.Stop(); err != nil {
		t.Fatal(err)
	}
	s.awaitMovedOn(t, n)
	if err := n.Start(); err != nil {
		t.Fatal(err)
	}
	s.awaitBack(t, n)
}

// awaitMovedOn waits until the client works through another nameserver.
func (s *trio) awaitMovedOn(t *testing.T, from *harness.Nameserver) {
	t.Helper()
	if now := s.inUse(t, from); now != from {
		t.Logf("client moved on from nameserver %d to %d", s.number(from), s.number(now))
	}
	s.flow.awaitPolls(t, 1)
}

// awaitBack waits until a nameserver has its brokers again, and knows what the others know.
func (s *trio) awaitBack(t *testing.T, n *harness.Nameserver) {
	t.Helper()
	for _, b := range s.brokers {
		if err := b.AwaitRegisteredAt(n, backLimit); err != nil {
			t.Fatal(err)
		}
	}
	s.awaitBrokers(t)
	awaitSameRoutes(t, s.all, s.form)
	s.flow.awaitPolls(t, 1)
	s.flow.fresh(t, "with all nameservers back")
}

// inUse waits until the client has one connection to one nameserver, none of those that failed, and returns which.
func (s *trio) inUse(t *testing.T, failed ...*harness.Nameserver) (used *harness.Nameserver) {
	t.Helper()
	err := harness.Eventually(flowLimit, func() error {
		connections, err := s.flow.Process().Connections()
		if err != nil {
			return err
		}
		total := 0
		for _, n := range s.all {
			if count := connections[n.Addr]; count > 0 {
				used, total = n, total+count
			}
		}
		if total != 1 || slices.Contains(failed, used) {
			return fmt.Errorf("client has %d connections to nameservers, the last to %v; all it has: %v", total, used, connections)
		}
		return nil
	}, s.flow.Process())
	if err != nil {
		t.Fatal(err)
	}
	return used
}

// awaitBrokers waits until each broker is connected to all nameservers.
func (s *trio) awaitBrokers(t *testing.T) {
	t.Helper()
	for _, b := range s.brokers {
		err := harness.Eventually(backLimit, func() error {
			connections, err := b.Process().Connections()
			for _, n := range s.all {
				if err == nil && connections[n.Addr] == 0 {
					err = fmt.Errorf("%s has no connection to nameserver %d", b.Name, s.number(n))
				}
			}
			return err
		}, b.Process())
		if err != nil {
			t.Fatal(err)
		}
	}
}

func (s *trio) others(n *harness.Nameserver) []*harness.Nameserver {
	return slices.DeleteFunc(slices.Clone(s.all), func(other *harness.Nameserver) bool { return other == n })
}

func (s *trio) number(n *harness.Nameserver) int { return slices.Index(s.all, n) + 1 }
