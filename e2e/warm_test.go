//go:build e2e

package e2e

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/waymark-mq/waymark/e2e/harness"
)

// freshPeriod is how often another client comes that knows nothing yet.
const freshPeriod = 200 * time.Millisecond

// freshLimit is for so many of them as come in two of a broker's registration periods.
const freshLimit = 10 * registrationLimit

// TestWarmRestart: the only nameserver of a broker is killed and started again, while clients keep coming. With routeSnapshotPath
// none of them is told that the broker's topic doesn't exist, a Java client that is new sends at once, and one that sends all the time
// loses nothing; without it, and by Apache's, they are until the broker registers.
func TestWarmRestart(t *testing.T) {
	for _, tt := range []struct {
		name, nameserver string
		settings         []string
		warm             bool
	}{
		{name: apache, nameserver: apache},
		{name: waymark, nameserver: waymark},
		{name: "waymark with routeSnapshotPath", nameserver: waymark, settings: []string{"routeSnapshotPath=routes"}, warm: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			n := newNameserver(t, programOf(t, tt.nameserver), tt.settings...)
			b := newBroker(t, harness.BrokerConfig{Jars: shared.jars(t, currentVersion), Name: "broker-a", Nameservers: []*harness.Nameserver{n}})
			if err := b.Start(); err != nil {
				t.Fatal(err)
			}
			var steady flow
			if tt.warm {
				const topic = "Warm"
				steady = startFlow(t, currentVersion, topic, []*harness.Nameserver{n}, b)
				awaitInFile(t, filepath.Join(n.Dir, "routes"), topic)
			}
			var came atomic.Int64
			come := func(more int64) {
				t.Helper()
				want := came.Load() + more
				err := harness.Eventually(freshLimit, func() error {
					if n := came.Load(); n < want {
						return fmt.Errorf("%d of %d clients have come", n, want)
					}
					return nil
				})
				if err != nil {
					t.Fatal(err)
				}
			}
			stop := make(chan struct{})
			seen := make(chan freshClients, 1)
			go func() { seen <- comeFresh(n.Addr, b.Name, &came, stop) }()
			come(5)
			n.Kill()
			if err := n.Start(); err != nil {
				t.Fatal(err)
			}
			if tt.warm {
				steady.fresh(t, "right after the restart")
			}
			if err := b.AwaitRegisteredAt(n, registrationLimit); err != nil {
				t.Error(err)
			}
			come(int64(registrationLimit / freshPeriod)) // the broker registers meanwhile, whatever the table said before
			close(stop)
			f := <-seen
			if tt.warm {
				steady.stop(t)
			}
			t.Log(f)
			switch {
			case f.served == 0:
				t.Error("no client was served")
			case tt.warm && f.noRoute > 0:
				t.Error("clients were told that there is no route")
			case !tt.warm && f.noRoute == 0:
				t.Error("no client saw the gap: the test proves nothing")
			}
		})
	}
}

// awaitInFile waits until a file has a text.
func awaitInFile(t *testing.T, path, text string) {
	t.Helper()
	err := harness.Eventually(freshLimit, func() error {
		data, err := os.ReadFile(path)
		if err == nil && !bytes.Contains(data, []byte(text)) {
			err = fmt.Errorf("%s has no %s", path, text)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// freshClients is what came of clients that asked for a route on a connection of their own.
type freshClients struct {
	served, noRoute, unanswered int
	gap                         time.Duration // from the first that was told of no route to the last
}

func (f freshClients) String() string {
	return fmt.Sprintf("%d fresh clients got the route, %d were told of none (over %v), %d found no nameserver",
		f.served, f.noRoute, f.gap.Round(100*time.Millisecond), f.unanswered)
}

// comeFresh asks every freshPeriod until stop, and counts those who came.
func comeFresh(addr, topic string, came *atomic.Int64, stop <-chan struct{}) (f freshClients) {
	ticks := time.NewTicker(freshPeriod)
	defer ticks.Stop()
	var first time.Time
	for {
		select {
		case <-stop:
			return f
		case <-ticks.C:
			came.Add(1)
		}
		a, err := harness.Dial(addr)
		if err != nil {
			f.unanswered++
			continue
		}
		known, err := a.HasRoute(topic)
		a.Close()
		switch {
		case err != nil: // cut off by the kill
			f.unanswered++
		case known:
			f.served++
		default:
			f.noRoute++
			if first.IsZero() {
				first = time.Now()
			}
			f.gap = time.Since(first)
		}
	}
}
