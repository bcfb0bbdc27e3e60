package namesrv

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/waymark-mq/waymark/core"
	"github.com/waymark-mq/waymark/namesrv/settings"
	"github.com/waymark-mq/waymark/netpoll"
)

// waitLimit bounds every wait for something that has to come.
const waitLimit = 20 * time.Second

// testServer is a server on a free loopback port with a clock that stands still.
type testServer struct {
	*Server
	t     *testing.T
	clock *fakeClock
	logs  *logLines
	home  string // where its files are
}

// start starts a server with Apache's defaults but for the given changes.
func start(t *testing.T, changes ...func(*settings.Settings)) *testServer {
	t.Helper()
	return startIn(t, t.TempDir(), changes...)
}

// startIn starts a server whose files are below home.
func startIn(t *testing.T, home string, changes ...func(*settings.Settings)) *testServer {
	t.Helper()
	c := settings.Default(settings.Env{HomeDir: home})
	for _, change := range changes {
		change(c)
	}
	s := newTestServer(t, home, Options{Settings: c})
	s.mustStart()
	return s
}

// newTestServer makes a server that is not started yet.
func newTestServer(t *testing.T, home string, o Options) *testServer {
	t.Helper()
	s := &testServer{t: t, clock: newFakeClock(), logs: &logLines{}, home: home}
	o.Settings.BindAddress, o.Settings.ListenPort = "127.0.0.1", 0
	if o.Settings.EventLoops == 0 {
		o.Settings.EventLoops = 2
	}
	o.Clock, o.Logger = s.clock, s.logs.logger()
	server, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	s.Server = server
	return s
}

func (s *testServer) mustStart() {
	s.t.Helper()
	if err := s.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(s.stop)
	s.barrier() // the writer has its ticker
}

// stop stops the server; again, it does nothing.
func (s *testServer) stop() {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), waitLimit)
	defer cancel()
	if err := s.Stop(ctx); err != nil && !errors.Is(err, context.Canceled) {
		s.t.Errorf("stop: %v", err)
	}
}

// kvPath and configPath are the server's files.
func (s *testServer) kvPath() string { return filepath.Join(s.home, "namesrv", "kvConfig.json") }
func (s *testServer) configPath() string {
	return filepath.Join(s.home, "namesrv", "namesrv.properties")
}

// barrier waits until the writer has applied what was queued before, effects included:
// those of a step come after its answers, so it takes two.
func (s *testServer) barrier() {
	s.t.Helper()
	for range 2 {
		done := make(chan struct{})
		s.changes.push(change{command: nothing, then: func() { close(done) }})
		s.await(done, "the writer")
	}
}

// logged returns the lines logged so far that hold a text.
func (s *testServer) logged(text string) []string {
	s.t.Helper()
	s.barrier()
	return s.logs.with(text)
}

// parkWriter stops the writer inside a step until release is called.
func (s *testServer) parkWriter() (release func()) {
	s.t.Helper()
	parked, released := make(chan struct{}), make(chan struct{})
	s.changes.push(change{command: nothing, then: func() {
		close(parked)
		<-released
	}})
	s.await(parked, "the writer")
	release = sync.OnceFunc(func() { close(released) })
	s.t.Cleanup(release)
	return release
}

func (s *testServer) await(done <-chan struct{}, what string) {
	s.t.Helper()
	select {
	case <-done:
	case <-time.After(waitLimit):
		s.t.Fatalf("%s does not come", what)
	}
}

// eventually waits for something that another goroutine brings about.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(waitLimit); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s: not within %v", what, waitLimit)
		}
	}
}

// live is what the table holds of a broker.
func (s *testServer) live(cluster, addr string) (*core.Live, bool) {
	return s.table.Load().Live([]byte(cluster), []byte(addr))
}

// pipe is a connection in memory, served by an event loop of its own on the test's goroutine.
func (s *testServer) pipe() *netpoll.Pipe {
	return netpoll.NewPipe(s.NewLoop(), netpoll.Options{Now: s.clock.Now, Logger: s.logger})
}

func mustRead(t testing.TB, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func mustWrite(t testing.TB, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// logLines are the lines logged at level info and above.
type logLines struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *logLines) logger() *slog.Logger { return slog.New(slog.NewTextHandler(l, nil)) }

func (l *logLines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(b)
}

// with returns the lines that hold a text.
func (l *logLines) with(text string) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var lines []string
	for line := range strings.Lines(l.buf.String()) {
		if strings.Contains(line, text) {
			lines = append(lines, strings.TrimSuffix(line, "\n"))
		}
	}
	return lines
}
