package conformance

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// envRecord is a pattern of scenarios to be recorded again: their "want" if the
// environment names Apache's nameserver, else "ours" of the steps that have a row.
const envRecord = "WAYMARK_CONFORMANCE_RECORD"

func TestRecord(t *testing.T) {
	pattern := os.Getenv(envRecord)
	if pattern == "" {
		t.Skip("set " + envRecord + " to record scenarios again")
	}
	files, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			steps := readSteps(t, file)
			target, err := start(t, scenarioConfigs[filepath.Base(filepath.Dir(file))])()
			if err != nil {
				t.Fatal(err)
			}
			defer target.Close()
			answers, err := Record(steps, target)
			if err != nil {
				t.Fatal(err)
			}
			for i := range steps {
				same, err := SameAnswer(steps[i].Want, answers[i])
				switch {
				case err != nil:
					t.Fatal(err)
				case foreign():
					steps[i].Want = answers[i]
				case steps[i].Row != "" && !same:
					steps[i].Ours = answers[i]
				}
			}
			writeSteps(t, file, steps)
		})
	}
}

func writeSteps(t *testing.T, file string, steps []Step) {
	t.Helper()
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	for i := range steps {
		if err := e.Encode(&steps[i]); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}
