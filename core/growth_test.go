package core_test

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/waymark-mq/waymark/codec"
	"github.com/waymark-mq/waymark/core"
	"github.com/waymark-mq/waymark/internal/invariants"
	"github.com/waymark-mq/waymark/internal/raceflag"
)

// allocatedPerStep is how many bytes n steps of one command each allocate, divided by n.
func allocatedPerStep(n int, command func(i int) core.Command) float64 {
	table := core.NewTable(core.DefaultSettings(), nil)
	var out core.Outcome
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for i := range n {
		table.Step(int64(i), []core.Command{command(i)}, &out)
	}
	runtime.ReadMemStats(&after)
	return float64(after.TotalAlloc-before.TotalAlloc) / float64(n)
}

// The ids of one broker name are bounded: a group costs what it has members with each of its changes.
func TestGroupIsBounded(t *testing.T) {
	table := core.NewTable(core.DefaultSettings(), nil)
	var out core.Outcome
	refused := 0
	for i := range 3000 {
		table.Step(1, []core.Command{&core.RegisterBroker{
			ClusterName: "c", BrokerName: "b", BrokerAddr: fmt.Sprintf("h%d:1", i), BrokerID: int64(i), Body: &codec.RegisterBody{},
		}}, &out)
		if out.Results[0].Refused {
			refused++
		}
	}
	if want := 3000 - 1024; refused != want || table.Load().Brokers() != 1024 {
		t.Errorf("%d refused, want %d; %d brokers", refused, want, table.Load().Brokers())
	}
}

// A mapping set anew, or a broker that leaves, costs what it touches, not the square of what there is.
func TestCostsGrowWithWhatChanges(t *testing.T) {
	if raceflag.Enabled || invariants.Enabled {
		t.Skip("this build allocates by itself")
	}
	mapping := func(i int) core.Command {
		return &core.RegisterBroker{
			ClusterName: "c", BrokerName: "b", BrokerAddr: "a:1",
			Body: &codec.RegisterBody{DataVersion: codec.DataVersion{Counter: int64(i)}, Mappings: []codec.TopicQueueMapping{{
				Key: "T", BrokerName: codec.NullString{S: fmt.Sprintf("b%d", i), Valid: true},
			}}},
		}
	}
	small, large := allocatedPerStep(50, mapping), allocatedPerStep(400, mapping)
	if large > 10*small { // the list of entries is copied: eight times as long
		t.Errorf("a mapping costs %.0f bytes beside 50 others, %.0f beside 400", small, large)
	}
	leave := func(n int) float64 {
		table := core.NewTable(core.DefaultSettings(), nil)
		var out core.Outcome
		commands := make([]core.Command, n)
		for i := range commands {
			commands[i] = &core.RegisterBroker{
				Conn: 1, ClusterName: fmt.Sprintf("c%d", i), BrokerName: fmt.Sprintf("b%d", i), BrokerAddr: fmt.Sprintf("a%d:1", i), Body: &codec.RegisterBody{},
			}
		}
		table.Step(1, commands, &out)
		return testing.AllocsPerRun(1, func() {
			table.Step(2, []core.Command{&core.EndConnection{Conn: 1}}, &out)
			table.Step(3, commands, &out)
		}) / float64(n)
	}
	if few, many := leave(100), leave(3000); many > 2*few+10 {
		t.Errorf("a broker's end costs %.1f allocations beside 100 others, %.1f beside 3,000", few, many)
	}
}

// The end of a connection that no broker came over costs the same whatever number of brokers there is: nothing.
func TestClientsEndTouchesNoBroker(t *testing.T) {
	if raceflag.Enabled || invariants.Enabled {
		t.Skip("this build allocates by itself")
	}
	cost := func(brokers int) float64 {
		table := benchTable(brokers, 1)
		var out core.Outcome
		end := []core.Command{&core.EndConnection{Conn: 1 << 40}}
		return testing.AllocsPerRun(10, func() {
			if table.Step(2, end, &out); out.Work != (core.Work{}) || len(out.Effects) > 0 {
				t.Errorf("%+v, %d effects", out.Work, len(out.Effects))
			}
		})
	}
	if few, many := cost(10), cost(2000); many > few {
		t.Errorf("%v allocations beside 10 brokers, %v beside 2,000", few, many)
	}
}
