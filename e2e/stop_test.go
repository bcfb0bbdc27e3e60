//go:build e2e

package e2e

import (
	"testing"
	"time"

	"github.com/waymark-mq/waymark/e2e/harness"
)

// endLimit is how long a broker may take to end; a 5.x broker that is asked to takes 10 s.
const endLimit = time.Minute

// routeGoneLimit is how long after its cause the end of a route may be seen: at once, but for a slow machine. Silence
// alone would take two minutes.
const routeGoneLimit = 20 * time.Second

// TestBrokerStops: the routes of a broker that ends go at once, however it ends.
func TestBrokerStops(t *testing.T) {
	onEach(t, func(t *testing.T, nameserver string) {
		t.Run("cleanly", func(t *testing.T) {
			inMatrix(t, nameserver, "broker", currentVersion, "is asked to stop: its routes go with its goodbye")
			s := stackOf(t, nameserver, currentVersion)
			asked := time.Now()
			gone, running := awaitRouteGone(t, s, (*harness.Process).Terminate)
			t.Logf("route gone %v after the request to stop", gone.Sub(asked).Round(time.Millisecond))
			if d := gone.Sub(asked); d > routeGoneLimit {
				t.Errorf("route gone %v after the request to stop, want at most %v", d, routeGoneLimit)
			}
			// A broker says goodbye first and works on for seconds: its connection can't be what told.
			if !running {
				t.Error("route gone with the broker's process only, not with its goodbye")
			}
			<-s.broker.Process().Done()
			checkForgotten(t, s)
		})
		t.Run("killed", func(t *testing.T) {
			inMatrix(t, nameserver, "broker", currentVersion, "is killed: its routes go with its connection")
			s := stackOf(t, nameserver, currentVersion)
			gone, _ := awaitRouteGone(t, s, (*harness.Process).Kill)
			<-s.broker.Process().Done()
			after := gone.Sub(s.broker.Process().EndedAt())
			t.Logf("route gone %v after the end of the process", after.Round(time.Millisecond))
			if after > routeGoneLimit {
				t.Errorf("route gone %v after the end of the process, want at most %v", after, routeGoneLimit)
			}
			checkForgotten(t, s)
		})
	})
}

// awaitRouteGone ends the broker by end and returns when its route was seen gone, and whether the process was still
// running then. It fails when the process has been gone for longer than the limit.
func awaitRouteGone(t *testing.T, s *stack, end func(*harness.Process) error) (gone time.Time, running bool) {
	t.Helper()
	asker, err := harness.Dial(s.nameserver.Addr)
	if err != nil {
		t.Fatal(err)
	}
	defer asker.Close()
	broker := s.broker.Process()
	// Every broker has a topic of its own name.
	if known, err := asker.HasRoute(s.broker.Name); err != nil || !known {
		t.Fatalf("route before the end: %v, error %v", known, err)
	}
	if err := end(broker); err != nil {
		t.Fatal(err)
	}
	deadline := time.Now().Add(endLimit)
	ticker := time.NewTicker(5 * time.Millisecond)
	defer ticker.Stop()
	for {
		known, err := asker.HasRoute(s.broker.Name)
		if err != nil {
			t.Fatal(err)
		}
		if !known {
			return time.Now(), broker.Running()
		}
		if !broker.Running() && time.Since(broker.EndedAt()) > routeGoneLimit {
			t.Fatalf("route still there %v after the end of the process", time.Since(broker.EndedAt()))
		}
		if time.Now().After(deadline) {
			t.Fatalf("route and process still there after %v", endLimit)
		}
		<-ticker.C
	}
}

// checkForgotten: nothing of the ended broker is left.
func checkForgotten(t *testing.T, s *stack) {
	t.Helper()
	err := s.nameserver.Ask(func(a *harness.Asker) error {
		if known, err := a.HasRoute(s.broker.Name); err != nil || known {
			t.Errorf("route after the end: %v, error %v", known, err)
		}
		listed, err := a.HasBroker(s.broker.Name, s.broker.Addr)
		if listed {
			t.Error("broker still listed after its end")
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
