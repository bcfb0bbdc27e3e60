//go:build e2e

package e2e

import (
	"slices"
	"strings"
	"testing"

	"github.com/waymark-mq/waymark/e2e/harness"
)

// backLimit is for brokers that register again with a nameserver, which they do every RegistrationPeriod.
const backLimit = 10 * harness.RegistrationPeriod

// TestMixedFleet: of three nameservers in everybody's list two are Apache's. Under a steady flow they are replaced by
// the program under test one by one, and replaced back one by one, each on its port and with its files. Every time all
// three have the same routes. On the control Apache takes Apache's place.
func TestMixedFleet(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, nameserver string) {
		inMatrix(t, nameserver, "brokers, Java client, Apache's nameserver", currentVersion+", "+oldVersion,
			"two nameservers of three replaced one by one, and back, under a steady flow: nothing is lost, routes are equal")
		own, control := programOf(t, nameserver), apacheProgram(t, currentVersion)
		var fleet []*harness.Nameserver
		for _, program := range []harness.Program{control, control, own} {
			n := newNameserver(t, program, "orderMessageEnable=true")
			putAll(t, n, "ORDER_TOPIC_CONFIG", map[string]string{"broker-a": "broker-a:1"})
			fleet = append(fleet, n)
		}
		brokers := []*harness.Broker{
			brokerOf(t, currentVersion, "broker-a", fleet...),
			brokerOf(t, oldVersion, "broker-b", fleet...),
		}
		startAll(t, brokers...)
		f := startFlow(t, oldVersion, "Fleet", fleet, brokers...)
		checkFleet(t, f, fleet, "before the first change")
		for _, change := range []struct {
			index int
			to    harness.Program
			when  string
		}{
			{0, own, "with one of Apache's left"},
			{1, own, "with none of Apache's left"},
			{0, control, "with the first of Apache's back"},
			{1, control, "with both of Apache's back"},
		} {
			changeHands(t, fleet[change.index], change.to)
			others := slices.Delete(slices.Clone(fleet), change.index, change.index+1)
			awaitSameRoutes(t, others, harness.Canonical) // nothing has come to them by the change
			for _, b := range brokers {
				if err := b.AwaitRegisteredAt(fleet[change.index], backLimit); err != nil {
					t.Fatal(err)
				}
			}
			checkFleet(t, f, fleet, change.when)
		}
		f.stop(t)
	})
}

// checkFleet: all nameservers have the same routes, with what their KV files hold for them, and clients old and new
// find their way.
func checkFleet(t *testing.T, f flow, fleet []*harness.Nameserver, when string) {
	t.Helper()
	routes := awaitSameRoutes(t, fleet, harness.Canonical)
	if !strings.Contains(routes["broker-a"], `"orderTopicConf":"broker-a:1"`) {
		t.Errorf("%s the route lacks the order configuration: %s", when, routes["broker-a"])
	}
	f.awaitPolls(t, 1)
	f.fresh(t, when)
}
