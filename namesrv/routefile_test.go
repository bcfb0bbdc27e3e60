package namesrv

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/waymark-mq/waymark/namesrv/settings"
)

// keptServer is a server that keeps its routes below home, not started yet. Nothing refuses connections.
func keptServer(t *testing.T, home string, o Options, changes ...func(*settings.Settings)) *testServer {
	t.Helper()
	o.Settings = settings.Default(settings.Env{HomeDir: home})
	o.Settings.RouteSnapshotPath = filepath.Join(home, "routes")
	for _, change := range changes {
		change(o.Settings)
	}
	s := newTestServer(t, home, o)
	s.Server.check.dial = func(context.Context, string) error { return nil }
	return s
}

func startKept(t *testing.T, home string, changes ...func(*settings.Settings)) *testServer {
	t.Helper()
	s := keptServer(t, home, Options{}, changes...)
	s.mustStart()
	return s
}

// wrote waits until the file was written n times in all.
func (s *testServer) wrote(n uint64) {
	s.t.Helper()
	eventually(s.t, "the file of routes", func() bool { return s.routes.written.Load() == n && !s.routes.busy.Load() })
}

const (
	baseOfA = "a{0=a:10911} 4/4/6/0"
	inGrace = 60 * time.Second
)

// A server that stopped in order and starts again serves its routes at once, to clients; to their broker it is empty.
func TestRestartServesRoutesAtOnce(t *testing.T) {
	home := t.TempDir()
	s := startKept(t, home)
	c := s.dial()
	c.register(broker("a"), broker("a").slave(1), broker("b").having(named("Base", "B")...))
	requests := []request{routeOf("Base"), routeOf("B"), ask(106), ask(206), ask(901, "brokerName", "a"), ask(224, "cluster", "DefaultCluster")}
	var want []string
	for _, r := range requests {
		want = append(want, c.call(r).String())
	}
	s.stop()

	s = startKept(t, home)
	c = s.dial()
	for i, r := range requests {
		if got := c.call(r).String(); got != want[i] {
			t.Errorf("request %d of the restarted server: %s, want %s", r.code, got, want[i])
		}
	}
	if r, _ := s.Restored(); r.String() != "restored 3 brokers of 1 clusters, 0 confirmed, 3 to come, 60 s left" {
		t.Errorf("%s", r)
	}
	if a := c.call(broker("a").query()); a.fields["changed"] != "true" || a.body != "" {
		t.Errorf("322 of a broker that hasn't registered: %s", a)
	}
	c.want(broker("a").heartbeat(), "0")
	c.register(broker("a").having(named("Base", "New")...))
	if r, _ := s.Restored(); r.Confirmed != 1 || r.ToCome != 2 {
		t.Errorf("%s", r)
	}
	if a := c.call(broker("a").query()); a.fields["changed"] != "false" {
		t.Errorf("322 of a broker that has registered: %s", a)
	}
	for range 6 {
		s.advance(inGrace / 6)
		c.want(broker("a").heartbeat(), "0")
		c.want(broker("b").heartbeat(), "0") // confirms nothing
	}
	s.advance(5 * time.Second)
	c.wantRoute("Base", baseOfA)
	c.wantRoute("Pad", "none") // a no longer has it
	c.wantRoute("B", "none")
	if _, still := s.Restored(); still || len(s.logged("restored routes are confirmed or gone")) != 1 {
		t.Error("the grace isn't over, or nobody says so")
	}
	if lines := s.logged("restored 3 brokers of 1 clusters, 1 confirmed, 2 to come"); len(lines) != 1 {
		t.Errorf("%q", lines)
	}
}

// A process that is killed leaves a file of some seconds ago at the most: changes are written after an interval, and nothing
// otherwise but four times in the age that a file may have.
func TestRoutesAreWrittenAfterChanges(t *testing.T) {
	home := t.TempDir()
	s := startKept(t, home)
	c := s.dial()
	s.advance(time.Second)
	if _, err := os.Stat(filepath.Join(home, "routes")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("written without a change: %v", err)
	}
	c.register(broker("a"))
	s.advance(pulse)
	s.wrote(1)
	c.register(broker("b"))
	s.advance(9 * time.Second)
	s.wrote(1)
	s.advance(time.Second)
	s.wrote(2)
	for range 6 { // beats change nothing
		s.advance(10 * time.Second)
		c.call(broker("a").heartbeat())
		c.call(broker("b").heartbeat())
	}
	s.wrote(2)
	s.advance(20 * time.Second)
	s.wrote(3)
	if m := s.Metrics(t.Context()).RouteFile; m.Bytes == 0 || m.Failed != 0 || m.Age <= 0 || m.Age > 20*time.Second {
		t.Errorf("%+v", m)
	}

	killed := t.TempDir()
	mustWrite(t, filepath.Join(killed, "routes"), mustRead(t, filepath.Join(home, "routes")))
	startKept(t, killed).dial().wantRoute("Base", baseOfA+"; b{0=b:10911} 4/4/6/0")
}

