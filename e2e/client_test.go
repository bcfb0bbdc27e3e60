//go:build e2e

package e2e

import (
	"fmt"
	"path/filepath"
	"strings"
	"sync"
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
	out, err := shared.java.RunProgram(shared.jars(t, version), roundTripClasses(t, version),
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

var compiled = struct {
	sync.Mutex
	byVersion map[string]string
}{byVersion: map[string]string{}}

// roundTripClasses compiles the client once for each version.
func roundTripClasses(t *testing.T, version string) string {
	t.Helper()
	compiled.Lock()
	defer compiled.Unlock()
	if classes := compiled.byVersion[version]; classes != "" {
		return classes
	}
	classes, err := shared.java.Compile(shared.jars(t, version), "RoundTrip.java", shared.dir)
	if err != nil {
		t.Fatal(err)
	}
	compiled.byVersion[version] = classes
	return classes
}
