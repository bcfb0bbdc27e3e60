// Command nsctl looks into RocketMQ nameservers and compares them; nsctl help says how.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/waymark-mq/waymark/nsctl"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends what doesn't end by itself
	code := nsctl.Run(ctx, nsctl.Process{
		Args: os.Args[1:], Getenv: os.Getenv, Stdout: os.Stdout, Stderr: os.Stderr, Terminal: isTerminal(os.Stdout),
	})
	stop()
	os.Exit(code)
}

func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
