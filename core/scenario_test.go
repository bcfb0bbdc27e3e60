package core_test

import (
	"cmp"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/waymark-mq/waymark/conformance"
	"github.com/waymark-mq/waymark/core"
)

const scenarioFolder = "../conformance/testdata/scenarios"

// scenarioSettings are the settings of the servers that the folders were recorded from.
var scenarioSettings = map[string]func(*core.Settings){
	"default":        func(*core.Settings) {},
	"headers":        func(*core.Settings) {},
	"bodies":         func(*core.Settings) {},
	"acting-order":   func(s *core.Settings) { s.OrderMessageEnable, s.SupportActingMaster = true, true },
	"delete-missing": func(s *core.Settings) { s.DeleteTopicWithBrokerRegistration = true },
}

// TestScenarios plays what Apache's nameserver was recorded to answer on the
// table alone: no socket, no goroutine, no clock.
func TestScenarios(t *testing.T) {
	files, err := filepath.Glob(scenarioFolder + "/*/*.jsonl")
	if err != nil || len(files) != 48 {
		t.Fatalf("%d scenarios, want 48 (%v)", len(files), err)
	}
	for _, file := range files {
		folder := filepath.Base(filepath.Dir(file))
		change, ok := scenarioSettings[folder]
		if !ok {
			t.Fatalf("no settings for scenarios/%s", folder)
		}
		settings := core.DefaultSettings()
		change(&settings)
		t.Run(folder+"/"+strings.TrimSuffix(filepath.Base(file), ".jsonl"), func(t *testing.T) {
			playOnTable(t, file, newReceiver(settings))
		})
	}
}

func playOnTable(t *testing.T, file string, r *receiver) {
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	steps, err := conformance.ReadScenario(f)
	if err != nil {
		t.Fatal(err)
	}
	fromTable := 0
	for i := range steps {
		s := &steps[i]
		if s.Close {
			r.end(s.Conn)
			continue
		}
		got, err := r.play(s)
		if err != nil {
			t.Fatalf("line %d: %v", s.Line, err)
		}
		if got.fromTable {
			fromTable++
		}
		got.compare(t, s, wanted(t, s))
	}
	if fromTable < len(steps)/2 {
		t.Errorf("the table answered %d of %d steps", fromTable, len(steps))
	}
}

// wanted is the recorded answer, or the one that is given on purpose instead.
func wanted(t *testing.T, s *conformance.Step) *conformance.Want {
	t.Helper()
	if s.Ours != nil || s.Want == nil || s.Want.Closed {
		return cmp.Or(s.Ours, s.Want)
	}
	body, err := bodyOf(s)
	if err != nil {
		t.Fatalf("line %d: %v", s.Line, err)
	}
	e := &conformance.Exchange{
		Line: s.Line, Code: s.Code, Flag: s.Flag, Version: versionOf(s), Ext: s.Ext, Body: body,
		Want: &conformance.Answer{Code: s.Want.Code, Remark: s.Want.Remark, Ext: s.Want.Ext, Body: []byte(s.Want.Body)},
	}
	for _, d := range conformance.Waymark {
		if w := d.Want(e); w != nil {
			return &conformance.Want{Code: w.Code, Remark: w.Remark, Ext: w.Ext, Body: string(w.Body)}
		}
	}
	return s.Want
}

// compare holds an answer against the recorded one. Flag, type and opaque of the
// header are not the table's and left out; of answers that the receiver gives
// without asking the table only the code counts.
func (a *answer) compare(t *testing.T, s *conformance.Step, want *conformance.Want) {
	t.Helper()
	if want == nil || a.none {
		if (want == nil) != a.none {
			t.Errorf("line %d: answered %v, recorded %v", s.Line, !a.none, want != nil)
		}
		return
	}
	got := &conformance.Want{Closed: a.closed, Code: a.code}
	w := *want
	w.Flag, w.Type, w.Opaque = 0, 0, 0
	if a.fromTable {
		got.Remark, got.Ext, got.Body = a.remark, a.ext, a.body
	} else {
		w.Remark, w.Ext, w.Body, w.BodyB64 = "", nil, "", ""
	}
	same, err := conformance.SameAnswer(&w, got)
	if err != nil || !same {
		t.Errorf("line %d: code %d %v %v\n got %+v\nwant %+v", s.Line, s.Code, s.Ext, err, *got, w)
	}
}
