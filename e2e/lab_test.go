//go:build e2e

package e2e

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/waymark-mq/waymark/e2e/harness"
)

// nameservers are the programs that every test runs on. Apache's is the control.
var nameservers = []string{"apache", "waymark"}

// Versions of Apache RocketMQ. The control is of the version that Waymark stands in for.
const (
	currentVersion = "5.5.0"
	oldVersion     = "4.9.7"
)

// lab is what the tests of one run share: the scratch folder, and the peers that are still running.
type lab struct {
	root, dir string
	java      *harness.Java
	javaErr   error // why java is nil
	waymark   func() (binary string, err error)

	mu     sync.Mutex
	stacks map[string]*stack
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
	return m.Run()
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
	l := &lab{root: root, dir: dir, stacks: map[string]*stack{}}
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
	err := l.javaErr
	var jars harness.Jars
	if err == nil {
		jars, err = l.java.Jars(version)
	}
	if errors.Is(err, harness.ErrToolMissing) && os.Getenv("CI") != "true" {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return jars
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
	jars, control := shared.jars(t, brokerVersion), shared.jars(t, currentVersion)
	key := nameserver + "-" + brokerVersion
	shared.mu.Lock()
	s := shared.stacks[key]
	if s == nil {
		s = &stack{}
		shared.stacks[key] = s
	}
	shared.mu.Unlock()
	s.start.Do(func() { s.startErr = s.make(nameserver, filepath.Join(shared.dir, key), jars, control) })
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

func (s *stack) make(nameserver, dir string, jars, control harness.Jars) (err error) {
	home := filepath.Join(dir, "nameserver")
	if nameserver == "apache" {
		s.nameserver, err = harness.NewApacheNameserver(shared.java, control, home)
	} else {
		var binary string
		if binary, err = shared.waymark(); err != nil {
			return err
		}
		s.nameserver, err = harness.NewWaymarkNameserver(binary, home)
	}
	if err != nil {
		return err
	}
	s.broker, err = harness.NewBroker(shared.java, jars, s.nameserver, "broker-a", filepath.Join(dir, "broker"))
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
