package harness

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

const (
	nameserverStartLimit = 30 * time.Second
	nameserverStopLimit  = 10 * time.Second
)

// Nameserver is a nameserver under test, on one loopback port for its whole life, whatever program it is. Both
// programs get the same properties file and the same home, so that they can be compared.
type Nameserver struct {
	Name string // of the program: apache or waymark
	Addr string
	Dir  string // its home; all its files are below

	command func(configFile string) *exec.Cmd
	port    int
	process *Process
}

// NewApacheNameserver describes Apache's nameserver of the version of jars, with its files below dir.
func NewApacheNameserver(java *Java, jars Jars, dir string) (*Nameserver, error) {
	return newNameserver("apache", dir, func(configFile string) *exec.Cmd {
		return java.command(context.Background(), run{
			classPath: []string{jars.classPath()}, heapMiB: 256, home: dir,
			class: "org.apache.rocketmq.namesrv.NamesrvStartup", args: []string{"-c", configFile},
		})
	})
}

// NewWaymarkNameserver describes Waymark as built at binary, with its files below dir.
func NewWaymarkNameserver(binary, dir string) (*Nameserver, error) {
	return newNameserver("waymark", dir, func(configFile string) *exec.Cmd {
		cmd := exec.Command(binary, "-c", configFile)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "ROCKETMQ_HOME="+dir, "HOME="+dir)
		return cmd
	})
}

func newNameserver(name, dir string, command func(string) *exec.Cmd) (*Nameserver, error) {
	port, err := FreePort()
	if err != nil {
		return nil, err
	}
	if err := writeLogConfig(dir, logServer); err != nil { // makes dir
		return nil, err
	}
	return &Nameserver{Name: name, Addr: Loopback(port), Dir: dir, command: command, port: port}, nil
}

// Start starts the program and waits until it answers.
func (n *Nameserver) Start() error {
	config := filepath.Join(n.Dir, "namesrv.properties")
	text := fmt.Sprintf("bindAddress=127.0.0.1\nlistenPort=%d\n", n.port)
	if err := os.WriteFile(config, []byte(text), 0o644); err != nil {
		return fmt.Errorf("harness: %w", err)
	}
	var err error
	if n.process, err = StartProcess(n.Name, n.Dir, n.command(config)); err != nil {
		return err
	}
	return Eventually(nameserverStartLimit, func() error {
		return n.Ask(func(a *Asker) error {
			_, err := a.HasBroker("", "")
			return err
		})
	}, n.process)
}

// Ask connects, asks and disconnects.
func (n *Nameserver) Ask(question func(*Asker) error) error {
	asker, err := Dial(n.Addr)
	if err != nil {
		return err
	}
	defer asker.Close()
	return question(asker)
}

// Stop asks the program to stop and returns how it ended: nil for exit status 0. The port stays its own.
func (n *Nameserver) Stop() error {
	if n.process == nil {
		return errors.New("harness: nameserver was never started")
	}
	return n.process.Stop(nameserverStopLimit)
}

// Running reports whether the program's process runs.
func (n *Nameserver) Running() bool { return n.process != nil && n.process.Running() }

// Kill ends the program's process and waits for its end.
func (n *Nameserver) Kill() { killAndWait(n.process) }

// Logs returns the end of what the program logged.
func (n *Nameserver) Logs() string { return tailOutput(n.Name+" nameserver", n.Dir) }

// BuildWaymark compiles the nameserver of the module into dir and returns the program's path. WAYMARK_BIN names a
// program to take instead.
func BuildWaymark(moduleRoot, dir string) (string, error) {
	if binary := os.Getenv("WAYMARK_BIN"); binary != "" {
		return binary, nil
	}
	binary := filepath.Join(dir, "namesrv")
	cmd := exec.Command("go", "build", "-o", binary, "./cmd/namesrv")
	cmd.Dir = moduleRoot
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("harness: build waymark: %w\n%s", err, out)
	}
	return binary, nil
}
