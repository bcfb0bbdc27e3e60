//go:build e2e && death

package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/waymark-mq/waymark/e2e/harness"
)

const (
	deathLimit = 5 * time.Minute                 // for a broker to leave all routes
	deathRest  = registersEvery + 10*time.Second // a poll of the clients, a send and some: until the last has heard
)

// presence is how a nameserver's route changed after an end: when the broker went and came, in turn.
type presence []time.Duration

func (p presence) there() bool { return len(p)%2 == 0 }

func (p presence) String() string {
	if len(p) == 0 {
		return "stayed"
	}
	var words []string
	for i, at := range p {
		words = append(words, fmt.Sprintf("%s %.1f s", [...]string{"gone", "back"}[i%2], at.Seconds()))
	}
	return strings.Join(words, ", ")
}

// deathWatch looks at the routes of all nameservers, ten times a second while it is told to.
type deathWatch struct {
	lab  *deathLab
	from time.Time
	seen [][]presence // by row and server
}

func newDeathWatch(d *deathLab) *deathWatch {
	w := &deathWatch{lab: d, from: time.Now()}
	for _, row := range d.rows {
		w.seen = append(w.seen, make([]presence, len(row.ns)))
	}
	return w
}

func (w *deathWatch) until(t *testing.T, enough func() bool) {
	t.Helper()
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	for ; !enough(); <-ticker.C {
		for i, row := range w.lab.rows {
			for k, n := range row.ns {
				w.look(t, row.name, n, &w.seen[i][k])
			}
		}
	}
}

func (w *deathWatch) look(t *testing.T, row string, n *harness.Nameserver, p *presence) {
	t.Helper()
	has, err := routeBrokers(n, w.lab.victim.Addr, w.lab.survivor.Addr)
	must(t, err)
	if !has[1] {
		t.Errorf("%s: the broker that lives isn't in the route, %v after the other's end", row, time.Since(w.from))
	}
	if has[0] != p.there() {
		*p = append(*p, time.Since(w.from))
	}
}

// everywhere reports whether the broker is there, or gone, in all routes.
func (w *deathWatch) everywhere(there bool) bool {
	for _, row := range w.seen {
		for _, p := range row {
			if p.there() != there {
				return false
			}
		}
	}
	return true
}

// untilDead waits until the broker is out of all routes and the last client has heard.
func (w *deathWatch) untilDead(t *testing.T) {
	t.Helper()
	w.until(t, func() bool { return w.everywhere(false) || time.Since(w.from) > deathLimit })
	if !w.everywhere(false) {
		t.Errorf("not out of all routes within %v", deathLimit)
	}
	out := time.Now()
	w.until(t, func() bool { return time.Since(out) > deathRest })
}
