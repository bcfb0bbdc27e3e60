package conformance

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var deviationsConfig = scenarioConfigs["deviations"]

// TestDeviationScenarios plays what was recorded from Apache's nameserver to
// show where Waymark answers otherwise: there and nowhere else.
func TestDeviationScenarios(t *testing.T) {
	files, err := filepath.Glob("testdata/deviations/*.jsonl")
	if err != nil || len(files) == 0 {
		t.Fatalf("no files (%v)", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".jsonl"), func(t *testing.T) {
			t.Parallel()
			reportAll(t, playScenario(t, file, deviationsConfig, options()))
			if foreign() {
				return
			}
			var want, got []string
			for _, s := range readSteps(t, file) {
				if (s.Row != "") != (s.Ours != nil) {
					t.Errorf("line %d has only one of row and ours", s.Line)
				}
				if s.Row != "" {
					want = append(want, fmt.Sprintf("%s:%d", filepath.Base(file), s.Line))
				}
			}
			for _, d := range playScenario(t, file, deviationsConfig, Options{Immediate: true}) {
				got = append(got, d.Where)
			}
			if !slices.Equal(got, want) {
				t.Errorf("answers differ from Apache's in %v, want %v", got, want)
			}
		})
	}
}

// TestDeviationRules shows of each rule that a recording needs it.
func TestDeviationRules(t *testing.T) {
	if foreign() {
		t.Skip("the rules are for our server")
	}
	for i, d := range Waymark {
		t.Run(fmt.Sprintf("%d/%s", i, d.Row), func(t *testing.T) {
			without := slices.Delete(slices.Clone(Waymark), i, i+1)
			o := Options{Immediate: true, Deviations: without}
			if len(playCapture(t, d.Capture, o)) == 0 {
				t.Errorf("%s needs no rule of row %s", d.Capture, d.Row)
			}
		})
	}
}

// TestDeviationRows: every deviation has its row.
func TestDeviationRows(t *testing.T) {
	text, err := os.ReadFile("../COMPATIBILITY.md")
	if os.IsNotExist(err) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]bool{}
	for _, d := range Waymark {
		rows[d.Row] = true
	}
	files, _ := filepath.Glob("testdata/deviations/*.jsonl")
	seeds, _ := filepath.Glob("testdata/seeds/*.jsonl")
	for _, file := range append(files, seeds...) {
		for _, s := range readSteps(t, file) {
			if s.Row != "" {
				rows[s.Row] = true
			}
		}
	}
	for row := range rows {
		if !strings.Contains(string(text), "| "+row+" |") {
			t.Errorf("COMPATIBILITY.md has no row %s", row)
		}
	}
}
