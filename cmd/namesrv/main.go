// Command namesrv runs a RocketMQ nameserver. It takes the options, the
// environment and the configuration file of Apache's; see SETTINGS.md.
package main

import (
	"os"

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
