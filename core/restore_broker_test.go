package core_test

import (
	"testing"
	"time"

	"github.com/waymark-mq/waymark/core"
)

// A heartbeat or a 322 of a restored broker is one of an unknown broker, and prolongs nothing.
func TestRestoredBrokerIsUnknownToItself(t *testing.T) {
	b := restoreBroker(t, "T", "U")
	l, _ := b.Load().Live([]byte("c"), []byte("h:1"))
	if alive, moved := l.Cell.Touch(1, 5); alive || moved || l.Cell.Refresh(5) {
		t.Error("a beat counts")
	}
	r := b.step(6, &core.QueryDataVersion{Conn: 1, ClusterName: "c", BrokerAddr: "h:1", DataVersion: l.DataVersion, HasDataVersion: true})
	if r.Known || !r.Changed {
		t.Errorf("322: %+v", r)
	}
	b.step(7, &core.EndConnection{Conn: 1})
	b.wantPerms("T4 U4")
	b.step(grace, &core.Tick{})
	b.wantPerms("T4 U4")
	b.step(grace+1, &core.Tick{})
	b.wantPerms("")
}

// The first registration confirms the broker and brings its own permissions; what it lacks goes at the end of the grace.
func TestRestoredBrokerRegisters(t *testing.T) {
	b := restoreBroker(t, "T", "U", "V")
	if r := b.step(1, registration(1, "T")); !r.Refused {
		t.Error("a single topic was taken")
	}
	b.wantStatus(core.RestoreStatus{ToCome: 1})
	b.step(2, registration(1, "T", "N"))
	b.wantStatus(core.RestoreStatus{Confirmed: 1})
	b.wantPerms("N6 T6 U4 V4")
	b.step(3, registration(1, "U")) // another part of a split round, of the same version
	b.wantPerms("N6 T6 U6 V4")
	b.step(grace+1, &core.Tick{})
	b.wantPerms("N6 T6 U6")
	l, _ := b.Load().Live([]byte("c"), []byte("h:1"))
	if last, alive := l.Cell.Last(); !alive || last != 3 || l.Cell.Owner() != 1 {
		t.Errorf("last sign %d, alive %v, owner %d", last, alive, l.Cell.Owner())
	}
}

// Deletion by registration leaves restored topics to the end of the grace: another part may bring them.
func TestRestoredTopicsOutliveDeletionByRegistration(t *testing.T) {
	b := restoreBroker(t, "T", "U")
	s := core.DefaultSettings()
	s.DeleteTopicWithBrokerRegistration = true
	b.step(1, &core.SetSettings{Settings: s})
	b.step(2, registration(2, "T", "N"))
	b.wantPerms("N6 T6 U4")
	b.step(grace+1, &core.Tick{})
	b.wantPerms("N6 T6")
}

// Another address takes the slot whatever the stateVersion of the restored one.
func TestRestoredBrokerLosesItsSlot(t *testing.T) {
	b := restoreBroker(t, "T", "U")
	c := registration(1, "T", "U")
	c.BrokerAddr, c.Body.DataVersion.StateVersion = "h:2", 1
	if r := b.step(1, c); r.Conflict || r.Refused {
		t.Errorf("%+v", r)
	}
	b.wantStatus(core.RestoreStatus{})
	b.wantPerms("T6 U6")
	if s := b.Load(); s.Brokers() != 1 {
		t.Errorf("%d brokers", s.Brokers())
	}
}

// A broker name that comes back in another cluster leaves nothing in the former.
func TestRestoredBrokerChangesItsCluster(t *testing.T) {
	b := restoreBroker(t, "T", "U")
	c := registration(1, "T", "N")
	c.ClusterName = "d"
	b.step(1, c)
	b.wantPerms("N6 T6")
	if s := b.Load(); s.InCluster("c", "a") || !s.InCluster("d", "a") || s.Brokers() != 1 {
		t.Errorf("cluster information %s, %d brokers", s.ClusterInfo().Body(), s.Brokers())
	}
}

