//go:build e2e

package e2e

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/waymark-mq/waymark/e2e/harness"
)

// The programs that every test runs on. Apache's is the control.
const (
	apache  = "apache"
	waymark = "waymark"
)

var nameservers = []string{apache, waymark}

// Versions of Apache RocketMQ. The control is of the version that Waymark stands in for.
const (
	currentVersion = "5.5.0"
	middleVersion  = "5.3.3"
	oldVersion     = "4.9.7"
)

// lab is what the tests of one run share: the scratch folder, and the peers that are still running.
type lab struct {
	root, dir string
	java      *harness.Java
	javaErr   error // why java is nil
	waymark   func() (binary string, err error)

	mu      sync.Mutex
	stacks  map[string]*stack
	classes map[string]func() (string, error) // of a Java program for a version, compiled once
}

// shared is set by TestMain before any test runs.
var shared *lab

func TestMain(m *testing.M) { os.Exit(runTests(m)) }

func runTests(m *testing.M) int {
	l, err := newLab()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer l.close()
	shared = l
	status := m.Run()
	fmt.Printf("\n%s\n", table.markdown())
	if pattern := flag.Lookup("test.run").Value.String(); status != 0 || (pattern != "" && pattern != ".") {
		return status // nothing to publish, or to compare
	}
	if err := table.checkPublished(l.root); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return max(status, 1)
	}
	return status
}

func newLab() (*lab, error) {
	root, err := filepath.Abs("..")
	if err != nil {
		return nil, fmt.Errorf("e2e: %w", err)
	}
	dir, err := os.MkdirTemp("", "waymark-e2e-")
	if err != nil {
		return nil, fmt.Errorf("e2e: %w", err)
	}
	l := &lab{root: root, dir: dir, stacks: map[string]*stack{}, classes: map[string]func() (string, error){}}
	l.java, l.javaErr = harness.FindJava(root)
	l.waymark = sync.OnceValues(func() (string, error) { return harness.BuildWaymark(root, dir) })
	return l, nil
}

// close ends every peer. Nobody needs what they would do on a clean stop, so brokers are killed.
func (l *lab) close() {
	for _, s := range l.stacks {
		s.kill()
	}
	if err := os.RemoveAll(l.dir); err != nil {
		fmt.Fprintln(os.Stderr, "e2e: scratch folder:", err)
	}
}

// jars returns the jars of a version. Without a toolchain the test is skipped, or fails where CI promises to have one.
func (l *lab) jars(t *testing.T, version string) harness.Jars {
	t.Helper()
	need(t, l.javaErr)
	jars, err := l.java.Jars(version)
	need(t, err)
	return jars
}

// need ends the test when a peer can't be prepared: for want of a tool it is skipped, or fails where CI promises to
// have all of them.
func need(t *testing.T, err error) {
	t.Helper()
	if errors.Is(err, harness.ErrToolMissing) && os.Getenv("CI") != "true" {
		table.incomplete.Store(true)
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// program returns the folder of classes of a Java program in peers/java (all its files), compiled against the jars of a version.
func (l *lab) program(t *testing.T, jars harness.Jars, source string) (classes string) {
	t.Helper()
	key := source + " " + jars.Version
	l.mu.Lock()
	compile := l.classes[key]
	if compile == nil {
		compile = sync.OnceValues(func() (string, error) { return l.java.Compile(jars, source, l.dir) })
		l.classes[key] = compile
	}
	l.mu.Unlock()
	classes, err := compile()
	if err != nil {
		t.Fatal(err)
	}
	return classes
}

// apacheProgram is Apache's nameserver of a version.
func apacheProgram(t *testing.T, version string) harness.Program {
	t.Helper()
	return harness.ApacheProgram(shared.java, shared.jars(t, version))
}

// programOf is a nameserver under test: the control of the current version, or Waymark.
func programOf(t *testing.T, nameserver string) harness.Program {
	t.Helper()
	if nameserver == apache {
		return apacheProgram(t, currentVersion)
	}
	binary, err := shared.waymark()
	if err != nil {
		t.Fatal(err)
	}
	return harness.WaymarkProgram(binary)
}

// newNameserver starts a nameserver that belongs to the test.
func newNameserver(t *testing.T, program harness.Program, settings ...string) *harness.Nameserver {
	t.Helper()
	n, err := harness.NewNameserver(program, t.TempDir(), settings...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { n.Kill(); logOnFailure(t, n) })
	if err := n.Start(); err != nil {
		t.Fatal(err)
	}
	return n
}

// newBroker describes a broker that belongs to the test; it isn't started.
func newBroker(t *testing.T, config harness.BrokerConfig) *harness.Broker {
	t.Helper()
	b, err := harness.NewBroker(shared.java, config, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Kill(); logOnFailure(t, b) })
	return b
}

// logOnFailure shows the end of a peer's log when the test has failed.
func logOnFailure(t *testing.T, peer interface{ Logs() string }) {
	if t.Failed() {
		t.Log(peer.Logs())
	}
}

// stack is one nameserver with one broker. Tests share it: it is started by the first that asks for it.
type stack struct {
	nameserver *harness.Nameserver
	broker     *harness.Broker
	start      sync.Once
	startErr   error
}

// stackOf returns the running stack of a nameserver and a broker of a version. What an earlier test ended is started
// again. A failing test shows the end of its peers' logs.
func stackOf(t *testing.T, nameserver, brokerVersion string) *stack {
	t.Helper()
	jars, program := shared.jars(t, brokerVersion), programOf(t, nameserver)
	key := nameserver + "-" + brokerVersion
	shared.mu.Lock()
	s := shared.stacks[key]
	if s == nil {
		s = &stack{}
		shared.stacks[key] = s
	}
	shared.mu.Unlock()
	s.start.Do(func() { s.startErr = s.make(program, filepath.Join(shared.dir, key), jars) })
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(s.logs())
		}
	})
	if s.startErr != nil {
		t.Fatal(s.startErr)
	}
	if err := s.ensureRunning(); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *stack) make(program harness.Program, dir string, jars harness.Jars) (err error) {
	s.nameserver, err = harness.NewNameserver(program, filepath.Join(dir, "nameserver"))
	if err != nil {
		return err
	}
	config := harness.BrokerConfig{Jars: jars, Name: "broker-a", Nameservers: []*harness.Nameserver{s.nameserver}}
	s.broker, err = harness.NewBroker(shared.java, config, filepath.Join(dir, "broker"))
	return err
}

func (s *stack) ensureRunning() error {
	if !s.nameserver.Running() {
		if err := s.nameserver.Start(); err != nil {
			return err
		}
	}
	if !s.broker.Running() {
		return s.broker.Start()
	}
	return s.broker.AwaitRegistered(2 * harness.RegistrationPeriod)
}

func (s *stack) logs() string {
	var text string
	if s.nameserver != nil {
		text += s.nameserver.Logs()
	}
	if s.broker != nil {
		text += s.broker.Logs()
	}
	return text
}

func (s *stack) kill() {
	if s.broker != nil {
		s.broker.Kill()
	}
	if s.nameserver != nil {
		s.nameserver.Kill()
	}
}

// onEach runs a test on every nameserver, at the same time: their brokers' start takes most of it.
func onEach(t *testing.T, test func(t *testing.T, nameserver string)) {
	for _, nameserver := range nameservers {
		t.Run(nameserver, func(t *testing.T) {
			t.Parallel()
			test(t, nameserver)
		})
	}
}
