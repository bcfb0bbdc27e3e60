//go:build faults && linux

package faults

import (
	"os"
	"testing"
	"time"
)

// lateAttempts is how often a test is begun whose own brokers come late.
const lateAttempts = 3

// unlessLate runs a test that can't tell if this machine keeps its own brokers from beating in time: it is begun anew then. In CI it
// must be able to tell in the end.
func unlessLate(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	for range lateAttempts {
		late := false
		t.Run("attempt", func(t *testing.T) {
			defer func() { late = t.Skipped() }()
			test(t)
		})
		if !late {
			return
		}
	}
	if os.Getenv("CI") == "true" {
		t.Fatalf("its own brokers were late %d times", lateAttempts)
	}
	t.Skip("this machine is too busy")
}

// skipIfLate ends an attempt that can't tell: the broker itself was silent for about its timeout.
func (b *broker) skipIfLate() {
	b.t.Helper()
	if gap := time.Duration(b.widestGap.Load()); gap > b.timeout*3/4 {
		b.t.Skipf("%s sent nothing for %v", b.name, gap)
	}
}
