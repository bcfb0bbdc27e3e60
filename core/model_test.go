package core_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/waymark-mq/waymark/core"
	"github.com/waymark-mq/waymark/internal/golden"
	"pgregory.net/rapid"
)

// world is the model and the table side by side.
type world struct {
	model    *golden.Model
	table    *realTables
	now      int64
	conns    []core.ConnID // open ones
	nextConn core.ConnID
	accepted []*core.RegisterBroker // latest last
}

// retiredSnapshot is a published snapshot with its answers at that time.
type retiredSnapshot struct {
	snapshot *core.Snapshot
	answers  []string
}

func newWorld(t *rapid.T) *world {
	settings := drawSettings(t)
	return &world{
		model: golden.New(settings), table: newRealTables(settings),
		conns: []core.ConnID{1, 2, 3}, nextConn: 4,
	}
}

// TestPropertyTableEqualsModel applies random commands to the table and to the
// reference model and compares, after each step, results, effects and all answers.
func TestPropertyTableEqualsModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t)
		t.Repeat(map[string]func(*rapid.T){
			"step":       w.step,
			"step again": w.step, // most of what happens
			"touch":      w.touch,
			"same":       w.registerTheSame,
			"":           w.compareReads,
		})
	})
}

// TestPropertyRetiredSnapshotNeverChanges keeps the last snapshots and asks them
// again after each later step.
func TestPropertyRetiredSnapshotNeverChanges(t *testing.T) {
	const kept = 5
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t)
		var retired []retiredSnapshot
		t.Repeat(map[string]func(*rapid.T){
			"step":  w.step,
			"touch": w.touch,
			"": func(t *rapid.T) {
				for i, old := range retired {
					if diff := firstDifference(allReads(snapshotReads{old.snapshot}), old.answers); diff != "" {
						t.Fatalf("a snapshot changed, %d steps after it was retired: %s", len(retired)-1-i, diff)
					}
				}
				snapshot := w.table.Snapshot
				retired = append(retired, retiredSnapshot{snapshot, allReads(snapshotReads{snapshot})})
				retired = retired[max(0, len(retired)-kept):]
			},
		})
	})
}

func (w *world) pass(t *rapid.T) { w.now += int64(pick(t, "elapsed", timeSteps)) }

// step applies one batch to both sides and compares results and effects.
func (w *world) step(t *rapid.T) {
	w.pass(t)
	most := pick(t, "most commands", []int{1, 4, 16}) // many, so that changes of lists wait for one another
	batch := rapid.SliceOfN(rapid.Custom(w.drawCommand), 1, most).Draw(t, "batch")
	for _, c := range batch {
		t.Logf("%d ms: %s", w.now/1e6, describe(c))
	}
	wantResults, wantEffects := w.model.Step(w.now, batch)
	gotResults, gotEffects := w.table.Step(w.now, batch)
	for i := range batch {
		if gotResults[i] != wantResults[i] {
			t.Fatalf("result of command %d of the batch:\ntable %+v\nmodel %+v", i, gotResults[i], wantResults[i])
		}
		if c, ok := batch[i].(*core.RegisterBroker); ok && !wantResults[i].Refused && !wantResults[i].Conflict {
			w.accepted = append(w.accepted, c)
		}
	}
	if diff := firstDifference(effectTexts(gotEffects), effectTexts(wantEffects)); diff != "" {
		t.Fatalf("effects: %s", diff)
	}
}

// touch is a heartbeat on both sides.
func (w *world) touch(t *rapid.T) {
	w.pass(t)
	conn, cluster, addr := pick(t, "conn", w.conns), pick(t, "cluster", someClusters), pick(t, "addr", someAddrs)
	t.Logf("%d ms: touch %s %s on %d", w.now/1e6, cluster, addr, conn)
	got, want := w.table.Touch(conn, cluster, addr, w.now), w.model.Touch(conn, cluster, addr, w.now)
	if got != want {
		t.Fatalf("touch of %s in %s: table %v, model %v", addr, cluster, got, want)
	}
}

// registerTheSame sends a broker's last registration again, where the table says
// that only liveness would change: the model registers, the table is merely touched.
func (w *world) registerTheSame(t *rapid.T) {
	if len(w.accepted) == 0 {
		t.Skip("nobody has registered")
	}
	w.pass(t)
	c := *pick(t, "sameAs", w.accepted)
	live, known := w.table.Live([]byte(c.ClusterName), []byte(c.BrokerAddr))
	if !known || !w.table.Current(live) {
		t.Skip("it would have to be applied")
	}
	c = *w.lastOf(&c)
	for _, topic := range c.Body.Topics {
		if topic.Key != topic.Name {
			// With deletion of missing topics it is deleted by its key and stored again by
			// its name each time, which costs the mappings of others: not worth a memo's mark.
			t.Skip("a topic with two names")
		}
	}
	c.Conn = pick(t, "conn", w.conns)
	t.Logf("%d ms: the same on %d: %s", w.now/1e6, c.Conn, describe(&c))
	var got core.Result
	got.MasterAddr, got.HAServerAddr = w.table.RegisterReply(live)
	w.table.Touch(c.Conn, c.ClusterName, c.BrokerAddr, w.now)
	want, effects := w.model.Step(w.now, []core.Command{&c})
	if got != want[0] || len(effects) > 0 {
		t.Fatalf("the same registration:\ntable %+v\nmodel %+v, effects %v", got, want[0], effectTexts(effects))
	}
}

// lastOf is the registration accepted last for the same cluster and address.
func (w *world) lastOf(c *core.RegisterBroker) *core.RegisterBroker {
	for _, last := range slices.Backward(w.accepted) {
		if last.ClusterName == c.ClusterName && last.BrokerAddr == c.BrokerAddr {
			return last
		}
	}
	return nil
}

func (w *world) compareReads(t *rapid.T) {
	if diff := firstDifference(allReads(w.table), allReads(w.model)); diff != "" {
		t.Fatalf("reads: %s", diff)
	}
	if diff := firstDifference(w.table.Suspects(), w.model.Suspects()); diff != "" {
		t.Fatalf("suspects: %s", diff)
	}
}

// firstDifference shows where got leaves want; "" if nowhere.
func firstDifference(got, want []string) string {
	for i := range max(len(got), len(want)) {
		var g, m string
		if i < len(got) {
			g = got[i]
		}
		if i < len(want) {
			m = want[i]
		}
		if g != m {
			return fmt.Sprintf("\n got %s\nwant %s", g, strings.TrimSpace(m))
		}
	}
	return ""
}
