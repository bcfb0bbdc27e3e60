//go:build e2e

package e2e

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

const messages = 1000

// TestBrokerAndClient: a broker registers, and a Java client of its version that knows nothing but the nameserver sends
// messages to a topic that doesn't exist yet and receives each exactly once.
func TestBrokerAndClient(t *testing.T) {
	for _, version := range []string{currentVersion, oldVersion} {
		t.Run(version, func(t *testing.T) {
			onEach(t, func(t *testing.T, nameserver string) {
				s := stackOf(t, nameserver, version)
				for _, consumer := range []string{"push", "litepull"} {
					t.Run(consumer, func(t *testing.T) { roundTrip(t, s, version, consumer) })
				}
			})
		})
	}
}

func roundTrip(t *testing.T, s *stack, version, consumer string) {
	t.Helper()
	jars := shared.jars(t, version)
	out, err := shared.java.RunProgram(jars, shared.program(t, jars, "RoundTrip.java"),
		filepath.Join(t.TempDir(), "client"), "RoundTrip", s.nameserver.Addr, "RoundTrip-"+consumer, fmt.Sprint(messages), consumer)
	if err != nil {
		t.Fatal(err)
	}
	t.Log(strings.ReplaceAll(strings.TrimSpace(out), "\n", "; "))
	lines := strings.Split(strings.TrimSpace(out), "\n")
	want := fmt.Sprintf("OK sent=%[1]d received=%[1]d duplicates=0", messages)
	if last := lines[len(lines)-1]; last != want {
		t.Errorf("client ended with %q, want %q", last, want)
	}
}
