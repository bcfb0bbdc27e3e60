package namesrv

import (
	"testing"
	"time"

	"github.com/waymark-mq/waymark/namesrv/settings"
)

// A server only ever moves on, and waits for brokers as long as route queries are held back.
func TestStateMovesOn(t *testing.T) {
	home := t.TempDir()
	c := settings.Default(settings.Env{HomeDir: home})
	waiting(true, 5)(c)
	s := newTestServer(t, home, Options{Settings: c})
	want := func(state State) {
		t.Helper()
		if got := s.State(); got != state {
			t.Errorf("%v, want %v", got, state)
		}
	}
	want(Starting)
	s.mustStart()
	want(Waiting)
	s.advance(5*time.Second - 1)
	want(Waiting)
	s.advance(1)
	want(Serving)
	if !s.moveTo(Draining) || s.moveTo(Draining) || s.moveTo(Serving) {
		t.Error("a move that is none, or none that is one")
	}
	want(Draining)
	s.stop()
	want(Stopping)
	if s.moveTo(Draining) {
		t.Error("drains after its stop")
	}
}

// A server that couldn't start doesn't serve.
func TestStateOfAFailedStart(t *testing.T) {
	taken := start(t)
	home := t.TempDir()
	s := newTestServer(t, home, Options{Settings: settings.Default(settings.Env{HomeDir: home})})
	bound := *s.settings.Load()
	bound.ListenPort = taken.settings.Load().ListenPort
	s.settings.Store(&bound)
	if err := s.Start(); err == nil {
		t.Fatal("started on a taken port")
	}
	if got := s.State(); got != Starting {
		t.Errorf("%v", got)
	}
}
