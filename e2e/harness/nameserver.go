package harness

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const (
	nameserverStartLimit = 2 * time.Minute
	nameserverStopLimit  = time.Minute
)

// Program is what a nameserver runs: Apache's of some version, or Waymark. Both get the same properties file and the
// same home, so that they can be compared, and one can take the place of the other.
type Program struct {
	Name    string // apache, waymark or rust
	Version string // Apache's; empty for Waymark

	command func(home, configFile string) *exec.Cmd
}

// ApacheProgram is Apache's nameserver of the version of jars.
func ApacheProgram(java *Java, jars Jars) Program {
	return Program{Name: "apache", Version: jars.Version, command: func(home, configFile string) *exec.Cmd {
		return java.command(context.Background(), run{
			classPath: []string{jars.classPath()}, heapMiB: 256, home: home,
			class: "org.apache.rocketmq.namesrv.NamesrvStartup", args: []string{"-c", configFile},
		})
	}}
}

// WithJavaOptions is the program with further options of its virtual machine, if it has one. They come last.
func (p Program) WithJavaOptions(options ...string) Program {
	command := p.command
	p.command = func(home, configFile string) *exec.Cmd {
		cmd := command(home, configFile)
		if p.Version != "" {
			class := slices.Index(cmd.Args, "-cp")
			cmd.Args = slices.Insert(cmd.Args, class, options...)
		}
		return cmd
	}
	return p
}

// WaymarkProgram is Waymark as built at binary.
func WaymarkProgram(binary string) Program {
	return Program{Name: "waymark", command: func(home, configFile string) *exec.Cmd {
		cmd := exec.Command(binary, "-c", configFile)
		cmd.Dir = home
		cmd.Env = append(os.Environ(), "ROCKETMQ_HOME="+home, "HOME="+home)
		return cmd
	}}
}

// Nameserver is a nameserver under test, on one loopback port and in one home for its whole life, whatever program it
// runs. Its methods are for one goroutine at a time, except for Ask and Running.
type Nameserver struct {
	Addr string
	Dir  string // its home; all its files are below

	program  Program
	settings []string // key=value, beside its address
	port     int
	process  *Process
}

// NewNameserver describes a nameserver with its files below dir. Settings are lines of its properties file, key=value.
func NewNameserver(program Program, dir string, settings ...string) (*Nameserver, error) {
	port, err := FreePort()
	if err != nil {
		return nil, err
	}
	if err := writeLogConfig(dir, logServer); err != nil { // makes dir
		return nil, err
	}
	return &Nameserver{Addr: Loopback(port), Dir: dir, program: program, settings: settings, port: port}, nil
}

// MoveTo gives the nameserver another address of this machine, before its first start.
func (n *Nameserver) MoveTo(ip string) { n.Addr = fmt.Sprintf("%s:%d", ip, n.port) }

// Program is what it runs, or will run at its next start.
func (n *Nameserver) Program() Program { return n.program }

// Switch makes the next start run another program, on the same port with the same files.
func (n *Nameserver) Switch(program Program) { n.program = program }

// ConfigFile is the properties file that every start reads and an update of the settings writes. The first start
// makes it; later ones leave it as the program left it.
func (n *Nameserver) ConfigFile() string { return filepath.Join(n.Dir, "namesrv.properties") }

// Start starts the program and waits until it answers.
func (n *Nameserver) Start() error {
	if err := n.ensureConfig(); err != nil {
		return err
	}
	var err error
	if n.process, err = StartProcess(n.program.Name, n.Dir, n.program.command(n.Dir, n.ConfigFile())); err != nil {
		return err
	}
	return Eventually(nameserverStartLimit, func() error {
		return n.Ask(func(a *Asker) error {
			_, err := a.HasBroker("", "")
			return err
		})
	}, n.process)
}

func (n *Nameserver) ensureConfig() error {
	if _, err := os.Stat(n.ConfigFile()); err == nil {
		return nil
	}
	host, _, err := net.SplitHostPort(n.Addr)
	if err != nil {
		return fmt.Errorf("harness: %w", err)
	}
	lines := append([]string{"bindAddress=" + host, fmt.Sprintf("listenPort=%d", n.port)}, n.settings...)
	if err := os.WriteFile(n.ConfigFile(), []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
		return fmt.Errorf("harness: %w", err)
	}
	return nil
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

// Stop asks the program to stop and returns how it ended: nil for a proper end. The port stays its own.
func (n *Nameserver) Stop() error {
	if n.process == nil {
		return errors.New("harness: nameserver was never started")
	}
	err := n.process.Stop(nameserverStopLimit)
	// A Java process that is asked to stop ends with a status of its own.
	if exit := (*exec.ExitError)(nil); n.program.Name == "apache" && errors.As(err, &exit) {
		return nil
	}
	return err
}

// Process is the program's running or last process; nil before the first start.
func (n *Nameserver) Process() *Process { return n.process }

// Running reports whether the program's process runs.
func (n *Nameserver) Running() bool { return n.process != nil && n.process.Running() }

// Kill ends the program's process and waits for its end.
func (n *Nameserver) Kill() { killAndWait(n.process) }

// Logs returns the end of what the program logged.
func (n *Nameserver) Logs() string { return tailOutput(n.program.Name+" nameserver", n.Dir) }

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
