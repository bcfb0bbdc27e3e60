//go:build e2e && death

package e2e

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"
)

const (
	linkDown  = 8 * time.Second // a short partition
	linkWatch = linkDown + 2*registersEvery
	bootTime  = time.Second // until a host that vanished refuses connections
)

// deathEnd is a way for a broker to end. Happen begins when the victim has just been cut off, and has it back on the network when it returns.
type deathEnd struct {
	title  string
	happen func(*deathLab, *testing.T, *deathWatch)
	shows  func(*deathTable) string
	runs   int
}

var deathEnds = map[string]deathEnd{
	"vanish": {title: "A broker's host vanishes", happen: (*deathLab).vanish, shows: (*deathTable).deaths},
	"reboot": {
		title:  fmt.Sprintf("A broker's host vanishes and after %v refuses connections", bootTime),
		happen: (*deathLab).reboot, shows: (*deathTable).deaths,
	},
	"partition": {
		title:  fmt.Sprintf("A broker's link is down for %v", linkDown),
		happen: (*deathLab).partition, shows: (*deathTable).absences,
	},
}

// parseEnds reads words like "vanish=3"; a bare one is for one run.
func parseEnds(plan string) ([]deathEnd, error) {
	var ends []deathEnd
	for _, word := range strings.Fields(plan) {
		name, count, counted := strings.Cut(word, "=")
		end, ok := deathEnds[name]
		if !ok {
			return nil, fmt.Errorf("WAYMARK_DEATH: %s is none of vanish, reboot, partition", name)
		}
		end.runs = 1
		if counted {
			var err error
			if end.runs, err = strconv.Atoi(count); err != nil {
				return nil, fmt.Errorf("WAYMARK_DEATH: %w", err)
			}
		}
		ends = append(ends, end)
	}
	return ends, nil
}

// run tries an end as often as it says, each time at another moment. The table is printed after each run: a test that is broken off has said
// what it knew.
func (d *deathLab) run(t *testing.T, end deathEnd) {
	t.Helper()
	table := &deathTable{rows: d.rows}
	for i := range end.runs {
		phase := phaseOf(i)
		d.awaitRegistration(t)
		time.Sleep(phase)
		w := newDeathWatch(d)
		must(t, d.host.Cut())
		end.happen(d, t, w)
		table.runs = append(table.runs, deathRun{phase, w.seen, d.clientsSince(t, w.from)})
		t.Logf("\n%s:\n\n%s", end.title, end.shows(table))
		d.settle(t)
	}
}

// phaseOf is how long after a registration the end of a run comes, which decides much. Steps of the golden ratio spread any number of runs
// over the time between two registrations, and over the shorter cycles within it, those of probes and keepalives.
func phaseOf(run int) time.Duration {
	_, part := math.Modf(0.5 + float64(run)/math.Phi)
	return time.Duration(part * float64(registersEvery)).Truncate(100 * time.Millisecond)
}

// awaitRegistration waits until the victim has registered once more.
func (d *deathLab) awaitRegistration(t *testing.T) {
	t.Helper()
	registrations := func() int {
		output, err := d.victim.Output()
		must(t, err)
		return strings.Count(output, "Registering current broker to name server completed")
	}
	before := registrations()
	await(t, "a registration", func() error {
		if registrations() == before {
			return fmt.Errorf("%s hasn't registered", d.victim.Name)
		}
		return nil
	})
}

// vanish leaves the victim cut off, without a word to anybody, until the last client has heard of its end.
func (d *deathLab) vanish(t *testing.T, w *deathWatch) {
	t.Helper()
	w.untilDead(t)
	must(t, d.host.Connect())
}

// reboot is vanish, with another host in the victim's place before long that has its address and nothing that listens.
func (d *deathLab) reboot(t *testing.T, w *deathWatch) {
	t.Helper()
	w.until(t, func() bool { return time.Since(w.from) > bootTime })
	must(t, d.shadow.Connect())
	w.untilDead(t)
	must(t, d.shadow.Cut())
	must(t, d.host.Connect())
}

// partition cuts the victim off for a while, and watches until it has registered twice more: one registration may be lost.
func (d *deathLab) partition(t *testing.T, w *deathWatch) {
	t.Helper()
	w.until(t, func() bool { return time.Since(w.from) > linkDown })
	must(t, d.host.Connect())
	w.until(t, func() bool { return time.Since(w.from) > linkWatch })
}

// settle waits until the victim is in all routes and the producers have polled for it; they send to it for a while before the next end.
func (d *deathLab) settle(t *testing.T) {
	t.Helper()
	for _, row := range d.rows {
		for _, n := range row.ns {
			await(t, "back", func() error { return routeHas(n, d.victim.Addr) })
		}
	}
	time.Sleep(registersEvery - 2*time.Second) // the next registration is due just after that
}
