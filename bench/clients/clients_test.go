//go:build linux

package clients

import (
	"strings"
	"testing"
	"time"

	"github.com/waymark-mq/waymark/bench/phase"
	"github.com/waymark-mq/waymark/bench/topology"
	"github.com/waymark-mq/waymark/codec"
	"github.com/waymark-mq/waymark/profiles"
)

// workload of four topics on two brokers.
func workload(connections int) *profiles.Workload {
	return &profiles.Workload{
		Seed: 1, Duration: 100 * time.Millisecond,
		Fleet:   profiles.Fleet{Clusters: 1, Brokers: 2, Topics: 4},
		Clients: profiles.Clients{Connections: connections, Depth: 1, Header: profiles.JSON, Version: 513, Mix: profiles.Mix{Route: 1}},
	}
}

func runOn(t *testing.T, addr string, w *profiles.Workload, drivers int) (*Clients, Outcome) {
	t.Helper()
	c, err := Open(Options{Addr: addr, Workload: w, Topology: topology.New(&w.Fleet, w.Seed), Drivers: drivers})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	o, err := c.Run(phase.Of(w, phase.Now()))
	if err != nil {
		t.Fatal(err)
	}
	return c, o
}

// TestStallCountsForEveryRequestOfIt is what an open loop is for: the server answers nothing for the first 400 ms, and all
// requests that were due meanwhile waited from when they were due, though the first one alone was ever in its hands.
func TestStallCountsForEveryRequestOfIt(t *testing.T) {
	const stall = 400 * time.Millisecond
	s := startFake(t, func(n int, c *codec.Command) *codec.Header {
		if n == 1 { // the first comes while connecting
			<-time.After(stall)
		}
		return well(c)
	})
	w := workload(1)
	w.Duration, w.Clients.Rate = 600*time.Millisecond, 1000
	c, o := runOn(t, s.addr, w, 1)
	if o.Sent != 600 || c.Answered() != 600 || o.Measured.Latency.Count != 600 || o.Unanswered != 0 {
		t.Fatalf("%d sent, %d answered, %d recorded, %d unanswered; 600 were due", o.Sent, c.Answered(), o.Measured.Latency.Count, o.Unanswered)
	}
	// Two thirds of the requests were due during the stall and waited half of it on average.
	if mean := o.Measured.Latency.Mean; mean < stall/2*2/3*9/10 {
		t.Errorf("a mean of %v hides the stall", mean)
	}
	if first := o.Measured.Series[0]; first.Count != 100 || first.P50 < stall-100*time.Millisecond {
		t.Errorf("the first 100 ms: %+v", first)
	}
}

func TestClosedLoop(t *testing.T) {
	for _, header := range []profiles.Header{profiles.JSON, profiles.RocketMQ} {
		s := startFake(t, func(_ int, c *codec.Command) *codec.Header {
			if topic, _ := c.Field("topic"); strings.HasPrefix(string(topic), "T") && c.Version == 513 {
				return well(c)
			}
			return &codec.Header{Code: 17, Opaque: c.Opaque, Flag: codec.FlagResponse, Version: 513, Remark: "none", HasRemark: true}
		})
		w := workload(5)
		w.Warmup, w.Clients.Depth, w.Clients.Header, w.Clients.Mix.Miss = 20*time.Millisecond, 3, header, 1
		c, o := runOn(t, s.addr, w, 2)
		if o.Sent == 0 || o.Sent%3 != 0 || o.Sent != c.Answered() || o.Unanswered != 0 || o.LostCount != 0 || o.Strangers != 0 {
			t.Errorf("%s: %+v, %d answered", header, o, c.Answered())
		}
		if o.NotFound != o.Misses || len(o.Refused) != 0 {
			t.Errorf("%s: %d of %d requests were for missing topics, %d were not found, %v", header, o.Misses, o.Sent, o.NotFound, o.Refused)
		}
		if l := o.Measured.Latency; l.Count > o.Sent || o.Measured.Bytes < 100*l.Count {
			t.Errorf("%s: measured %+v, %d bytes", header, l, o.Measured.Bytes)
		}
		if s.seen() != int(o.Sent)+5 {
			t.Errorf("%s: the server saw %d requests, %d were sent and one for each connection before", header, s.seen(), o.Sent)
		}
	}
}

// TestPhasesAreApart has a quiet phase, and a server that stalls after it.
func TestPhasesAreApart(t *testing.T) {
	s := startFake(t, func(n int, c *codec.Command) *codec.Header {
		if n == 150 {
			<-time.After(200 * time.Millisecond)
		}
		return well(c)
	})
	w := workload(1)
	w.Quiet, w.Duration, w.Clients.Rate = 100*time.Millisecond, 100*time.Millisecond, 1000
	_, o := runOn(t, s.addr, w, 1)
	if o.Quiet.Latency.Count != 100 || o.Measured.Latency.Count != 100 {
		t.Errorf("%d and %d requests, want 100 each", o.Quiet.Latency.Count, o.Measured.Latency.Count)
	}
	if o.Measured.Latency.Max < 150*time.Millisecond {
		t.Errorf("measured %+v", o.Measured.Latency)
	}
}

func TestFaultsAreCounted(t *testing.T) {
	t.Run("refused", func(t *testing.T) {
		s := startFake(t, func(n int, c *codec.Command) *codec.Header {
			h := well(c)
			if n > 0 {
				h.Code = 2
			}
			return h
		})
		if _, o := runOn(t, s.addr, workload(1), 1); o.Refused[2] != o.Sent || o.Sent == 0 {
			t.Errorf("%+v", o)
		}
	})
	t.Run("lost", func(t *testing.T) {
		for _, rate := range []float64{0, 1000} {
			s := startFake(t, func(n int, c *codec.Command) *codec.Header {
				if n == 0 {
					return well(c)
				}
				return nil
			})
			w := workload(1)
			w.Clients.Rate = rate
			if _, o := runOn(t, s.addr, w, 1); o.LostCount != 1 || len(o.Lost) != 1 || o.Unanswered == 0 {
				t.Errorf("rate %g: %+v", rate, o)
			}
		}
	})
	t.Run("another opaque", func(t *testing.T) {
		s := startFake(t, func(_ int, c *codec.Command) *codec.Header {
			h := well(c)
			h.Opaque = 7
			return h
		})
		w := workload(1)
		w.Clients.Rate = 500
		if _, o := runOn(t, s.addr, w, 1); o.Strangers != o.Sent || o.Unanswered != 0 || o.Measured.Latency.Count != o.Sent {
			t.Errorf("%+v", o)
		}
	})
	t.Run("nobody there", func(t *testing.T) {
		w := workload(1)
		if _, err := Open(Options{Addr: "127.0.0.1:1", Workload: w, Topology: topology.New(&w.Fleet, 1)}); err == nil || !strings.Contains(err.Error(), "connect to 127.0.0.1:1") {
			t.Error(err)
		}
	})
}

// TestCold opens each connection only when it is used.
func TestCold(t *testing.T) {
	s := startFake(t, func(_ int, c *codec.Command) *codec.Header { return well(c) })
	w := workload(50)
	w.Cold, w.Clients.Rate = true, 1000
	_, o := runOn(t, s.addr, w, 1)
	if o.Sent != 100 || s.seen() != 100 || o.LostCount != 0 || o.Measured.Latency.Count != 100 {
		t.Errorf("%+v, the server saw %d", o, s.seen())
	}
}