// What refuses connections goes at once, if it hasn't registered.
func TestDropRestored(t *testing.T) {
	drop := &core.DropRestored{Brokers: []core.BrokerAddress{{ClusterName: "c", BrokerAddr: "h:1"}, {ClusterName: "c", BrokerAddr: "h:9"}}}
	b := restoreBroker(t, "T", "U")
	if r := b.step(1, drop); r.Count != 1 {
		t.Errorf("%+v", r)
	}
	b.wantStatus(core.RestoreStatus{})
	b.wantPerms("")
	b = restoreBroker(t, "T", "U")
	b.step(1, registration(1, "T", "U"))
	if r := b.step(2, drop); r.Count != 0 {
		t.Errorf("%+v", r)
	}
	b.wantPerms("T6 U6")
}

// The end of the grace moves with a process that stood still; a 104 removes a restored broker as any other.
func TestRestoredBrokerWaitsAndLeaves(t *testing.T) {
	b := restoreBroker(t, "T", "U")
	b.step(1, &core.Tick{LatenessNanos: grace})
	b.step(2*grace, &core.Tick{})
	b.wantPerms("T4 U4")
	b.step(2*grace+1, &core.Tick{})
	b.wantPerms("")
	b = restoreBroker(t, "T", "U")
	b.step(1, &core.UnregisterBroker{ClusterName: "c", BrokerName: "a", BrokerAddr: "h:1"})
	b.wantPerms("")
	b.wantStatus(core.RestoreStatus{})
}

// Age goes on over restarts, so that a server that restarts all the time doesn't keep the dead.
func TestOldBrokersAreNotRestored(t *testing.T) {
	table, out := core.NewTable(core.DefaultSettings(), nil), core.Outcome{}
	table.Step(0, []core.Command{registration(1, "T", "U")}, &out)
	const second = int64(time.Second)
	limit := core.Restore{SinceNanos: 2 * second, MaxAgeNanos: 15 * second}
	first, r := restored(table.Load(), 9*second, limit) // 11 s old
	if r.Count != 1 {
		t.Fatalf("%+v", r)
	}
	if _, r = restored(first.Load(), 11*second, limit); r.Count != 1 { // 15 s
		t.Errorf("%+v", r)
	}
	if second, r := restored(first.Load(), 11*second+2, limit); r.Count != 0 || second.Load().Topics() != 0 {
		t.Errorf("%+v", r)
	}
}

// A slave that will act as master vouches for the topics that it has: its master, from which nothing is heard, leaves them readable.
func TestSlaveVouchesForRestoredTopics(t *testing.T) {
	table, out := core.NewTable(core.DefaultSettings(), nil), core.Outcome{}
	slave := func(topics ...string) *core.RegisterBroker {
		c := registration(1, topics...)
		c.ActingMaster, c.BrokerAddr, c.BrokerID = core.ActingTrue, "h:2", 1
		return c
	}
	master := registration(1, "T", "U")
	master.ActingMaster = core.ActingTrue
	table.Step(0, []core.Command{master, slave("T", "V")}, &out)
	warm, _ := restored(table.Load(), 0, core.Restore{})
	b := &restoredBroker{T: t, Table: warm}
	b.step(1, slave("T", "V"))
	b.wantPerms("T6 U6")
	b.step(grace+1, &core.Tick{})
	b.wantPerms("T4")
	b.step(grace+2, slave("T", "V"))
	b.wantPerms("T4 V4")

	// A master that is confirmed has the say alone.
	warm, _ = restored(table.Load(), 0, core.Restore{})
	b = &restoredBroker{T: t, Table: warm}
	master = registration(1, "U", "W")
	master.ActingMaster = core.ActingTrue
	b.step(1, master)
	b.step(2, slave("T", "V"))
	b.step(grace+1, &core.Tick{})
	b.wantPerms("U6 W6")
}