// What can't be used is told in one line, and the server starts without.
func TestRoutesThatAreNoUse(t *testing.T) {
	home := t.TempDir()
	s := startKept(t, home)
	s.dial().register(broker("a"))
	s.stop()
	path := filepath.Join(home, "routes")
	good := mustRead(t, path)
	wall := time.Now().UnixMilli()
	for _, tt := range []struct {
		name, content, line string
		wall                int64
		aside               bool
	}{
		{"cut", good[:len(good)-1], "was set aside", wall, true},
		{"changed", strings.Replace(good, "Base", "base", 1), "was set aside", wall, true},
		{"empty", "", "was set aside", wall, true},
		{"old", good, "too old", wall + 301_000, false},
		{"of the future", good, "from the future", wall - 120_000, false},
		{"a little of the future", good, "routes of an earlier process restored", wall - 30_000, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			home := t.TempDir()
			path := filepath.Join(home, "routes")
			mustWrite(t, path, tt.content)
			s := keptServer(t, home, Options{Wall: func() time.Time { return time.UnixMilli(tt.wall) }})
			s.mustStart()
			if lines := s.logged(tt.line); len(lines) != 1 {
				t.Errorf("lines %q of %q", lines, s.logged(""))
			}
			want := "none"
			if tt.name == "a little of the future" {
				want = baseOfA
			}
			s.dial().wantRoute("Base", want)
			if tt.aside && mustRead(t, path+".corrupt") != tt.content {
				t.Error("set aside is something else")
			}
		})
	}
}

// A file that can't be written or read is told of, and everything else goes on.
func TestRoutesWithoutADisk(t *testing.T) {
	home := t.TempDir()
	obstacle := filepath.Join(home, "obstacle")
	mustWrite(t, obstacle, "x")
	s := startKept(t, home, func(c *settings.Settings) { c.RouteSnapshotPath = filepath.Join(obstacle, "routes") })
	c := s.dial()
	c.register(broker("a"))
	s.advance(pulse)
	eventually(t, "the failure", func() bool { return s.routes.failed.Load() == 1 && !s.routes.busy.Load() })
	if lines := s.logged("routes not written"); len(lines) != 1 {
		t.Errorf("%q", lines)
	}
	c.wantRoute("Base", baseOfA)
	if err := os.Remove(obstacle); err != nil {
		t.Fatal(err)
	}
	s.advance(10 * time.Second) // tried again, though nothing has changed
	s.wrote(1)

	s = startKept(t, home, func(c *settings.Settings) { c.RouteSnapshotPath = home })
	if lines := s.logged("can't be read"); len(lines) != 1 {
		t.Errorf("%q", lines)
	}
	s.dial().wantRoute("Base", "none")
}

// A path that another file has already is refused.
func TestRoutesInAnothersFile(t *testing.T) {
	home := t.TempDir()
	s := keptServer(t, home, Options{}, func(c *settings.Settings) { c.RouteSnapshotPath = c.KVConfigPath })
	if err := s.Start(); err == nil || !strings.Contains(err.Error(), "kvConfigPath are the same file") {
		t.Errorf("%v", err)
	}
}

// Restored routes aren't held back, and no others are kept without a path.
func TestRestoredRoutesNeedNoWait(t *testing.T) {
	home := t.TempDir()
	s := startKept(t, home)
	s.dial().register(broker("a"))
	s.stop()
	wait := func(c *settings.Settings) { c.NeedWaitForService = true }
	s = startKept(t, home, wait)
	c := s.dial()
	c.wantRoute("Base", baseOfA)
	c.want(configure("needWaitForService=true\nwaitSecondsForService=86400"), "0")
	c.wantRoute("Base", baseOfA)
	c.wantRoute("None", "none")
	if s.State() != Serving {
		t.Errorf("%v", s.State())
	}
	s = startKept(t, t.TempDir(), wait)
	s.dial().want(routeOf("Base"), `1 "name server not ready"`)
	if s = start(t); s.routes != nil || s.Metrics(t.Context()).RouteFile != (RouteFileStats{}) {
		t.Error("routes are kept without a path")
	}
}

