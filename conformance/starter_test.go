package conformance

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"
)

// The recordings are played on our server, started in this process, unless the
// environment names another nameserver. From that one the recorded answers are
// expected as they are, without our deviations.
const (
	// envAddr is the address of a server that already runs, empty and with the
	// settings of the one recording that is chosen by -run.
	envAddr = "WAYMARK_CONFORMANCE_ADDR"
	// envCommand is a command that runs a nameserver in the foreground. It is
	// given a port, a folder for its files, and settings as key=value.
	envCommand = "WAYMARK_CONFORMANCE_COMMAND"
)

// foreign tells whether the server under test is not ours.
func foreign() bool { return os.Getenv(envAddr) != "" || os.Getenv(envCommand) != "" }

func options() Options {
	if foreign() {
		return Options{}
	}
	return Options{Deviations: Waymark, Immediate: true}
}

// start returns a function that starts fresh servers for this test.
func start(t *testing.T, config map[string]string) func() (Target, error) {
	t.Helper()
	if addr := os.Getenv(envAddr); addr != "" {
		return func() (Target, error) { return runningTarget(addr), nil }
	}
	if command := os.Getenv(envCommand); command != "" {
		return func() (Target, error) { return run(command, t.TempDir(), config) }
	}
	return func() (Target, error) { return startOurs(config) }
}

// process is a nameserver in a process of its own.
type process struct {
	addr string
	cmd  *exec.Cmd
}

func (p *process) Addr() string { return p.addr }

func (p *process) Close() {
	p.cmd.Process.Kill()
	p.cmd.Wait()
}

func run(command, dir string, config map[string]string) (Target, error) {
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	args := append(strings.Fields(command), fmt.Sprint(port), dir)
	for key, value := range config {
		args = append(args, key+"="+value)
	}
	slices.Sort(args[len(args)-len(config):])
	p := &process{addr: fmt.Sprintf("127.0.0.1:%d", port), cmd: exec.Command(args[0], args[1:]...)}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	for end := time.Now().Add(2 * time.Minute); ; time.Sleep(50 * time.Millisecond) {
		c, err := net.Dial("tcp", p.addr)
		if err == nil {
			c.Close()
			return p, nil
		}
		if time.Now().After(end) {
			p.Close()
			return nil, fmt.Errorf("%s does not listen: %w", command, err)
		}
	}
}

func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}
