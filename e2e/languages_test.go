//go:build e2e

package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/waymark-mq/waymark/e2e/harness"
)

// languageMessages is how many messages each client in another language sends and receives.
const languageMessages = 100

// TestOtherLanguages: a client in another language than Java that knows nothing but the nameserver sends messages, to a
// topic that doesn't exist yet if the client can, and receives each exactly once.
func TestOtherLanguages(t *testing.T) {
	for i, peer := range harness.OtherLanguages(shared.root) {
		topic := fmt.Sprintf("Language-%d", i)
		t.Run(peer.Name+" "+peer.Version, func(t *testing.T) {
			onEach(t, func(t *testing.T, nameserver string) {
				inMatrix(t, nameserver, peer.Name, peer.Version,
					fmt.Sprintf("%d messages sent and received (push)", languageMessages))
				need(t, peer.Prepare())
				languageRoundTrip(t, stackOf(t, nameserver, currentVersion), peer, topic)
			})
		})
	}
}

func languageRoundTrip(t *testing.T, s *stack, peer *harness.Peer, topic string) {
	t.Helper()
	if peer.NeedsTopic {
		createTopic(t, s.broker, topic)
		awaitRoute(t, s.nameserver, topic, func(*harness.Route) bool { return true })
	}
	out, err := peer.Run(t.TempDir(), s.nameserver.Addr, topic, fmt.Sprint(languageMessages))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out), "\n")
	want := fmt.Sprintf("OK sent=%[1]d received=%[1]d duplicates=0", languageMessages)
	if last := lines[len(lines)-1]; last != want {
		t.Errorf("client ended with %q, want %q", last, want)
	}
}
