package conformance

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// scenarioConfigs are the settings of the servers that the folders of
// testdata/scenarios were recorded from.
var scenarioConfigs = map[string]map[string]string{
	"default":        nil,
	"headers":        nil,
	"bodies":         nil,
	"acting-order":   {"orderMessageEnable": "true", "supportActingMaster": "true"},
	"delete-missing": {"deleteTopicWithBrokerRegistration": "true"},
	"deviations":     {"supportActingMaster": "true"},
}

func TestScenarios(t *testing.T) {
	folders, err := os.ReadDir("testdata/scenarios")
	if err != nil {
		t.Fatal(err)
	}
	played := 0
	for _, folder := range folders {
		config, ok := scenarioConfigs[folder.Name()]
		if !ok {
			t.Fatalf("no settings for testdata/scenarios/%s", folder.Name())
		}
		files, err := filepath.Glob(filepath.Join("testdata/scenarios", folder.Name(), "*.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		played += len(files)
		t.Run(folder.Name(), func(t *testing.T) {
			for _, file := range files {
				t.Run(strings.TrimSuffix(filepath.Base(file), ".jsonl"), func(t *testing.T) {
					t.Parallel()
					reportAll(t, playScenario(t, file, config, options()))
				})
			}
		})
	}
	if played != 48 {
		t.Errorf("%d scenarios, want 48", played)
	}
}

func playScenario(t *testing.T, file string, config map[string]string, o Options) []Difference {
	t.Helper()
	steps := readSteps(t, file)
	target, err := start(t, config)()
	if err != nil {
		t.Fatal(err)
	}
	defer target.Close()
	return PlayScenario(filepath.Base(file), steps, target, o)
}

// captures are the recordings of real peers: those that are not listed were
// made with default settings.
var captures = map[string]struct {
	config map[string]string
	// with is the capture of the same server's other peers; this one began so
	// many milliseconds after it.
	with   string
	offset int64
}{
	"broker-5.5.0-acting-master":        {config: actingMaster},
	"broker-5.5.0-acting-master-compat": {config: actingMaster},
	"broker-5.5.0-acting-master-expiry": {config: actingMaster},
	"mqadmin-5.5.0":                     {config: orderMessages, with: "broker-5.5.0-topic-changes", offset: 17163},
	"mqadmin-5.5.0-topic-lifecycle":     {config: orderMessages},
}

var (
	actingMaster  = map[string]string{"supportActingMaster": "true", "notifyMinBrokerIdChanged": "true"}
	orderMessages = map[string]string{"orderMessageEnable": "true"}
)

func TestCaptures(t *testing.T) {
	files, err := filepath.Glob("testdata/captures/*.jsonl")
	if err != nil || len(files) != 35 {
		t.Fatalf("%d captures, want 35 (%v)", len(files), err)
	}
	together := map[string]bool{}
	for _, c := range captures {
		together[c.with] = true
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".jsonl")
		if together[name] {
			continue // played with the other half
		}
		t.Run(name, func(t *testing.T) {
			if !strings.Contains(name, "acting-master") { // those listen at the same ports
				t.Parallel()
			}
			reportAll(t, playCapture(t, name, options()))
		})
	}
}

func playCapture(t *testing.T, name string, o Options) []Difference {
	t.Helper()
	c := captures[name]
	r := Replay{Lines: readCapture(t, name), Seeds: map[string][]Step{}}
	if c.with != "" {
		r.Lines = Merge(readCapture(t, c.with), r.Lines, c.offset)
	}
	for _, half := range []string{name, c.with} {
		if file := "testdata/seeds/" + half + ".jsonl"; half != "" && exists(file) {
			r.Seeds[half+".jsonl"] = readSteps(t, file)
		}
	}
	differs, err := r.Play(start(t, c.config), o)
	if errors.Is(err, ErrPortTaken) && os.Getenv("CI") == "" {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return differs
}

func reportAll(t *testing.T, differs []Difference) {
	t.Helper()
	for _, d := range differs {
		t.Error(d)
	}
}

func readSteps(t *testing.T, file string) []Step {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	steps, err := ReadScenario(f)
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return steps
}

func readCapture(t *testing.T, name string) []Line {
	t.Helper()
	f, err := os.Open("testdata/captures/" + name + ".jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines, err := ReadCapture(name+".jsonl", f)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return lines
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}
