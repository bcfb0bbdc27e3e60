package namesrv

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/waymark-mq/waymark/namesrv/settings"
)

// The wall clock jumps by days, ahead and back, as an operator or NTP may set it: nobody expires for it, nobody
// stays for it, no connection ends and no line says that the process stood still. It shows in
// timestamps of registrations that bring none, of events and of the audit file, and nowhere else.
func TestWallClockSteps(t *testing.T) {
	const day = 24 * time.Hour
	var wall atomic.Int64
	wall.Store(firstTime)
	config := settings.Default(settings.Env{HomeDir: t.TempDir()})
	config.AuditLogPath = filepath.Join(t.TempDir(), "audit.log")
	s := newTestServer(t, t.TempDir(), Options{Settings: config, Wall: func() time.Time { return time.UnixMilli(wall.Load()) }})
	s.mustStart()
	step := func(d time.Duration) { wall.Add(d.Milliseconds()) }
	timed := broker("a").set("heartbeatTimeoutMillis", "10000")
	untimed := broker("b").set("heartbeatTimeoutMillis", "10000").raw(`{"topicConfigSerializeWrapper":{"dataVersion":{"counter":1}}}`)
	c := s.dial()
	c.register(timed, untimed)

	for _, d := range []time.Duration{day, -2 * day, 365 * day, -400 * day} {
		step(d)
		s.advance(9 * time.Second)
		c.wantRoute("Base", "a{0=a:10911} 4/4/6/0")
		c.want(timed.query(), `0 {changed=false} {"counter":1,"stateVersion":0,"timestamp":1700000000000}`)
		c.want(untimed.heartbeat(), "0")
		if n := s.table.Load().Brokers(); n != 2 {
			t.Fatalf("%d brokers after the wall clock jumped by %v", n, d)
		}
	}
	c.register(untimed)
	if a := c.call(untimed.query()); !strings.HasSuffix(a.body, fmt.Sprintf(`"timestamp":%d}`, wall.Load())) {
		t.Errorf("version %s, want the wall clock's %d", a, wall.Load())
	}
	events := s.Events(0, maxEvents, anyEvent).Events
	if at := events[len(events)-1].Time; at.UnixMilli() != wall.Load() {
		t.Errorf("event of %v, want the wall clock's %v", at, time.UnixMilli(wall.Load()))
	}
	// Real silence counts while the clock is set back, again and again.
	for range 3 {
		step(-day)
		s.advance(5 * time.Second)
	}
	s.dial().wantRoute("Base", "none")
	c.wantClosed()
	// The writer's line: the loops' timers are real, and may find the tests' clock ahead.
	if lines := s.logged("process stood still: every deadline"); len(lines) > 0 {
		t.Errorf("logged %s", lines)
	}
	s.stop()
	text, err := os.ReadFile(config.AuditLogPath)
	if err != nil {
		t.Fatal(err)
	}
	year, records := time.UnixMilli(firstTime).Year(), 0
	for line := range strings.Lines(string(text)) {
		var r struct{ Time time.Time }
		if err := json.Unmarshal([]byte(line), &r); err != nil || r.Time.Year() < year-1 || r.Time.Year() > year+1 {
			t.Errorf("record of %v (%v): %s", r.Time, err, line)
		}
		records++
	}
	if records == 0 {
		t.Error("no records")
	}
}
