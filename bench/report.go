package bench

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/waymark-mq/waymark/bench/spread"
	"github.com/waymark-mq/waymark/profiles"
)

// Report writes results as Markdown: a table for each variant of each profile, a column for each server, and columns of ratios with the
// floor, or without one with the first server.
func Report(w io.Writer, results []*Result) error {
	var b strings.Builder
	for _, name := range distinct(results, func(r *Result) string { return r.Profile }) {
		ofProfile := slices.DeleteFunc(slices.Clone(results), func(r *Result) bool { return r.Profile != name })
		fmt.Fprintf(&b, "## %s\n\n%s\n", name, ofProfile[0].Machine)
		for _, variant := range distinct(ofProfile, func(r *Result) string { return r.Variant }) {
			reportVariant(&b, slices.DeleteFunc(slices.Clone(ofProfile), func(r *Result) bool { return r.Variant != variant }))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// String is a sentence for a report.
func (m Machine) String() string {
	return fmt.Sprintf("Measured %s at %s on %d cores of %s, Linux %s, %s; load averages before: %s.", m.Date, m.Commit, m.Cores, m.CPU, m.Kernel, m.Go, m.Load)
}

// distinct values of key, in the order in which they come first.
func distinct(results []*Result, key func(*Result) string) []string {
	var list []string
	for _, r := range results {
		if k := key(r); !slices.Contains(list, k) {
			list = append(list, k)
		}
	}
	return list
}

func reportVariant(b *strings.Builder, results []*Result) {
	first := results[0]
	columns := distinct(results, func(r *Result) string { return r.Server })
	slices.Sort(columns) // rounds begin with different servers
	against := ""
	for _, r := range results {
		if r.Floor {
			against = r.Server
		}
	}
	if against == "" && len(columns) > 1 {
		against = columns[0]
		if slices.Contains(columns, "waymark") {
			against = "waymark"
		}
	}
	others := slices.DeleteFunc(slices.Clone(columns), func(c string) bool { return c == against || against == "" })

	b.WriteByte('\n')
	if first.Variant != "" {
		fmt.Fprintf(b, "### %s\n\n", first.Variant)
	}
	size := ""
	if first.Smoke {
		size = " **Smoke size: shows that it works, not how fast.**"
	}
	rounds := len(distinct(results, func(r *Result) string { return fmt.Sprint(r.Round) }))
	fmt.Fprintf(b, "%s %s.%s\n\n| |", Describe(&first.Workload), plural(rounds, "round"), size)
	for _, c := range columns {
		fmt.Fprintf(b, " %s |", heading(results, c))
	}
	for _, c := range others {
		fmt.Fprintf(b, " %s ÷ %s |", c, against)
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(columns)+len(others)) + "\n")
	for i := range measures {
		reportRow(b, &measures[i], results, columns, others, against)
	}
	reportFaults(b, results)
}

func heading(results []*Result, server string) string {
	for _, r := range results {
		if r.Server == server && r.Loops > 0 {
			return fmt.Sprintf("%s, %s", server, plural(r.Loops, "loop"))
		}
	}
	return server
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return spread.Thousands(int64(n)) + " " + noun + "s"
}

// reportRow writes a figure, unless no server has it.
func reportRow(b *strings.Builder, m *measure, results []*Result, columns, others []string, against string) {
	var cells []string
	any := false
	for _, c := range columns {
		var values []float64
		for _, r := range results {
			if v, ok := m.value(r); ok && r.Server == c {
				values = append(values, v)
			}
		}
		s, ok := spread.Of(values)
		any = any || ok
		cells = append(cells, cell(s, ok))
	}
	if !any {
		return
	}
	for _, c := range others {
		s, ok := spread.Of(pairedRatios(m, results, c, against))
		cells = append(cells, cell(s, ok && m.ratio))
	}
	fmt.Fprintf(b, "| %s | %s |\n", m.title, strings.Join(cells, " | "))
}

func cell(s spread.Spread, ok bool) string {
	if !ok {
		return "–"
	}
	return s.String()
}

// pairedRatios divides what a server had in a round by what the other had in the same.
func pairedRatios(m *measure, results []*Result, server, against string) []float64 {
	var ratios []float64
	for _, a := range results {
		for _, b := range results {
			if a.Server != server || b.Server != against || a.Round != b.Round {
				continue
			}
			x, xok := m.value(a)
			y, yok := m.value(b)
			if xok && yok && y != 0 {
				ratios = append(ratios, x/y)
			}
		}
	}
	return ratios
}

func reportFaults(b *strings.Builder, results []*Result) {
	for _, r := range results {
		for _, f := range r.Faults() {
			fmt.Fprintf(b, "\n**%s, round %d: %s**\n", r.Server, r.Round+1, f)
		}
	}
}

// Describe says in words what a workload is.
func Describe(w *profiles.Workload) string {
	f, c := &w.Fleet, &w.Clients
	text := plural(f.Brokers, "broker") + ", " + plural(f.Topics, "topic")
	if f.BrokersPerTopic > 0 {
		text += fmt.Sprintf(" on %d brokers each", f.BrokersPerTopic)
	}
	switch {
	case f.Register > 0:
		text += fmt.Sprintf(", registrations every %v", f.Register)
	case f.RegisterAfter > 0:
		text += fmt.Sprintf(", registrations about %v after one another", f.RegisterAfter)
	}
	if f.Changed > 0 {
		text += fmt.Sprintf(" with %d changed", f.Changed)
	}
	if d := &f.Death; d.Brokers > 0 {
		text += fmt.Sprintf("; %s end", plural(d.Brokers, "broker"))
		if d.Every > 0 {
			text += fmt.Sprintf(" every %v", d.Every)
		}
		if d.Back > 0 {
			text += fmt.Sprintf(" and come back after %v", d.Back)
		}
	}
	switch {
	case c.Connections == 0:
		text += "; no clients"
	case c.Rate > 0:
		text += fmt.Sprintf("; %s, %s requests/s, %s header", plural(c.Connections, "connection"), spread.Number(c.Rate), c.Header)
	default:
		text += fmt.Sprintf("; %s × %d in flight, %s header", plural(c.Connections, "connection"), c.Depth, c.Header)
	}
	return text + fmt.Sprintf("; %v measured.", w.Duration)
}
