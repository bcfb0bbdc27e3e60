package main

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/waymark-mq/waymark/codec"
	"github.com/waymark-mq/waymark/namesrv"
	"github.com/waymark-mq/waymark/namesrv/settings"
	"github.com/waymark-mq/waymark/remoting"
)

const waitLimit = 20 * time.Second

// asTool makes this test's binary the tool.
const asTool = "NSCTL_TEST_AS_TOOL"

func TestMain(m *testing.M) {
	if os.Getenv(asTool) != "" {
		main()
	}
	os.Exit(m.Run())
}

func tool(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	c := exec.CommandContext(t.Context(), os.Args[0], args...)
	c.Env = append(os.Environ(), asTool+"=1")
	return c
}

// run returns the exit code, -1 if a signal ended it.
func run(t *testing.T, c *exec.Cmd) (code int, stdout, stderr string) {
	t.Helper()
	var errs bytes.Buffer
	c.Stderr = &errs
	var out bytes.Buffer
	if c.Stdout == nil {
		c.Stdout = &out
	}
	err := c.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return c.ProcessState.ExitCode(), out.String(), errs.String()
}

func start(t *testing.T) *namesrv.Server {
	t.Helper()
	c := settings.Default(settings.Env{HomeDir: t.TempDir()})
	c.BindAddress, c.ListenPort, c.EventLoops = "127.0.0.1", 0, 1
	s, err := namesrv.New(namesrv.Options{Settings: c, Logger: slog.New(slog.DiscardHandler)})
	if err == nil {
		err = s.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), waitLimit)
		defer cancel()
		if err := s.Stop(ctx); err != nil {
			t.Error(err)
		}
	})
	return s
}

// The exit code is what scripts and monitoring go by.
func TestExitCodes(t *testing.T) {
	a, b, other := start(t), start(t), start(t)
	peer, err := remoting.Dial(t.Context(), other.Addr(), remoting.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer peer.Close()
	put := codec.Header{Code: codec.RequestPutKVConfig, ExtFields: []codec.ExtField{{Name: "namespace", Value: "ORDER_TOPIC_CONFIG"}, {Name: "key", Value: "k"}, {Name: "value", Value: "v"}}}
	if err := peer.Call(t.Context(), put, nil, func(*codec.Command) error { return nil }); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		args   []string
		code   int
		stdout string // is in it
		stderr string
	}{
		{[]string{"diff", "--settle", "1ms", a.Addr(), b.Addr()}, 0, "the same: 0 brokers", ""},
		{[]string{"diff", "--settle", "1ms", a.Addr(), other.Addr()}, 1, "key k", ""},
		{[]string{"diff", a.Addr(), "127.0.0.1:1"}, 2, "", "nsctl: 127.0.0.1:1: "},
		{[]string{"diff", a.Addr()}, 2, "", "nsctl: diff compares two nameservers or more"},
		{[]string{"route", "None", "-n", a.Addr(), "--admin", "127.0.0.1:1"}, 1, "", "nsctl: no route of None"},
		{[]string{"--version"}, 0, "nsctl version ", ""},
		{[]string{"--help"}, 0, "Exit codes:", ""},
		{[]string{}, 0, "Exit codes:", ""},
		{[]string{"nonsense"}, 2, "", `nsctl: unknown command "nonsense"`},
		{[]string{"diff", "--nonsense"}, 2, "", "nsctl: unknown flag: --nonsense"},
		{[]string{"route"}, 2, "", "nsctl: accepts 1 arg(s), received 0"},
		{[]string{"check-config", "/dev/zero"}, 2, "", "neither a regular file nor a pipe"},
	} {
		code, stdout, stderr := run(t, tool(t, tt.args...))
		if code != tt.code || !strings.Contains(stdout, tt.stdout) || !strings.Contains(stderr, tt.stderr) || tt.stdout == "" && stdout != "" || tt.stderr == "" && stderr != "" {
			t.Errorf("%q: exit %d, want %d; %s%s", tt.args, code, tt.code, stdout, stderr)
		}
	}
}

// What couldn't be written is no success.
func TestOutputThatIsFull(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip(err)
	}
	defer full.Close()
	c := tool(t, "--help")
	c.Stdout = full
	if code, _, stderr := run(t, c); code != 2 || !strings.Contains(stderr, "no space left") {
		t.Errorf("exit %d, %s", code, stderr)
	}
	c = tool(t, "--help")
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	_ = r.Close()
	defer w.Close()
	c.Stdout = w
	if code, _, stderr := run(t, c); code != -1 || stderr != "" || !strings.Contains(c.ProcessState.String(), "broken pipe") {
		t.Errorf("exit %d, %v, %s", code, c.ProcessState, stderr)
	}
}

// The first interrupt ends a command in order, as its exit code says; the second would end it however it hangs.
func TestInterrupt(t *testing.T) {
	a := start(t)
	c := tool(t, "top", "--interval", "10ms", "-o", "json", "-n", a.Addr(), "--admin", "127.0.0.1:1")
	r, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	if err := c.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	for err = nil; err == nil; {
		_, err = r.Read(make([]byte, 4096))
	}
	if err := c.Wait(); err != nil {
		t.Error(err)
	}
}
