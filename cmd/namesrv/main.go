// Command namesrv runs a RocketMQ nameserver. It takes the options, the
// environment and the configuration file of Apache's; see SETTINGS.md.
package main

import (
	"os"
	"os/signal"
	"syscall"

	"github.com/waymark-mq/waymark/admin"
	"github.com/waymark-mq/waymark/namesrv"
)

func main() {
	os.Exit(run(process{
		args: os.Args[1:], getenv: os.Getenv, stdout: os.Stdout, stderr: os.Stderr, signals: heedSignals(),
		newServer:   func(o namesrv.Options) (server, error) { return namesrv.New(o) },
		listenAdmin: func(o admin.Options) (adminServer, error) { return admin.Listen(o) },
	}))
}

// heedSignals returns where the signals come that stop or drain the process.
func heedSignals() <-chan os.Signal {
	// Whoever read standard output or error may die: what is written there is lost then, and nothing else.
	signal.Ignore(syscall.SIGPIPE)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, drainSignal)
	if !signal.Ignored(hangup) { // nohup was not meant to be undone
		signal.Notify(signals, hangup)
	}
	return signals
}
