//go:build e2e

package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/waymark-mq/waymark/e2e/harness"
)

// TestProbes: brokers of three releases answer probes. One that is stopped (SIGSTOP, its sockets stay open) becomes suspect within
// seconds and goes when that is set, long before its heartbeat timeout; after SIGCONT it is back with its next registration.
func TestProbes(t *testing.T) {
	t.Parallel()
	port, err := harness.FreePort()
	if err != nil {
		t.Fatal(err)
	}
	admin := harness.Loopback(port)
	n := newNameserver(t, programOf(t, waymark), "adminListen="+admin,
		"probeIntervalMillis=1000", "probeTimeoutMillis=2000", "probeRemoves=true", "probeRemoveAfterMillis=10000")
	brokers := map[string]*harness.Broker{}
	for _, version := range []string{oldVersion, middleVersion, currentVersion} {
		brokers[version] = brokerOf(t, version, "broker-"+version, n)
		startAll(t, brokers[version])
	}
	for version, b := range brokers {
		await(t, version+" answers", func() error { return probeOf(admin, b, func(p probeState) bool { return p.Answers && !p.Suspect }) })
		if err := b.Process().Freeze(); err != nil {
			t.Fatal(err)
		}
		frozen := time.Now()
		await(t, version+" is suspect", func() error { return probeOf(admin, b, func(p probeState) bool { return p.Suspect }) })
		suspect := time.Since(frozen)
		await(t, version+" is gone", func() error {
			if err := probeOf(admin, b, func(probeState) bool { return true }); !errors.Is(err, errNoBroker) {
				return fmt.Errorf("still there: %w", err)
			}
			return nil
		})
		gone := time.Since(frozen)
		if err := b.Process().Thaw(); err != nil {
			t.Fatal(err)
		}
		await(t, version+" is back", func() error { return probeOf(admin, b, func(p probeState) bool { return p.Answers && !p.Suspect }) })
		t.Logf("%s: suspect after %v, gone after %v, back %v after SIGCONT", version, suspect, gone, time.Since(frozen)-gone)
		if suspect > time.Minute || gone > time.Minute { // 120 s without probes
			t.Errorf("%s: suspect after %v, gone after %v", version, suspect, gone)
		}
	}
}

func await(t *testing.T, what string, check func() error) {
	t.Helper()
	if err := harness.Eventually(2*time.Minute, check); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

// probeState is what the API says of a broker's probes.
type probeState struct{ Answers, Suspect bool }

var errNoBroker = errors.New("no such broker")

// probeOf checks what the API says of the probes of a broker.
func probeOf(admin string, b *harness.Broker, holds func(probeState) bool) error {
	answer, err := http.Get("http://" + admin + "/api/v1/brokers/" + b.Name)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode == http.StatusNotFound {
		return errNoBroker
	}
	var broker struct{ Members []struct{ Probe *probeState } }
	if err := json.NewDecoder(answer.Body).Decode(&broker); err != nil {
		return err
	}
	if len(broker.Members) != 1 || broker.Members[0].Probe == nil || !holds(*broker.Members[0].Probe) {
		return fmt.Errorf("the API says %+v", broker)
	}
	return nil
}
