// Package nsctl is the operator's tool: its commands, and how their answers are written. What they ask and compute is below it.
//
// Text that came over the network, or from a file, goes through printable before it reaches a terminal, and is cut. In JSON it means what
// was sent, with escapes for what a terminal would obey.
package nsctl

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/waymark-mq/waymark/internal/build"
)

// Exit codes.
const (
	exitOK     = 0
	exitNo     = 1 // nameservers differ, there is no such route, the file has problems, no drain has begun
	exitFailed = 2 // it couldn't be told
	// exitPipe is what a shell makes of SIGPIPE: who reads the output has gone, as head does.
	exitPipe = 128 + 13
)

// Process is what surrounds a run.
type Process struct {
	Args           []string // without the program's name
	Getenv         func(string) string
	Stdout, Stderr io.Writer
	// Terminal: Stdout is one, so that top may write over what it wrote.
	Terminal bool
}

// Run runs one command and returns the exit code.
func Run(ctx context.Context, p Process) int {
	return (&tool{Process: p, pause: pause, sidePort: defaultAdminPort}).run(ctx)
}

func (t *tool) run(ctx context.Context) int {
	t.out = bufio.NewWriter(t.Stdout)
	root := t.root()
	root.SetArgs(t.Args)
	root.SetOut(t.out)
	root.SetErr(t.Stderr)
	err := root.ExecuteContext(ctx)
	unwritten := t.flush()
	if unwritten != nil {
		err = unwritten // whatever was to be told wasn't
	}
	var no *negative
	switch {
	case err == nil:
		return exitOK
	case errors.Is(unwritten, syscall.EPIPE):
		return exitPipe
	case errors.As(err, &no):
		if no.text != "" {
			t.note("%s", no.text)
		}
		return exitNo
	case ctx.Err() != nil:
		t.note("interrupted")
		return exitFailed
	}
	t.note("%v", err)
	return exitFailed
}

// negative is an answer that is told and isn't yes.
type negative struct{ text string }

func (n *negative) Error() string { return n.text }

// tool is one run.
type tool struct {
	Process
	flags flags
	out   *bufio.Writer // of Stdout; its first error stays
	pause func(ctx context.Context, d time.Duration) error
	// sidePort is where the HTTP side is looked for on a nameserver's host.
	sidePort string
}

// flags are those of all commands.
type flags struct {
	namesrv, admin, output       string
	timeout                      time.Duration
	tls, tlsSkipVerify           bool
	tlsCA, tlsCert, tlsKey, tlsN string
}

func (t *tool) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "nsctl",
		Short: "Look into RocketMQ nameservers and compare them",
		Long: "nsctl looks into RocketMQ nameservers. diff works with any, through the protocol that brokers and clients speak;\n" +
			"top, route and broker show more of a Waymark nameserver whose HTTP side (adminListen) can be reached.\n\n" +
			"Exit codes: 0; 1 if nameservers differ, there is no such route or broker, a file has problems, or no drain has begun;\n" +
			"2 if that couldn't be told; 141 if nobody reads the output any more.",
		Version:      build.Read().String(),
		SilenceUsage: true, SilenceErrors: true,
	}
	f := root.PersistentFlags()
	f.StringVarP(&t.flags.namesrv, "namesrv", "n", "", "nameservers, `host:port;host:port`, with or without port, IPv6 with or without brackets (default $NAMESRV_ADDR, else 127.0.0.1:9876)")
	f.StringVar(&t.flags.admin, "admin", "", "HTTP side of the nameserver, `host:port`; of several nameservers as many (default port 9870 of the same host)")
	f.StringVarP(&t.flags.output, "output", "o", "table", "`form` of what is written: table or json")
	f.DurationVar(&t.flags.timeout, "timeout", 5*time.Second, "`time` to connect, and for each answer")
	f.BoolVar(&t.flags.tls, "tls", false, "speak TLS with the nameservers")
	f.StringVar(&t.flags.tlsCA, "tls-ca", "", "PEM `file` of who may have signed their certificates (default: the system's)")
	f.StringVar(&t.flags.tlsCert, "tls-cert", "", "PEM `file` of our certificate, for those that ask for one")
	f.StringVar(&t.flags.tlsKey, "tls-key", "", "PEM `file` of its key")
	f.StringVar(&t.flags.tlsN, "tls-server-name", "", "`name` that their certificates must have (default: the host)")
	f.BoolVar(&t.flags.tlsSkipVerify, "tls-skip-verify", false, "take any certificate")
	_ = root.RegisterFlagCompletionFunc("output", cobra.FixedCompletions([]string{"table", "json"}, cobra.ShellCompDirectiveNoFileComp))
	root.PersistentPreRunE = func(*cobra.Command, []string) error { return t.flags.check() }
	root.AddCommand(t.diffCommand(), t.routeCommand(), t.brokerCommand(), t.topCommand(), t.eventsCommand(), t.drainCommand(), t.checkConfigCommand())
	return root
}

func (f *flags) check() error {
	if f.output != "table" && f.output != "json" {
		return fmt.Errorf("--output %q is neither table nor json", f.output)
	}
	if f.timeout <= 0 {
		return fmt.Errorf("--timeout %s is no time to wait", f.timeout)
	}
	return nil
}

func (t *tool) json() bool { return t.flags.output == "json" }

// note writes a line to standard error, behind what was written to standard output.
func (t *tool) note(format string, a ...any) {
	_ = t.out.Flush() // the error stays
	_, _ = fmt.Fprintf(t.Stderr, "nsctl: %s\n", line(fmt.Sprintf(format, a...)))
}

// pause returns after d, or with the error of ctx.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
