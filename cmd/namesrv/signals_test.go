package main

import (
	"os"
	"os/signal"
	"syscall"
	"testing"
	"time"
)

// A burst of signals that comes while nobody looks pushes out none of another kind.
func TestSignalsOfABurst(t *testing.T) {
	seen := make(chan os.Signal, 100)
	signal.Notify(seen, drainSignal, syscall.SIGTERM)
	s := heedSignals()
	t.Cleanup(func() {
		for _, c := range []chan os.Signal{seen, s.stop, s.hangup, s.drain} {
			signal.Stop(c)
		}
		signal.Reset(syscall.SIGPIPE)
	})
	send := func(what syscall.Signal) { // the kernel makes one of two that wait
		t.Helper()
		if err := syscall.Kill(os.Getpid(), what); err != nil {
			t.Fatal(err)
		}
		select {
		case <-seen:
		case <-time.After(20 * time.Second):
			t.Fatalf("%v doesn't come", what)
		}
	}
	for range 5 {
		send(drainSignal)
	}
	send(syscall.SIGTERM)
	for name, c := range map[string]chan os.Signal{"stop": s.stop, "drain": s.drain} {
		select {
		case <-c:
		case <-time.After(20 * time.Second): // channels are told one after the other
			t.Errorf("the signal to %s is lost", name)
		}
	}
}
