package conformance

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/waymark-mq/waymark/namesrv"
	"github.com/waymark-mq/waymark/namesrv/settings"
	"github.com/waymark-mq/waymark/namesrv/tlsconfig"
)

// ours is our server in this process.
type ours struct {
	*namesrv.Server
	*clock
	dir string
}

func (o *ours) Close() {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	o.Stop(ctx)
	os.RemoveAll(o.dir)
}

// startOurs starts our server as cmd/namesrv would with a file of these settings.
func startOurs(config map[string]string) (Target, error) { return startOursWith(config, nil) }

func startOursWith(config map[string]string, tls *tlsconfig.Source) (*ours, error) {
	dir, err := os.MkdirTemp("", "conformance")
	if err != nil {
		return nil, err
	}
	lines := []string{"bindAddress=127.0.0.1"}
	for _, key := range slices.Sorted(maps.Keys(config)) {
		lines = append(lines, key+"="+config[key])
	}
	file := filepath.Join(dir, "namesrv.properties")
	if err := os.WriteFile(file, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		return nil, err
	}
	s, warnings, err := settings.Load(settings.Env{HomeDir: dir, RocketmqHome: dir}, file)
	if err != nil {
		return nil, err
	}
	if len(warnings) > 0 {
		return nil, fmt.Errorf("settings: %v", warnings)
	}
	s.ListenPort = 0
	o := &ours{clock: newClock(), dir: dir}
	if o.Server, err = namesrv.New(namesrv.Options{Settings: s, Logger: slog.New(slog.DiscardHandler), Clock: o.clock, TLS: tls}); err != nil {
		return nil, err
	}
	if err := o.Start(); err != nil {
		os.RemoveAll(dir)
		return nil, err
	}
	go o.clock.idle()
	return o, nil
}

// clock is a server's time that passes only when a recording says so.
type clock struct {
	mu       sync.Mutex
	now, due time.Duration
	interval time.Duration
	ticks    chan time.Time
	stopped  chan struct{}
}

func newClock() *clock {
	return &clock{ticks: make(chan time.Time), stopped: make(chan struct{})}
}

func (c *clock) Now() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return int64(c.now)
}

func (c *clock) Tick(d time.Duration) (<-chan time.Time, func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.interval, c.due = d, c.now+d
	return c.ticks, sync.OnceFunc(func() { close(c.stopped) })
}

// Advance lets d pass. Each tick is offered twice: when the second is taken,
// what the first brought about is done.
func (c *clock) Advance(d time.Duration) {
	for end := time.Duration(c.Now()) + d; ; {
		c.mu.Lock()
		if c.interval == 0 || c.due > end {
			c.now = end
			c.mu.Unlock()
			return
		}
		c.now, c.due = c.due, c.due+c.interval
		c.mu.Unlock()
		for range 2 {
			select {
			case c.ticks <- time.Time{}:
			case <-c.stopped:
				return
			}
		}
	}
}

// idle lets ticks come while the time stands still, until the server stops. A scan that waits for a busy loop makes the
// server put off the next one, and only a tick makes up for it.
func (c *clock) idle() {
	beats := time.NewTicker(5 * time.Millisecond)
	defer beats.Stop()
	for {
		select {
		case <-beats.C:
		case <-c.stopped:
			return
		}
		select {
		case c.ticks <- time.Time{}:
		case <-c.stopped:
			return
		}
	}
}

func TestClock(t *testing.T) {
	c := newClock()
	ticks, stop := c.Tick(5 * time.Second)
	defer stop()
	var at []time.Duration
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 3 {
			<-ticks
			at = append(at, time.Duration(c.Now()))
			<-ticks
		}
	}()
	c.Advance(6 * time.Second)
	c.Advance(9 * time.Second)
	<-done
	want := []time.Duration{5 * time.Second, 10 * time.Second, 15 * time.Second}
	if !slices.Equal(at, want) {
		t.Errorf("ticks at %v, want %v", at, want)
	}
}
