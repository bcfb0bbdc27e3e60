package namesrv

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/waymark-mq/waymark/namesrv/settings"
	"github.com/waymark-mq/waymark/netpoll"
)

// drainClock lets a test say when a drain goes on.
type drainClock struct {
	t     *testing.T
	asked chan time.Duration // a wait has begun
	over  chan time.Time     // it ends
}

// drainWith makes the server's drain wait for the test.
func (s *testServer) drainWith() *drainClock {
	d := &drainClock{s.t, make(chan time.Duration, 1), make(chan time.Time)}
	s.drain.after = func(t time.Duration) <-chan time.Time {
		d.asked <- t
		return d.over
	}
	return d
}

// pass ends the wait under way and returns how long it was to be.
func (d *drainClock) pass() time.Duration {
	d.t.Helper()
	var asked time.Duration
	select {
	case asked = <-d.asked:
	case <-time.After(waitLimit):
		d.t.Fatal("the drain doesn't wait")
	}
	select {
	case d.over <- time.Time{}:
	case <-time.After(waitLimit):
		d.t.Fatal("the drain doesn't go on")
	}
	return asked
}

// settle waits until the drain waits again.
func (d *drainClock) settle() {
	d.t.Helper()
	select {
	case asked := <-d.asked:
		d.asked <- asked
	case <-time.After(waitLimit):
		d.t.Fatal("the drain doesn't wait")
	}
}

// quiet waits until nothing is under way on any connection: a client may have its answer before the writer is done with the request.
func (s *testServer) quiet() {
	s.t.Helper()
	eventually(s.t, "all connections to be quiet", func() bool {
		ids, _ := s.net.ConnIDs(0, allConns)
		busy, err := netpoll.Collect(s.t.Context(), s.net, ids, func(c *netpoll.Conn) bool {
			s := c.Context.(*session)
			return s.pending.Load() > 0 || s.answering.Load() > 0
		})
		return err == nil && !slices.Contains(busy, true)
	})
}

func draining(seconds int) func(*settings.Settings) {
	return func(c *settings.Settings) { c.DrainSeconds = seconds }
}

// A drain says that it isn't ready, answers on, ends clients' connections one after another and then brokers', and loses no
// broker by it. Whoever comes later is answered, and a client's connection ended in the next round.
func TestDrain(t *testing.T) {
	const route = "a{0=a:10911} 4/4/6/0"
	s := start(t, draining(4))
	d := s.drainWith()
	a := s.dial()
	a.register(broker("a"))
	clients := make([]*client, 15)
	for i := range clients {
		clients[i] = s.dial()
		clients[i].wantRoute("Base", route)
	}
	if !s.Drain("test") || s.Drain("test") {
		t.Error("a drain begins once")
	}
	d.settle()
	if s.State() != Draining {
		t.Errorf("%v", s.State())
	}
	clients[0].wantRoute("Base", route)
	clients[0].want(routeOf("None"), fmt.Sprintf("1 %q", remarkNotReady))
	a.register(broker("a").counter(2))
	a.wantPrefix(ask(901, "brokerName", "a"), `0 "not set any response code" {"brokerMemberGroup":{"brokerAddrs":{0:"a:10911"}`)
	s.quiet()
	if got := d.pass(); got != time.Second {
		t.Errorf("unready for %v before connections end, want a quarter of 4 s", got)
	}
	const steps = 30 // 3 s
	for step := 1; step <= steps; step++ {
		if step == steps { // all clients have gone
			a.want(broker("a").heartbeat(), "0")
			s.quiet()
		}
		if got := d.pass(); got != drainStep {
			t.Fatalf("step of %v", got)
		}
		d.settle()
		if left, want := s.net.ConnCount(), 16-16*step/steps; left != want {
			t.Fatalf("after step %d %d connections are open, want %d", step, left, want)
		}
	}
	for _, c := range append(clients, a) {
		c.wantClosed()
	}

	late, again := s.dial(), s.dial()
	again.want(broker("a").heartbeat(), "0")
	late.wantRoute("Base", route)
	for range steps + 1 { // the round that has begun without them, and the next
		d.pass()
	}
	for s.net.ConnCount() > 1 {
		d.pass()
		d.settle()
	}
	late.wantClosed()
	again.want(broker("a").heartbeat(), "0")
	s.dial().wantRoute("Base", route)
	for _, e := range s.Events(0, 100, anyEvent).Events {
		if e.Kind == "closed" {
			t.Errorf("a drain's end of a connection counts as its broker's: %+v", e)
		}
	}
	wantDrainTold(t, s, "test connections end after 1s, within 3s", "test every connection was ended once: 16")
	if st := s.Status().Drain; st.Ended != 17 || st.Rounds < 2 {
		t.Errorf("%+v", st)
	}
	again.close() // its own end is its broker's
	eventually(t, "the broker's end", func() bool { return s.table.Load().Brokers() == 0 })
	s.dial().want(routeOf("Base"), fmt.Sprintf("1 %q", remarkNotReady))
}

