package netpoll

import (
	"log/slog"
	"testing"
	"time"
)

func TestLimitedLog(t *testing.T) {
	lines := &lineLog{}
	clock := &fakeClock{}
	l := newLimitedLog(slog.New(slog.NewTextHandler(lines, nil)), clock.now)
	for range 100 { // 20 s
		l.warn("a", "text of a")
		l.warn("b", "text of b")
		clock.nanos += int64(200 * time.Millisecond)
	}
	if a, b := lines.count("text of a"), lines.count("text of b"); a != 2 || b != 2 {
		t.Fatalf("%d and %d lines in 20 s, want 2 each", a, b)
	}
	if n := lines.count("skipped=49"); n != 2 {
		t.Fatalf("%d lines say what was left out", n)
	}
}

func TestPanicIsLoggedOnceWithItsStack(t *testing.T) {
	lines := &lineLog{}
	h := newEcho()
	h.onFrame = func(*Conn, []byte, []byte) ([]byte, error) { panic("boom") }
	s := startServer(t, h, Options{Logger: slog.New(slog.NewTextHandler(lines, nil))})
	for range 5 {
		c := dial(t, s)
		send(t, c, frameOf("x"))
		expectEnd(t, c)
	}
	if n := lines.count("handler panicked"); n != 1 {
		t.Fatalf("%d lines", n)
	}
	if lines.count("log_test.go") == 0 {
		t.Fatal("no stack")
	}
	if n := stats(t, s).Panics; n != 5 {
		t.Fatalf("counted %d", n)
	}
}
