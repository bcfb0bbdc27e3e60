package core_test

import (
	"testing"
	"time"

	"github.com/waymark-mq/waymark/core"
)

// An end that keeps brokers ends their ownership alone: they are found as before, the expiry guard takes their connection for
// closed, and those that have shown life on another are still owned by that.
func TestEndThatKeepsBrokers(t *testing.T) {
	settings := core.DefaultSettings()
	settings.ExpiryGuardPercent, settings.ExpiryGuardMaxMillis = 1, 60_000
	table := core.NewTable(settings, nil)
	var out core.Outcome
	addrs := []string{"left:1", "moved:1", "touched:1"}
	cells := map[string]*core.LiveCell{}
	for i, addr := range addrs {
		table.Step(0, []core.Command{register(named(addr), at(addr), on(core.ConnID(1+i/2)), timeout(10*time.Second), topics("T"))}, &out)
	}
	for _, addr := range addrs {
		l, ok := table.Load().Live([]byte(cluster), []byte(addr))
		if !ok {
			t.Fatalf("%s is missing", addr)
		}
		cells[addr] = l.Cell
	}
	cells["moved:1"].Touch(3, 1)
	cells["touched:1"].Touch(1, 1) // conn 2 registered it
	table.Step(2, []core.Command{&core.EndConnection{Conn: 1, Touched: []*core.LiveCell{cells["touched:1"]}, Keep: true}}, &out)
	if n := table.Load().Brokers(); n != 3 || len(out.Effects) > 0 {
		t.Errorf("%d brokers, effects %v", n, out.Effects)
	}
	for addr, owner := range map[string]core.ConnID{"left:1": 0, "moved:1": 3, "touched:1": 0} {
		if got := cells[addr].Owner(); got != owner {
			t.Errorf("%s is owned by %d, want %d", addr, got, owner)
		}
	}
	table.Step(int64(time.Minute), []core.Command{&core.Tick{}}, &out)
	if got := table.Load().Suspects(); len(got) != 1 || got[0] != cluster+" moved:1" || table.Load().Brokers() != 1 {
		t.Errorf("held back %v of %d brokers, want moved:1 alone", got, table.Load().Brokers())
	}
}
