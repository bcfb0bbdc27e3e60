package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The plots of BENCHMARKS.md are what their commands there make of the results beside them.
func TestPublishedPlots(t *testing.T) {
	const root = "../.."
	text, err := os.ReadFile(filepath.Join(root, "BENCHMARKS.md"))
	if err != nil {
		t.Fatal(err)
	}
	plots := 0
	for line := range strings.Lines(string(text)) {
		args, ok := strings.CutPrefix(strings.TrimSpace(line), "go run ./cmd/nsload plot ")
		if !ok || !strings.Contains(args, "bench/results/") {
			continue
		}
		plots++
		words := strings.Fields(strings.ReplaceAll(args, "'", ""))
		published, made := "", filepath.Join(t.TempDir(), "plot.svg")
		for i, w := range words {
			if strings.HasPrefix(w, "bench/results/") {
				words[i] = filepath.Join(root, w)
			}
			if w == "-o" {
				published = filepath.Join(root, words[i+1])
				words[i+1] = made
			}
		}
		code, _, stderr := nsload(t, append([]string{"plot"}, words...)...)
		if code != 0 {
			t.Errorf("%s: %s", args, stderr)
			continue
		}
		want, err := os.ReadFile(published)
		if err != nil {
			t.Error(err)
			continue
		}
		got, err := os.ReadFile(made)
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is not what its command makes (%v)", published, err)
		}
	}
	if plots < 3 {
		t.Errorf("%d plots with a command", plots)
	}
}