// Only a connection that is refused tells that nobody is there.
func TestRefusedRestoredBrokersGoAtOnce(t *testing.T) {
	home := t.TempDir()
	s := startKept(t, home)
	s.dial().register(broker("a"), broker("b"), broker("c"))
	s.stop()
	s = keptServer(t, home, Options{})
	var dialled atomic.Int64
	s.check.dial = func(_ context.Context, addr string) error {
		dialled.Add(1)
		switch addr {
		case "b:10911":
			return &os.SyscallError{Syscall: "connect", Err: syscall.ECONNREFUSED}
		case "c:10911":
			return os.ErrDeadlineExceeded
		}
		return nil
	}
	s.mustStart()
	s.check.running.Wait()
	s.barrier()
	s.dial().wantRoute("Base", baseOfA+"; c{0=c:10911} 4/4/6/0")
	if n := dialled.Load(); n != 3 {
		t.Errorf("%d addresses tried", n)
	}
	if lines := s.logged("addresses=3 connected=1 refused=1 unclear=1"); len(lines) != 1 {
		t.Errorf("%q", s.logged("tried"))
	}
	if r, _ := s.Restored(); r.ToCome != 2 {
		t.Errorf("%s", r)
	}
}

// A closed port on this machine is one that refuses; an address that is none, and a name that nobody has, prove nothing.
func TestTryConnect(t *testing.T) {
	s := start(t)
	open := s.Addr()
	if err := tryConnect(t.Context(), open); err != nil {
		t.Errorf("an open port: %v", err)
	}
	s.stop()
	if err := tryConnect(t.Context(), open); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("a closed port: %v", err)
	}
	for _, addr := range []string{"", "127.0.0.1", "127.0.0.1:99999", "nowhere.invalid:1"} {
		if err := tryConnect(t.Context(), addr); err == nil || errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("%q: %v", addr, err)
		}
	}
}

// Restored brokers aren't probed until they register.
func TestRestoredBrokersAreNotProbed(t *testing.T) {
	home, p := t.TempDir(), listenProbed(t)
	b := broker("a").set("brokerAddr", p.addr())
	s := startKept(t, home)
	s.dial().register(b)
	s.stop()
	s = startKept(t, home, looking)
	for range 20 {
		s.look()
	}
	if _, known := s.Probed(cluster, p.addr()); known || s.lookoutMetrics().Answered != 0 {
		t.Error("probed before its registration")
	}
	s.dial().register(b)
	s.lookUntil("a probe", func() bool { return s.lookoutMetrics().Answered > 0 })
}

// The audit file goes on where that of the process before ended: a restored broker that comes tells what is new since, and what goes
// unconfirmed is told like any other end.
func TestAuditOfRestoredBrokers(t *testing.T) {
	home, path := t.TempDir(), filepath.Join(t.TempDir(), "audit.log")
	s := startKept(t, home)
	s.dial().register(broker("a"), broker("b"), broker("c"))
	s.stop()
	s = keptServer(t, home, Options{}, audited(path))
	s.check.dial = func(_ context.Context, addr string) error {
		if addr == "c:10911" {
			return &os.SyscallError{Syscall: "connect", Err: syscall.ECONNREFUSED}
		}
		return nil
	}
	s.mustStart()
	s.check.running.Wait()
	s.barrier()
	c := s.dial()
	c.register(broker("a").having(named("Base", "New")...))
	for range 6 {
		s.advance(inGrace / 6)
		c.want(broker("a").heartbeat(), "0")
	}
	s.advance(5 * time.Second)
	var got []string
	for _, a := range s.accounts(path) {
		text := a.Event
		for _, side := range []*brokerRecord{a.Before, a.After} {
			text += " |"
			if side == nil {
				continue
			}
			for _, q := range side.Queues {
				text += " " + q.Topic
			}
		}
		got = append(got, text)
	}
	want := []string{"broker refused connection | Base Pad |", "broker registered | | New", "broker unconfirmed | Base Pad |", "topics unconfirmed | Pad |"}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("accounts %q, want %q", got, want)
	}
}
