package harness

import (
	"strings"
	"testing"
	"time"
)

// TestSession: commands go in, lines come out in order, and the end of the program ends the wait.
func TestSession(t *testing.T) {
	cmd := peerCommand("echo")
	s, err := startSession("peer", t.TempDir(), cmd)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Kill)
	if err := s.Tell("noise"); err != nil {
		t.Fatal(err)
	}
	line, err := s.Ask("word one", "heard word", 10*time.Second)
	if err != nil || line != "heard word one" {
		t.Errorf("first answer %q, error %v", line, err)
	}
	if line, err := s.Ask("word two", "heard word", 10*time.Second); err != nil || line != "heard word two" {
		t.Errorf("second answer %q, error %v", line, err)
	}
	if _, err := s.Await("never", 10*time.Millisecond); err == nil || !strings.Contains(err.Error(), "didn't say") {
		t.Errorf("silence: %v", err)
	}
	s.Kill()
	if _, err := s.Await("never", 10*time.Second); err == nil || !strings.Contains(err.Error(), "ended") {
		t.Errorf("end: %v", err)
	}
	if logs := s.Logs(); !strings.Contains(logs, "heard noise\nheard word one\nheard word two") {
		t.Errorf("logs: %s", logs)
	}
}
