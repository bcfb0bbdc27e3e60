// Command nsload puts load profiles on nameservers and compares them; see BENCHMARKS.md.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

const usage = `usage: nsload [flags]                        measure
       nsload plot [flags] RESULTS.jsonl...  draw results into an SVG file
       nsload floor [flags]                  run the floor: a server that looks at nothing

nsload -list shows the profiles. A profile is run on each -server in turn, in -runs rounds, and all
servers become columns of one table (Markdown). -server is one of

  waymark       this checkout's nameserver, built and started      loops=N, bin=PROGRAM, name=NAME
  floor         a bare event loop, the least that can be done      loops=N, size=BYTES, name=NAME
  apache        Apache's nameserver 5.5.0 (Java and Maven)         heap=MIB, name=NAME
  apache-tuned  the same: serial collector, archive of classes     heap=MIB, name=NAME
  rust          rocketmq-rust's nameserver, found on the PATH      bin=PROGRAM, name=NAME
  rust-tuned    the same with its switches for speed on            bin=PROGRAM, name=NAME
  HOST:PORT     a nameserver that runs already                     pid=PID, name=NAME

with options after commas: -server waymark,loops=2,name=two -server 127.0.0.1:9876,pid=4711,name=other

exit status: 0 measured, 1 something failed or a server answered what it should not, 2 wrong usage

`

// Exit statuses.
const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2
)

// usageError is a mistake in the command line.
type usageError struct{ error }

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	command := measure
	if len(args) > 0 {
		switch args[0] {
		case "plot":
			command, args = drawPlot, args[1:]
		case "floor":
			command, args = runFloor, args[1:]
		}
	}
	err := command(ctx, args, stdout, stderr)
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, flag.ErrHelp):
		return exitOK
	case errors.As(err, new(usageError)):
		fmt.Fprintf(stderr, "nsload: %v\nnsload -h shows how it is used\n", err)
		return exitUsage
	}
	fmt.Fprintf(stderr, "nsload: %v\n", err)
	return exitFailed
}

// parse reads flags. For -h the usage text goes to stdout and the error is flag.ErrHelp.
func parse(flags *flag.FlagSet, args []string, stdout io.Writer) error {
	flags.SetOutput(io.Discard)
	err := flags.Parse(args)
	if errors.Is(err, flag.ErrHelp) {
		fmt.Fprint(stdout, usage, "flags:\n")
		flags.SetOutput(stdout)
		flags.PrintDefaults()
		return err
	}
	if err != nil {
		return usageError{err}
	}
	return nil
}
