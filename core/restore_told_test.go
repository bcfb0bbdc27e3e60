package core_test

import (
	"strings"
	"testing"

	"github.com/waymark-mq/waymark/codec"
	"github.com/waymark-mq/waymark/core"
)

// Of a restored broker nobody here has seen a sign of life: its removal is told to no peer, and no peer's word removes it.
func TestRemovalOfARestoredBrokerHasNoSign(t *testing.T) {
	for name, c := range map[string]core.Command{
		"104": &core.UnregisterBroker{ClusterName: "c", BrokerName: "a", BrokerAddr: "h:1"}, "the end of the grace": &core.Tick{},
		"refused": &core.DropRestored{Brokers: []core.BrokerAddress{{ClusterName: "c", BrokerAddr: "h:1"}}},
	} {
		b := restoreBroker(t, "T", "U")
		dead := &core.DeclareDead{ClusterName: "c", BrokerName: "a", BrokerAddr: "h:1", Version: codec.DataVersion{StateVersion: 5, Counter: 1}, Since: grace}
		if r := b.step(grace, dead); r.Removed {
			t.Fatal("declared dead")
		}
		dead.By = "peer"
		if r := b.step(grace, dead); r.Removed {
			t.Fatal("told dead")
		}
		b.wantPerms("T4 U4")
		b.step(grace+1, c)
		b.wantPerms("")
		if e, ok := b.out.Effects[0].(*core.Event); !ok || e.Sign != 0 || e.BrokerAddr != "h:1" {
			t.Errorf("%s: %+v", name, b.out.Effects[0])
		}
	}
}

// Accounts of a restored broker go on where those of the process before ended: that it is confirmed is no change.
func TestEditsOfRestoredBrokers(t *testing.T) {
	before := newEditor(false)
	for _, name := range []string{"a", "b"} {
		c := editedBroker(name, 0, 1, "R", "S", "T")
		c.BrokerName = name
		before.step(c)
	}
	e := newEditor(true)
	e.step(&core.Restore{State: before.table.Load().Export(2), UntilNanos: grace, MaxAgeNanos: grace})
	if got, _ := e.step(editedBroker("a", 0, 1, "R", "N")); strings.Join(got, "\n") != "0 registered: [0@a version 1] to [0@a version 1], N none to 4/4/6" {
		t.Errorf("comes: %q", got)
	}
	if got, _ := e.step(editedBroker("a", 0, 2, "S", "N")); strings.Join(got, "\n") != "0 changed: [0@a version 1] to [0@a version 2]" {
		t.Errorf("another part: %q", got)
	}
	e.now = grace
	got, edits := e.step(&core.Tick{})
	want := []string{
		"0 unconfirmed: [0@b version 1] to [], R 4/4/6 to none, S 4/4/6 to none, T 4/4/6 to none",
		"0 topics unconfirmed: [0@a] to [0@a], T 4/4/6 to none",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Fatalf("the end of the grace: %q, want %q", got, want)
	}
	if edits[1].Before.Digest == 0 || edits[1].After.Digest != 0 {
		t.Errorf("digests %x to %x", edits[1].Before.Digest, edits[1].After.Digest)
	}
}

// The loss of a restored master is told to its group as any other, and its topics aren't written to any more.
func TestLossOfARestoredMasterIsTold(t *testing.T) {
	settings := core.DefaultSettings()
	settings.NotifyMinBrokerIDChanged = true
	table, out := core.NewTable(settings, nil), core.Outcome{}
	master, slave := registration(1, "T", "U"), registration(1)
	master.ActingMaster, slave.ActingMaster = core.ActingTrue, core.ActingTrue
	slave.BrokerAddr, slave.BrokerID = "h:2", 1
	table.Step(0, []core.Command{master, slave}, &out)
	warm, _ := restored(table.Load(), 0, core.Restore{})
	b := &restoredBroker{T: t, Table: warm}
	b.wantPerms("T6 U6")
	b.step(1, &core.DropRestored{Brokers: []core.BrokerAddress{{ClusterName: "c", BrokerAddr: "h:1"}}})
	b.wantPerms("T4 U4")
	want := "tell [h:2] min 1=h:2 offline h:1"
	if got := effectTexts(b.out.Effects); len(got) != 1 || got[0] != want {
		t.Errorf("effects %q, want %q", got, want)
	}
}
