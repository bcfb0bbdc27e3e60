//go:build e2e

package e2e

import (
	"testing"

	"github.com/waymark-mq/waymark/e2e/harness"
)

// TestMasterSlave: slaves find their master by the answers to their registrations and replicate it; while it is down
// consumers go on from a slave, and producers by the master beside it; it comes back to its place.
func TestMasterSlave(t *testing.T) {
	t.Parallel()
	for _, version := range []string{currentVersion, oldVersion} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			onEachAlike(t, func(t *testing.T, nameserver string) []string {
				inMatrix(t, nameserver, "brokers, Java client", version,
					"master, two slaves and a second master: replication, death of the master, consumption from a slave, return")
				return masterSlave(t, nameserver, version)
			})
		})
	}
}

func masterSlave(t *testing.T, nameserver, version string) []string {
	t.Helper()
	g := startGroup(t, nameserver, groupConfig{version: version, slaves: version, listener: "concurrently"})
	whole := map[string]*harness.Broker{"0": g.master, "1": g.slaves[0], "2": g.slaves[1]}
	g.awaitRoute(t, "whole", 6, whole, stepLimit)
	g.sendToBoth(t)
	g.awaitReceived(t)
	g.awaitReplicated(t)
	g.checkRegistrationReply(t)
	if version != oldVersion { // which doesn't tell
		g.checkReplicatesFromMaster(t)
	}

	g.sendUnread(t)
	g.awaitReplicated(t)
	// Nobody takes the master's place: its queues can be written again only when it is back.
	g.killMaster(t, 6, map[string]*harness.Broker{"1": g.slaves[0], "2": g.slaves[1]})
	g.receiveWithoutMaster(t)

	startAll(t, g.master)
	g.awaitRoute(t, "master back", 6, whole, stepLimit)
	g.checkWholeAgain(t)
	return g.stages
}

// checkRegistrationReply: the answer to a slave's registration says where its master is, and where that serves its log.
func (g *group) checkRegistrationReply(t *testing.T) {
	t.Helper()
	var told map[string]string
	for _, e := range g.tap.Exchanges(registerBroker) {
		if e.Answer != nil {
			told = e.Answer.ExtFields
		}
	}
	if told["masterAddr"] != g.master.Addr || told["haServerAddr"] != g.master.HAAddr() {
		t.Errorf("the last answer to a slave's registration says %v, want master %s and %s", told, g.master.Addr, g.master.HAAddr())
	}
}

// checkReplicatesFromMaster: nobody but the nameserver has told the slaves where their master's log is served.
func (g *group) checkReplicatesFromMaster(t *testing.T) {
	t.Helper()
	for _, slave := range g.slaves {
		if from, err := replicatesFrom(slave); err != nil || from != g.master.HAAddr() {
			t.Errorf("slave %d replicates from %q, want %q; error %v", slave.ID, from, g.master.HAAddr(), err)
		}
	}
}

// sendUnread sends messages to both masters that the consumer leaves unread, but for the few it takes ahead.
func (g *group) sendUnread(t *testing.T) {
	t.Helper()
	g.ask(t, "hold", "holding")
	if taken := g.send(t, groupBatch); taken[groupName] < groupBatch/4 {
		t.Fatalf("too few messages at %s: %v", groupName, taken)
	}
}

// receiveWithoutMaster: what was unread comes from a slave, and what is sent now goes to the other master.
func (g *group) receiveWithoutMaster(t *testing.T) {
	t.Helper()
	if before := g.counts(t); before["missing"] < groupBatch {
		t.Errorf("%d messages unread at the master's death, want %d", before["missing"], groupBatch)
	}
	g.ask(t, "release", "released")
	if taken := g.send(t, groupBatch/4); taken[otherName] != groupBatch/4 {
		t.Errorf("messages went to %v while the master of %s was dead", taken, groupName)
	}
	g.awaitReceived(t)
}

// checkWholeAgain: the group works as before its master's death, and nothing has been lost.
func (g *group) checkWholeAgain(t *testing.T) {
	t.Helper()
	g.sendToBoth(t)
	g.awaitReplicated(t)
	g.awaitReceived(t)
	t.Log(g.counts(t))
}
