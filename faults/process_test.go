//go:build faults && linux

package faults

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/waymark-mq/waymark/e2e/harness"
)

// waitLimit bounds every wait for something that is to happen: generous, since
// the machine may be busy.
const waitLimit = 30 * time.Second

// program is the program under test.
var program string

func TestMain(m *testing.M) { os.Exit(buildAndRun(m)) }

func buildAndRun(m *testing.M) int {
	dir, err := os.MkdirTemp("", "waymark-faults-")
	if err != nil {
		fmt.Fprintln(os.Stderr, "faults:", err)
		return 1
	}
	defer os.RemoveAll(dir)
	if program, err = harness.BuildWaymark("..", dir); err != nil {
		fmt.Fprintln(os.Stderr, "faults:", err)
		return 1
	}
	return m.Run()
}

// output collects what a process prints.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

func (o *output) has(text string) bool { return strings.Contains(o.String(), text) }

// process is a started program. It ends with the test at the latest.
type process struct {
	t              *testing.T
	cmd            *exec.Cmd
	stdout, stderr output
	done           chan struct{} // closed when it has ended
	exit           int           // valid after done; -1: ended by a signal
}

// run starts a command in a folder that is also its home.
func run(t *testing.T, home string, name string, args ...string) *process {
	t.Helper()
	p := &process{t: t, cmd: exec.Command(name, args...), done: make(chan struct{})}
	p.cmd.Dir = home
	p.cmd.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH")}
	p.cmd.Stdout, p.cmd.Stderr = &p.stdout, &p.stderr
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} // a test that times out cleans nothing up
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = p.cmd.Wait() // the exit code says it all
		p.exit = p.cmd.ProcessState.ExitCode()
		close(p.done)
	}()
	t.Cleanup(func() {
		p.kill()
		if p.stderr.has("DATA RACE") { // it is built with the detector, and may have been killed before it could exit with a code of its own
			t.Error("a data race")
		}
		if t.Failed() {
			t.Logf("exit %d\nstdout:\n%s\nstderr:\n%s", p.exit, p.stdout.String(), p.stderr.String())
		}
	})
	return p
}

func (p *process) signal(s os.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		p.t.Fatal(err)
	}
}

// kill ends the process without asking it and waits for its end.
func (p *process) kill() {
	p.signal(syscall.SIGKILL)
	<-p.done
}

// wantExit waits for the end of the process by itself.
func (p *process) wantExit(code int, limit time.Duration) {
	p.t.Helper()
	select {
	case <-p.done:
	case <-time.After(limit):
		p.t.Fatalf("still running after %v", limit)
	}
	if p.exit != code {
		p.t.Fatalf("exit code %d, want %d", p.exit, code)
	}
}

// stop ends the process as an operator does.
func (p *process) stop() {
	p.t.Helper()
	p.signal(syscall.SIGTERM)
	p.wantExit(0, waitLimit)
}

// ofSize marks a test whose subject is how much the program holds or takes. One that is built with checks (-short) is another program.
func ofSize(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("what it takes is another program's")
	}
}

// waitFor polls until ok says so.
func waitFor(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(waitLimit); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("no %s within %v", what, waitLimit)
		}
	}
}
