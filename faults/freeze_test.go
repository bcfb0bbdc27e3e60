//go:build faults && linux

package faults

import (
	"fmt"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/waymark-mq/waymark/codec"
)

// loadAllowance is what a busy machine may add to a time limit.
const loadAllowance = 3 * time.Second

// pause is a time for which the process stands still. It ends at an offset from
// the moment at which the next scan is due, so that scans come early, in time and
// late for the heartbeats that wait.
type pause struct{ length, afterScan time.Duration }

// TestFrozen: the nameserver stands still for longer than its brokers' timeouts
// while they go on sending heartbeats. What waits in its sockets counts, so that
// nobody is thrown out; a broker that is really silent afterwards is.
func TestFrozen(t *testing.T) {
	const ms = time.Millisecond
	short := []time.Duration{time.Second, 2 * time.Second, 3 * time.Second}
	for _, c := range []struct {
		name     string
		scan     time.Duration
		timeouts []time.Duration // of each broker
		pauses   []pause
	}{
		{"short scans", 500 * ms, short, []pause{{3500 * ms, 250 * ms}, {1300 * ms, 450 * ms}}},
		{"long scans", 2000 * ms, short, []pause{{1700 * ms, -20 * ms}, {1700 * ms, 100 * ms}, {1700 * ms, 900 * ms}}},
		{"twenty seconds", 1000 * ms, slices.Repeat([]time.Duration{5 * time.Second}, 20), []pause{{20 * time.Second, 300 * ms}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel() // it mostly waits
			unlessLate(t, func(t *testing.T) { frozen(t, c.scan, c.timeouts, c.pauses) })
		})
	}
}

func frozen(t *testing.T, scan time.Duration, timeouts []time.Duration, pauses []pause) {
	s := newSite(t, fmt.Sprint("scanNotActiveBrokerInterval=", scan.Milliseconds()))
	p := s.start()
	started := time.Now()
	var brokers []*broker
	for i, timeout := range timeouts {
		b := s.register(fmt.Sprint("broker-", i), timeout)
		b.beat()
		brokers = append(brokers, b)
	}
	for _, pause := range pauses {
		inScan := (time.Since(started) + pause.length - pause.afterScan) % scan
		time.Sleep(scan - inScan)
		freeze(t, s, p, brokers, pause)
	}
	wantExpiry(t, s, brokers[0], scan, brokers[1:])
}

// freeze stops the process, lets questions pile up, lets it go on and keeps asking for a while.
func freeze(t *testing.T, s *site, p *process, brokers []*broker, pause pause) {
	t.Helper()
	const (
		waiting = 20 // questions that wait when it goes on, and that are under way later
		after   = time.Second
	)
	for _, b := range brokers {
		b.widestGap.Store(0)
	}
	c := s.dial()
	askNext := func() {
		t.Helper()
		if err := c.send(route(brokers[int(c.opaque)%len(brokers)].name)); err != nil {
			t.Fatal(err)
		}
	}
	p.signal(syscall.SIGSTOP)
	time.Sleep(pause.length)
	for range waiting {
		askNext()
	}
	p.signal(syscall.SIGCONT)
	for end := time.Now().Add(after); time.Now().Before(end); time.Sleep(time.Millisecond) {
		a, err := c.next(waitLimit)
		if err != nil {
			t.Fatal(err)
		}
		if b := brokers[int(a.Opaque-1)%len(brokers)]; a.Code != codec.ResponseSuccess {
			b.skipIfLate()
			t.Fatalf("frozen for %+v: question %d, for %s: %d %q", pause, a.Opaque, b.name, a.Code, a.Remark)
		}
		askNext()
	}
	c.close()
	for _, b := range brokers {
		if err := b.ended.Load(); err != nil {
			b.skipIfLate()
			t.Fatalf("frozen for %+v: connection of %s: %v", pause, b.name, err)
		}
	}
}

// wantExpiry stops a broker's heartbeats and measures when its topic goes; the others stay.
func wantExpiry(t *testing.T, s *site, b *broker, scan time.Duration, others []*broker) {
	t.Helper()
	c := s.dial()
	last := b.stop()
	waitFor(t, "expiry", func() bool { return c.call(route(b.name)).Code == codec.ResponseTopicNotExist })
	// A deadline never comes early; the heartbeat was received a little after it was sent.
	if took := time.Since(last); took < b.timeout || took > b.timeout+scan+loadAllowance {
		t.Errorf("%s went %v after its last heartbeat, its timeout is %v", b.name, took, b.timeout)
	}
	for _, other := range others {
		if a := c.call(route(other.name)); a.Code != codec.ResponseSuccess {
			other.skipIfLate()
			t.Errorf("%s went as well: %d %q", other.name, a.Code, a.Remark)
		}
	}
}
