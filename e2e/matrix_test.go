//go:build e2e

package e2e

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// row is a line of the table of results: which peer did what.
type row struct{ peer, version, does string }

// Outcomes of a case on one nameserver.
const (
	passed  = "passes"
	failed  = "FAILS"
	skipped = "skipped"
)

// results is the table of one run.
type results struct {
	mu   sync.Mutex
	rows map[row]map[string]string // nameserver → outcome

	incomplete atomic.Bool // a tool is missing: some cases were skipped
}

var table = &results{rows: map[row]map[string]string{}}

// inMatrix adds the test, when it ends, to the table of results: what the peer did on the nameserver. Where the same
// row is added by several tests, the worst outcome stays.
func inMatrix(t *testing.T, nameserver, peer, version, does string) {
	t.Helper()
	addAtEnd(t, nameserver, row{peer, version, does}, passed)
}

// addAtEnd adds a row with what it says when the test has not failed.
func addAtEnd(t *testing.T, nameserver string, key row, outcome string) {
	t.Cleanup(func() {
		switch {
		case t.Failed():
			outcome = failed
		case t.Skipped():
			outcome = skipped
		}
		table.add(key, nameserver, outcome)
	})
}

// refusedByApache is inMatrix for a case in which Apache's nameserver fails its peer. The test itself asserts how it fails;
// reason is the row of COMPATIBILITY.md that explains it.
func refusedByApache(t *testing.T, nameserver, peer, version, does, reason string) {
	t.Helper()
	if nameserver != apache {
		inMatrix(t, nameserver, peer, version, does)
		return
	}
	addAtEnd(t, nameserver, row{peer, version, does}, "refused: "+reason)
}

func (r *results) add(key row, nameserver, outcome string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.rows[key] == nil {
		r.rows[key] = map[string]string{}
	}
	if before := r.rows[key][nameserver]; before == "" || outcome == failed || before == passed {
		r.rows[key][nameserver] = outcome
	}
}

// markdown is the table as it stands in COMPATIBILITY.md.
func (r *results) markdown() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	keys := make([]row, 0, len(r.rows))
	for key := range r.rows {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b row) int {
		return cmp.Or(cmp.Compare(a.peer, b.peer), cmp.Compare(a.version, b.version), cmp.Compare(a.does, b.does))
	})
	var text strings.Builder
	text.WriteString("| Peer | Version | What it did | On Apache | On Waymark |\n|---|---|---|---|---|\n")
	for _, key := range keys {
		outcome := func(nameserver string) string { return cmp.Or(r.rows[key][nameserver], "not run") }
		fmt.Fprintf(&text, "| %s | %s | %s | %s | %s |\n", key.peer, key.version, key.does, outcome(apache), outcome(waymark))
	}
	return text.String()
}

// The table stands between these lines of COMPATIBILITY.md.
const (
	tableBegins = "<!-- results of make e2e -->\n"
	tableEnds   = "<!-- end of results -->\n"
)

var update = flag.Bool("update", false, "write the table of results into COMPATIBILITY.md")

// checkPublished compares the table of a whole run with the one in COMPATIBILITY.md, or writes it there.
func (r *results) checkPublished(root string) error {
	if r.incomplete.Load() {
		fmt.Println("e2e: tools are missing on this machine; the table is not compared with the published one")
		return nil
	}
	file := filepath.Join(root, "COMPATIBILITY.md")
	text, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("e2e: %w", err)
	}
	before, rest, found := strings.Cut(string(text), tableBegins)
	published, after, foundEnd := strings.Cut(rest, tableEnds)
	if !found || !foundEnd {
		return fmt.Errorf("e2e: %s has no place for the table of results", file)
	}
	if published == r.markdown() {
		return nil
	}
	if !*update {
		return fmt.Errorf("e2e: the table of results differs from the one in %s; -update writes it there", file)
	}
	return os.WriteFile(file, []byte(before+tableBegins+r.markdown()+tableEnds+after), 0o644)
}
