package admin

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// promqlWords are the words of the query language that dashboard and rules use.
var promqlWords = strings.Fields("sum max rate increase topk histogram_quantile time and on or by e6")

var (
	promqlText     = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)
	promqlGrouping = regexp.MustCompile(`\b(?:by|on)\s*\([^)]*\)`)
	promqlSelector = regexp.MustCompile(`([a-zA-Z_:][a-zA-Z0-9_:]*)?\{([^}]*)\}`)
	promqlRange    = regexp.MustCompile(`\[[^\]]*\]`)
	promqlName     = regexp.MustCompile(`[a-zA-Z_:][a-zA-Z0-9_:]*`)
	seriesLine     = regexp.MustCompile(`^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? \S+$`)
	labelPair      = regexp.MustCompile(`([a-zA-Z_][a-zA-Z0-9_]*)\s*(?:=~|!~|!=|=)`)
)

// dashboardQueries are the queries of the panels and variables.
func dashboardQueries(t *testing.T) (queries []string) {
	t.Helper()
	text, err := os.ReadFile("../dist/grafana/waymark.json")
	if err != nil {
		t.Fatal(err)
	}
	var board struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	if err := json.Unmarshal(text, &board); err != nil {
		t.Fatal(err)
	}
	for _, p := range board.Panels {
		for _, target := range p.Targets {
			queries = append(queries, target.Expr)
		}
	}
	return queries
}

// ruleQueries are the expressions of the alerts, each of which is one line.
func ruleQueries(t *testing.T) (queries []string) {
	t.Helper()
	text, err := os.ReadFile("../dist/prometheus/alerts.yml")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if _, expr, ok := strings.Cut(line, " expr: "); ok {
			queries = append(queries, strings.TrimSpace(expr))
		}
	}
	if alerts := strings.Count(string(text), "- alert: "); alerts != len(queries) || alerts == 0 {
		t.Fatalf("%d alerts, %d expressions", alerts, len(queries))
	}
	return queries
}

// series are the label names of each series' name in a scrape.
func series(text string) map[string][]string {
	found := map[string][]string{}
	for line := range strings.Lines(text) {
		if m := seriesLine.FindStringSubmatch(strings.TrimSpace(line)); m != nil {
			found[m[1]] = []string{"instance", "job"}
			for _, pair := range labelPair.FindAllStringSubmatch(promqlText.ReplaceAllString(m[2], ""), -1) {
				found[m[1]] = append(found[m[1]], pair[1])
			}
		}
	}
	return found
}

// Dashboard and alert rules ask for nothing that a scrape of a running server doesn't have, and the dashboard shows every metric of ours.
func TestDashboardAndAlerts(t *testing.T) {
	_, url := busyNameserver(t)
	known := series(scrape(t, url))
	known["up"] = []string{"instance", "job"}
	asked := map[string]bool{}
	check := func(query string) {
		query = promqlGrouping.ReplaceAllString(query, "")
		for _, m := range promqlSelector.FindAllStringSubmatch(promqlText.ReplaceAllString(query, `""`), -1) {
			for _, label := range labelPair.FindAllStringSubmatch(m[2], -1) {
				if !slices.Contains(known[m[1]], label[1]) {
					t.Errorf("%s has no label %s: %s", m[1], label[1], query)
				}
			}
		}
		query = promqlRange.ReplaceAllString(promqlText.ReplaceAllString(query, ""), "")
		query = promqlSelector.ReplaceAllString(query, "$1")
		for _, name := range promqlName.FindAllString(query, -1) {
			if slices.Contains(promqlWords, name) {
				continue
			}
			asked[name] = true
			if known[name] == nil {
				t.Errorf("no %s in a scrape: %s", name, query)
			}
		}
	}
	boards, rules := dashboardQueries(t), ruleQueries(t)
	for _, query := range rules {
		check(query)
	}
	asked = map[string]bool{}
	for _, query := range boards {
		check(query)
	}
	for _, m := range table {
		if name := m.name; !asked[name] && !asked[name+"_bucket"] {
			t.Errorf("the dashboard doesn't show %s", name)
		}
	}
}
