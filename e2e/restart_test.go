//go:build e2e

package e2e

import (
	"testing"
	"time"

	"github.com/waymark-mq/waymark/e2e/harness"
)

// registrationLimit is a broker's period, and another for the registration itself on a slow machine.
const registrationLimit = 2 * harness.RegistrationPeriod

// TestNameserverRestart: a nameserver that is stopped and started again knows its broker again within one of the
// broker's registration periods, without anybody doing anything.
func TestNameserverRestart(t *testing.T) {
	onEach(t, func(t *testing.T, nameserver string) {
		inMatrix(t, nameserver, "broker", currentVersion, "the nameserver restarts empty: the broker is back within a registration period")
		s := stackOf(t, nameserver, currentVersion)
		if err := s.nameserver.Stop(); err != nil {
			t.Fatalf("stop: %v", err)
		}
		if err := s.nameserver.Start(); err != nil {
			t.Fatal(err)
		}
		started := time.Now()
		if err := s.broker.AwaitRegistered(registrationLimit); err != nil {
			t.Fatal(err)
		}
		t.Logf("broker back after %v", time.Since(started).Round(10*time.Millisecond))
		err := s.nameserver.Ask(func(a *harness.Asker) error {
			known, err := a.HasRoute(s.broker.Name)
			if !known {
				t.Error("broker is back without its topics")
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	})
}
