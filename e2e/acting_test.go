//go:build e2e

package e2e

import (
	"fmt"
	"regexp"
	"testing"

	"github.com/waymark-mq/waymark/e2e/harness"
)

// actingProperties let slaves take the place of a dead master.
var actingProperties = []string{
	"enableSlaveActingMaster=true",
	// What the acting master has to write, such as delayed messages that are due, it sends to another broker.
	"enableRemoteEscape=true",
	// A minute of silence: within the test only the end of its connection takes a broker off.
	"brokerNotActiveTimeoutMillis=60000",
	// The second level is the test's: longer than the steps between a message and the master's death.
	"messageDelayLevel=1s 40s",
	// A master that comes back asks each slave how far its timers are, and waits for one that has none.
	"timerWheelEnable=true",
}

// TestActingMaster: while a master is dead the slave of the smallest id stands in its place and serves, also what only
// a master serves; the nameserver tells the members of every change (905). A master of 5.5.0 couldn't come back, whatever
// the nameserver: it can't read the consumers' offsets that a slave of 5.x hands over (apache/rocketmq issue 10284).
func TestActingMaster(t *testing.T) {
	t.Parallel()
	onEachAlike(t, func(t *testing.T, nameserver string) []string {
		inMatrix(t, nameserver, "brokers, Java client", middleVersion+" master, "+currentVersion+" slaves",
			"acting master: death of the master, orderly and delayed messages served by a slave, 905 observed, return")
		return actingMaster(t, nameserver)
	})
}

func actingMaster(t *testing.T, nameserver string) []string {
	t.Helper()
	g := startGroup(t, nameserver, groupConfig{
		version:    middleVersion,
		slaves:     currentVersion,
		settings:   []string{"supportActingMaster=true", "notifyMinBrokerIdChanged=true"},
		properties: actingProperties,
		// Members of a group wait for one another at their start. They ask for it and tell that they are alive by the
		// requests that came with this mode (901 and 904), where the other master uses older ones (105 and 322).
		replicas: []string{"totalReplicas=3", "compatibleWithOldNameSrv=false"},
		// An orderly consumer locks its queues at brokerId 0: without one it stops.
		listener: "orderly",
	})
	whole := map[string]*harness.Broker{"0": g.master, "1": g.slaves[0], "2": g.slaves[1]}
	g.awaitRoute(t, "whole", 6, whole, stepLimit)
	g.sendToBoth(t)
	g.awaitReceived(t)
	g.awaitReplicated(t)
	g.checkRegistrationReply(t)
	g.checkReplicatesFromMaster(t)

	g.sendUnread(t)
	g.awaitReplicated(t)
	if got := g.ask(t, "delay 2 "+groupName, "delaying "); got != "delaying SEND_OK" {
		t.Fatal(got)
	}
	g.awaitReplicated(t) // of one message only: the master has to die before this one is due
	g.killMaster(t, 4, map[string]*harness.Broker{"0": g.slaves[0], "2": g.slaves[1]})
	g.awaitNotice(t, "1")
	g.receiveWithoutMaster(t)
	// The master would have put it into its own log. Its stand-in can't write, and hands it over.
	if got, want := g.ask(t, "delayed", "delayed "), "delayed from "+otherName; got != want {
		t.Errorf("the message that was due while the master was dead: %q, want %q", got, want)
	}

	startAll(t, g.master)
	g.awaitRoute(t, "master back", 6, whole, stepLimit)
	g.awaitNotice(t, "0")
	g.checkWholeAgain(t)
	return g.stages
}

// notice is what a broker logs when it is told of another smallest id of its group (905).
var notice = regexp.MustCompile(`min broker id changed, prev -?\d+, new (\d+)`)

// awaitNotice waits until each slave has been told of a smallest id, and of no other since: a slow machine may break
// connections, which makes changes of its own.
func (g *group) awaitNotice(t *testing.T, id string) {
	t.Helper()
	for _, slave := range g.slaves {
		err := harness.Eventually(stepLimit, func() error {
			output, err := slave.Output()
			if err != nil {
				return err
			}
			told := notice.FindAllStringSubmatch(output, -1)
			if len(told) == 0 || told[len(told)-1][1] != id {
				return fmt.Errorf("slave %d was told %q, want the smallest id %s at the end", slave.ID, told, id)
			}
			return nil
		}, slave.Process())
		if err != nil {
			t.Fatal(err)
		}
	}
}