// wantDrainTold compares what events and the log say of a drain's beginning and end: who wanted it, and how it went.
func wantDrainTold(t *testing.T, s *testServer, want ...string) {
	t.Helper()
	eventually(t, fmt.Sprintf("events %q", want), func() bool {
		var got []string
		for _, e := range s.Events(0, maxEvents, func(e *Event) bool { return e.Kind == "drain_begun" || e.Kind == "drain_ended" }).Events {
			got = append(got, e.Peer+" "+e.Detail)
		}
		return slices.Equal(got, want)
	})
	if got := s.logs.with("by=test detail="); len(got) != len(want) {
		t.Errorf("log %q", got)
	}
}

// A connection that the drain has ended counts as none that is open: the expiry guard doesn't hold its broker.
func TestDrainAndExpiryGuard(t *testing.T) {
	s := start(t, draining(0), func(c *settings.Settings) { c.ExpiryGuardPercent = 1 })
	d := s.drainWith()
	c := s.dial()
	c.register(broker("a").set("heartbeatTimeoutMillis", "10000"))
	s.quiet()
	s.Drain("test")
	d.pass()
	for s.net.ConnCount() > 0 { // it may not be quiet yet at the first step
		d.pass()
		d.settle()
	}
	c.wantClosed()
	if l, ok := s.live(cluster, "a:10911"); !ok {
		t.Error("the drain's end of the connection is its broker's")
	} else {
		eventually(t, "nobody owns the broker", func() bool { return l.Cell.Owner() == 0 })
	}
	s.advance(20 * time.Second)
	if n := s.table.Load().Brokers(); n != 0 {
		t.Errorf("%d brokers, want none: it was silent for too long", n)
	}
}

// A connection that waits for an answer is ended once it has it; one that always waits, after some patience.
func TestDrainOfBusyConnections(t *testing.T) {
	s := start(t, draining(0))
	d := s.drainWith()
	c, quiet := s.dial(), s.dial()
	quiet.wantRoute("Base", "none")
	release := s.parkWriter()
	asked := c.send(broker("a").request())
	eventually(t, "the registration waits", func() bool { return s.writeBytes.Load() > 0 })
	s.Drain("test")
	d.pass()
	d.pass()
	d.settle()
	quiet.wantClosed()
	if n := s.net.ConnCount(); n != 1 {
		t.Errorf("%d connections, want the one that waits", n)
	}
	d.pass()
	d.settle()
	release()
	if got := c.wait(asked).String(); got != "0 {}" {
		t.Errorf("registered: %s", got)
	}
	for s.net.ConnCount() > 0 {
		d.pass()
		d.settle()
	}
	c.wantClosed()
}

func TestDrainIsNotForEverPatient(t *testing.T) {
	s := start(t, draining(0))
	d := s.drainWith()
	c := s.dial()
	release := s.parkWriter()
	c.send(broker("a").request())
	eventually(t, "the registration waits", func() bool { return s.writeBytes.Load() > 0 })
	s.Drain("test")
	d.pass()
	for range drainPatience {
		d.pass()
	}
	c.wantClosed()
	release()
	eventually(t, "the registration", func() bool { return s.table.Load().Brokers() == 1 })
}

// A drain that a stop cuts short tells how far it was.
func TestDrainCutShort(t *testing.T) {
	s := start(t, draining(4))
	d := s.drainWith()
	s.dial().register(broker("a"))
	for range 15 {
		s.dial().wantRoute("Base", "a{0=a:10911} 4/4/6/0")
	}
	s.Drain("test")
	d.pass()
	for range 10 { // of 30 steps
		d.pass()
	}
	d.settle()
	s.stop()
	wantDrainTold(t, s, "test connections end after 1s, within 3s", "test the server stopped when 5 of 16 connections were ended")
}

// A stop ends a drain wherever it is, and nothing drains before the start or after the stop.
func TestDrainAndStop(t *testing.T) {
	home := t.TempDir()
	config := settings.Default(settings.Env{HomeDir: home})
	config.AuditLogPath = filepath.Join(home, "audit.log")
	s := newTestServer(t, home, Options{Settings: config})
	if s.Drain("test") {
		t.Error("drains before its start")
	}
	s.mustStart()
	c := s.dial()
	c.register(broker("a"))
	if !s.Drain("test") { // for 20 s
		t.Error("doesn't drain")
	}
	s.stop()
	c.wantClosed()
	if s.Drain("test") || s.State() != Stopping {
		t.Errorf("drains after its stop: %v", s.State())
	}
	wantDrainTold(t, s, "test connections end after 5s, within 15s", "test the server stopped before any connection was to be ended")
	if len(s.logs.with("msg=drained")) > 0 || len(s.logs.with(`msg="drain cut short"`)) != 1 {
		t.Errorf("log %q", s.logs.with("drain"))
	}
	text, err := os.ReadFile(config.AuditLogPath)
	for _, want := range []string{`"event":"drain begun","from":"test","remark":"connections end`, `"event":"drain ended","from":"test","remark":"the server stopped`} {
		if strings.Count(string(text), want) != 1 {
			t.Errorf("%v; no %s in %s", err, want, text)
		}
	}
	if n := s.table.Load().Brokers(); n != 1 {
		t.Errorf("%d brokers", n)
	}
}
