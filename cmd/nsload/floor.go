package main

import (
	"context"
	"flag"
	"io"

	"github.com/waymark-mq/waymark/bench/floor"
)

// runFloor runs the floor until the process is asked to stop.
func runFloor(ctx context.Context, args []string, stdout, _ io.Writer) error {
	flags := flag.NewFlagSet("nsload floor", flag.ContinueOnError)
	addr := flags.String("addr", "127.0.0.1:9899", "`host:port` to listen on")
	size := flags.Int("size", 940, "`bytes` of every answer, with its header")
	loops := flags.Int("loops", 1, "event loops")
	if err := parse(flags, args, stdout); err != nil {
		return err
	}
	return floor.Run(ctx, *addr, *loops, *size)
}
