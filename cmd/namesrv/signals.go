package main

import (
	"os"
	"os/signal"
	"syscall"
)

const (
	// drainSignal sends peers elsewhere; the process stays until it is told to stop.
	drainSignal = syscall.SIGUSR1
	drainName   = "SIGUSR1"
	// hangup, a terminal that is closed, stops the process. Shell and kernel may both send it, so a second one means no hurry.
	hangup = syscall.SIGHUP
)

// signals are what the process heeds. Each meaning has a channel of its own, and room for as many as have a meaning, so that a burst of one
// kind, while nobody looks, pushes out no other.
type signals struct {
	stop   chan os.Signal // SIGINT, SIGTERM: the first stops the server, the second ends the process
	hangup chan os.Signal // stops the server, too
	drain  chan os.Signal
}

func newSignals() signals {
	return signals{stop: make(chan os.Signal, 2), hangup: make(chan os.Signal, 1), drain: make(chan os.Signal, 1)}
}

// heedSignals makes the process heed them.
func heedSignals() signals {
	// Whoever read standard output or error may die: what is written there is lost then, and nothing else.
	signal.Ignore(syscall.SIGPIPE)
	s := newSignals()
	signal.Notify(s.stop, os.Interrupt, syscall.SIGTERM)
	signal.Notify(s.drain, drainSignal)
	if !signal.Ignored(hangup) { // nohup was not meant to be undone
		signal.Notify(s.hangup, hangup)
	}
	return s
}
