package bench

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/waymark-mq/waymark/bench/latency"
	"github.com/waymark-mq/waymark/bench/plot"
	"github.com/waymark-mq/waymark/bench/spread"
)

// TimeChart draws one of p50, p99 and max of the clients' latencies over the measured phase, a line for each server. The results
// are those of one variant; of several rounds the first is drawn.
func TimeChart(results []*Result, of string) (*plot.Chart, error) {
	pick, ok := map[string]func(latency.Point) float64{
		"p50": func(p latency.Point) float64 { return float64(p.P50) / milli },
		"p99": func(p latency.Point) float64 { return float64(p.P99) / milli },
		"max": func(p latency.Point) float64 { return float64(p.Max) / milli },
	}[of]
	if !ok {
		return nil, fmt.Errorf("bench: %q can't be drawn over time; p50, p99 and max can", of)
	}
	if names := distinct(results, func(r *Result) string { return strings.TrimSpace(r.Profile + " " + r.Variant) }); len(names) != 1 {
		return nil, fmt.Errorf("bench: a chart over time is of one variant of a profile, not of %q", names)
	}
	c := &plot.Chart{
		Title: results[0].Profile + " " + results[0].Variant + ": latency of queries, " + of,
		X:     plot.Axis{Title: "seconds"}, Y: plot.Axis{Title: "milliseconds", Log: true},
	}
	for _, server := range distinct(results, func(r *Result) string { return r.Server }) {
		i := slices.IndexFunc(results, func(r *Result) bool { return r.Server == server })
		l := plot.Line{Name: server}
		for _, p := range results[i].Clients.Measured.Series {
			l.Points = append(l.Points, plot.Point{X: p.At.Seconds(), Y: pick(p)})
		}
		c.Lines = append(c.Lines, l)
	}
	return c, nil
}

// SizeChart draws a figure of the report against a size of the workload, a line for each server; a point is the median of its rounds.
func SizeChart(results []*Result, size, figure string) (*plot.Chart, error) {
	x, err := measureOf(sizes, size)
	if err != nil {
		return nil, err
	}
	y, err := measureOf(measures, figure)
	if err != nil {
		return nil, err
	}
	c := &plot.Chart{Title: y.title + " against " + x.title, X: plot.Axis{Title: x.title, Log: true}, Y: plot.Axis{Title: y.title}, Marks: true}
	for _, server := range distinct(results, func(r *Result) string { return r.Server }) {
		values := map[float64][]float64{}
		for _, r := range results {
			at, xok := x.value(r)
			v, yok := y.value(r)
			if r.Server == server && xok && yok {
				values[at] = append(values[at], v)
			}
		}
		l := plot.Line{Name: server}
		for at, list := range values {
			s, _ := spread.Of(list)
			l.Points = append(l.Points, plot.Point{X: at, Y: s.Median})
		}
		slices.SortFunc(l.Points, func(a, b plot.Point) int { return cmp.Compare(a.X, b.X) })
		c.Lines = append(c.Lines, l)
	}
	return c, nil
}

// Figures are the keys that SizeChart takes: sizes, and what is drawn against them.
func Figures() (x, y []string) {
	for _, m := range sizes {
		x = append(x, m.key)
	}
	for _, m := range measures {
		y = append(y, m.key)
	}
	return x, y
}

func measureOf(list []measure, key string) (*measure, error) {
	for i := range list {
		if list[i].key == key {
			return &list[i], nil
		}
	}
	return nil, fmt.Errorf("bench: no figure %q", key)
}
