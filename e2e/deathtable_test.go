//go:build e2e && death

package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/waymark-mq/waymark/bench/spread"
)

// deathRun is what one end came to.
type deathRun struct {
	phase   time.Duration // since the victim's last registration
	routes  [][]presence  // by row and server
	clients []deathClients
}

// deathClients is what the producers of a row had of an end: sends, and seconds.
type deathClients struct{ failed, slow, last, median float64 }

// clientsSince asks the producers of each row.
func (d *deathLab) clientsSince(t *testing.T, from time.Time) []deathClients {
	t.Helper()
	var all []deathClients
	for _, row := range d.rows {
		answer, err := row.producer.Ask(fmt.Sprintf("since %d %s", from.UnixMilli(), d.victim.Addr), "since ", time.Minute)
		must(t, err)
		var c deathClients
		var of int
		if _, err := fmt.Sscanf(answer, "since bad=%g slow=%g last=%g median=%g of=%d", &c.failed, &c.slow, &c.last, &c.median, &of); err != nil {
			t.Fatal(answer, err)
		}
		if c.last < 0 {
			t.Errorf("%s: a producer has had no good send since its last bad one", row.name)
		}
		c.last, c.median = c.last/1000, c.median/1000
		all = append(all, c)
	}
	return all
}

// deathTable is the runs of one end.
type deathTable struct {
	rows []*deathRow
	runs []deathRun
}

// deaths has the medians of when the broker was out of a row's routes, and its clients done with it.
func (table *deathTable) deaths() string {
	columns := []struct {
		title string
		value func(r *deathRun, row int) float64
	}{
		{"Out of the first route after, s", func(r *deathRun, row int) float64 { return slices.Min(outs(r.routes[row])) }},
		{"Out of the last, s", func(r *deathRun, row int) float64 { return slices.Max(outs(r.routes[row])) }},
		{"Last client good, s", func(r *deathRun, row int) float64 { return r.clients[row].last }},
		{"Median client, s", func(r *deathRun, row int) float64 { return r.clients[row].median }},
		{"Sends failed", func(r *deathRun, row int) float64 { return r.clients[row].failed }},
		{"Over 1 s", func(r *deathRun, row int) float64 { return r.clients[row].slow }},
	}
	header := []string{"Nameservers"}
	for _, c := range columns {
		header = append(header, c.title)
	}
	var b strings.Builder
	writeRow(&b, header)
	b.WriteString(strings.Repeat("|---", len(header)) + "|\n")
	for i, row := range table.rows {
		cells := []string{row.name}
		for _, c := range columns {
			var values []float64
			for k := range table.runs {
				values = append(values, c.value(&table.runs[k], i))
			}
			s, _ := spread.Of(values)
			cells = append(cells, s.String())
		}
		writeRow(&b, cells)
	}
	return b.String()
}

// outs is when the broker left the routes for good, in seconds; all of the watch for one that it didn't leave.
func outs(routes []presence) []float64 {
	var all []float64
	for _, p := range routes {
		at := deathLimit
		if !p.there() {
			at = p[len(p)-1]
		}
		all = append(all, at.Seconds())
	}
	return all
}

// absences has when the broker went and came, run by run.
func (table *deathTable) absences() string {
	header := []string{"Nameservers"}
	for _, r := range table.runs {
		header = append(header, fmt.Sprintf("Cut %v before the next registration", registersEvery-r.phase))
	}
	header = append(header, "Sends failed")
	var b strings.Builder
	writeRow(&b, header)
	b.WriteString(strings.Repeat("|---", len(header)) + "|\n")
	for i, row := range table.rows {
		cells := []string{row.name}
		var failed []float64
		for _, r := range table.runs {
			var servers []string
			for _, p := range r.routes[i] {
				servers = append(servers, p.String())
			}
			cells = append(cells, strings.Join(servers, "; "))
			failed = append(failed, r.clients[i].failed)
		}
		s, _ := spread.Of(failed)
		writeRow(&b, append(cells, s.String()))
	}
	return b.String()
}

func writeRow(b *strings.Builder, cells []string) {
	b.WriteString("| " + strings.Join(cells, " | ") + " |\n")
}
