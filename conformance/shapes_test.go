package conformance

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// maxCut is how far into a frame it is cut at every byte.
const maxCut = 4 << 10

// shapes are one frame each of all kinds that the captures hold: kinds differ in
// header type, members and names of extFields, version, flag and form of the body.
func shapes(t *testing.T) map[string]*Exchange {
	t.Helper()
	all := map[string]*Exchange{}
	for _, name := range captureNames(t) {
		for _, l := range readCapture(t, name) {
			if l.Frame == nil || l.Dir != ">" || l.fromServer() {
				continue
			}
			e, err := l.exchange(nil)
			if err != nil {
				t.Fatal(err)
			}
			var members map[string]json.RawMessage
			if err := json.Unmarshal(l.Header, &members); err != nil {
				t.Fatal(err)
			}
			body := "none"
			if len(e.Body) > 0 {
				body = fmt.Sprintf("%q", e.Body[:1])
			}
			shape := fmt.Sprintf("code=%d type=%d version=%d flag=%d members=%s ext=%s body=%s", e.Code, l.Type, e.Version, e.Flag,
				strings.Join(slices.Sorted(maps.Keys(members)), ","), strings.Join(slices.Sorted(maps.Keys(e.Ext)), ","), body)
			if all[shape] == nil {
				all[shape] = e
			}
		}
	}
	return all
}

// TestShapesCutEverywhere sends a frame of each shape in two pieces, for every
// place in its first 4 KB where it can be cut. A route query in the second piece
// shows that the server is still in step.
func TestShapesCutEverywhere(t *testing.T) {
	next := &Step{Code: codeGetRoute, Version: 513, Ext: map[string]string{"topic": "NoSuchTopic"}}
	const nextOpaque = 1 << 30
	query, err := next.frame(nextOpaque)
	if err != nil {
		t.Fatal(err)
	}
	all := shapes(t)
	if len(all) < 20 {
		t.Fatalf("%d shapes", len(all))
	}
	for shape, e := range all {
		t.Run(strings.ReplaceAll(shape, " ", "/"), func(t *testing.T) {
			t.Parallel()
			m := newMemory(startOur(t, nil))
			ask := func(cut int) (*Answer, *Answer) {
				t.Helper()
				whole := append(slices.Clone(e.frame), query...)
				if err := m.send(whole[:cut]); err != nil {
					t.Fatalf("cut at %d: %v", cut, err)
				}
				if err := m.send(whole[cut:]); err != nil {
					t.Fatalf("cut at %d: %v", cut, err)
				}
				after, err := m.answer(nextOpaque)
				if err != nil {
					t.Fatalf("cut at %d: %v", cut, err)
				}
				if e.Flag&flagOneway != 0 {
					return nil, after
				}
				a, err := m.answer(e.Opaque)
				if err != nil {
					t.Fatalf("cut at %d: %v", cut, err)
				}
				return a, after
			}
			ask(len(e.frame))                // the first one may change something,
			want, after := ask(len(e.frame)) // those that follow do not
			for cut := 1; cut < min(len(e.frame), maxCut); cut++ {
				got, then := ask(cut)
				if d := differ(want, got, true); d != "" {
					t.Fatalf("cut at %d: %s", cut, d)
				}
				if d := differ(after, then, true); d != "" {
					t.Fatalf("query after the cut at %d: %s", cut, d)
				}
			}
			if len(m.early) > 0 {
				t.Errorf("%d answers that nobody asked for", len(m.early))
			}
		})
	}
}
