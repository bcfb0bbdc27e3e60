package namesrv

import (
	"context"
	"maps"
	"testing"
	"time"

	"github.com/waymark-mq/waymark/namesrv/settings"
	"github.com/waymark-mq/waymark/netpoll"
)

// holdLoop keeps an event loop from everything else until release is called.
func (s *testServer) holdLoop(index int) (release func()) {
	s.t.Helper()
	held, released := make(chan struct{}), make(chan struct{})
	go func() {
		_, _ = s.net.Visit(context.Background(), func(i int, _ netpoll.LoopHandler) {
			if i == index {
				close(held)
				<-released
			}
		})
	}()
	s.await(held, "the loop")
	var once bool
	release = func() {
		if !once {
			once = true
			close(released)
		}
	}
	s.t.Cleanup(release)
	return release
}

// A loop that is stuck is reported as missing in time, and counts as it last did: no counter goes back.
func TestMetricsDontWaitForAStuckLoop(t *testing.T) {
	s := start(t)
	for range 4 {
		s.dial().call(routeOf("None"))
	}
	want := map[string]int{"get_routeinfo_by_topic topic_not_exist success": 4}
	s.wantCounted(want)
	frames := s.metrics().Net.Frames
	release := s.holdLoop(1)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	m := s.Metrics(ctx)
	if got := requestsCounted(m); m.Net.Missing != 1 || m.Net.Frames != frames || !maps.Equal(got, want) {
		t.Errorf("%d missing, %d frames of %d, %v", m.Net.Missing, m.Net.Frames, frames, got)
	}
	release()
	s.wantCounted(want)
}

func TestAlive(t *testing.T) {
	s := start(t)
	alive := func(limit time.Duration) error {
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		defer cancel()
		return s.Alive(ctx)
	}
	if err := alive(waitLimit); err != nil {
		t.Error(err)
	}
	release := s.holdLoop(0)
	if err := alive(20 * time.Millisecond); err != errLoopStuck {
		t.Errorf("%v, want %v", err, errLoopStuck)
	}
	release()
	release = s.parkWriter()
	if err := alive(20 * time.Millisecond); err != errWriterStuck {
		t.Errorf("%v, want %v", err, errWriterStuck)
	}
	release()
	if err := alive(waitLimit); err != nil {
		t.Error(err)
	}
	s.stop()
	if err := alive(waitLimit); err != nil {
		t.Errorf("stopped: %v", err)
	}
}

// Figures can be had at any time of a server's life.
func TestMetricsBeforeAndAfter(t *testing.T) {
	home := t.TempDir()
	s := newTestServer(t, home, Options{Settings: settings.Default(settings.Env{HomeDir: home})})
	if m := s.Metrics(t.Context()); m.State != Starting || m.Net.Loops != 0 {
		t.Errorf("not started: %v, %d loops", m.State, m.Net.Loops)
	}
	if err := s.Alive(t.Context()); err != nil {
		t.Error(err)
	}
	s.mustStart()
	s.dial().call(routeOf("None"))
	s.stop()
	m := s.metrics()
	if got := requestsCounted(m); m.State != Stopping || m.Net.Frames != 1 || got["get_routeinfo_by_topic topic_not_exist success"] != 1 {
		t.Errorf("stopped: %v, %d frames, %v", m.State, m.Net.Frames, got)
	}
}
