package namesrv

import (
	"slices"
	"testing"
	"time"

	"github.com/waymark-mq/waymark/internal/invariants"
	"github.com/waymark-mq/waymark/internal/raceflag"
	"github.com/waymark-mq/waymark/netpoll"
)

// A loop measures a kind of request once in a millisecond; the others count as the next one that is measured.
func TestLatenciesAreMeasured(t *testing.T) {
	tl := &tally{}
	c := &tl.cells[routeRequest][answeredOK]
	at := int64(time.Hour)
	step := func(after, took time.Duration, waiting uint64, sum time.Duration) {
		t.Helper()
		at += int64(after)
		tl.count(routeRequest, answeredOK, at)
		if len(tl.due) > 0 {
			tl.measure(int64(took))
		}
		if c.waiting != waiting || c.sum != int64(sum) {
			t.Errorf("%d wait, sum %v; want %d, %v", c.waiting, time.Duration(c.sum), waiting, sum)
		}
	}
	step(0, 4*time.Microsecond, 0, 4*time.Microsecond)
	step(100*time.Microsecond, time.Second, 1, 4*time.Microsecond)
	step(899*time.Microsecond, time.Second, 2, 4*time.Microsecond)
	step(time.Microsecond, 30*time.Microsecond, 0, 94*time.Microsecond)
	step(time.Hour, 4*time.Hour, 0, 94*time.Microsecond+4*time.Hour)
	want := [histogramBuckets]uint64{0: 1, 2: 3, histogramBuckets - 1: 1}
	if c.counts != want {
		t.Errorf("counts %d, want %d", c.counts, want)
	}
}

// What a read event takes is measured from its start to after its write, on the server's clock.
func TestLatencyEndsAfterTheWrite(t *testing.T) {
	s := start(t)
	l := s.NewLoop().(*loop)
	p := netpoll.NewPipe(l, netpoll.Options{Now: func() int64 {
		now := s.clock.Now()
		s.clock.now.Add(int64(2 * time.Millisecond)) // what the event will have taken
		return now
	}, Logger: s.logger})
	if _, err := p.Feed(append(routeOf("None").frame(1), routeOf("None").frame(2)...)); err != nil {
		t.Fatal(err)
	}
	c := l.tally.cells[routeRequest][answeredNoTopic]
	if c.sum != int64(4*time.Millisecond) || c.counts[latencyBounds.bucket(int64(2*time.Millisecond))] != 2 {
		t.Errorf("sum %v, counts %d", time.Duration(c.sum), c.counts)
	}
}

// Loops' and shared histograms come to what one histogram of all would.
func TestHistogramsMerge(t *testing.T) {
	s := start(t)
	one := sharedHistogram{bounds: &latencyBounds}
	loops := []*tally{{}, {}}
	for i := range int64(1000) {
		nanos := i * i * 4000 // to 4 s
		one.observe(nanos)
		if i%3 == 2 {
			s.answered(asked{request: true, kind: routeRequest, at: s.clock.Now() - nanos}, answeredOK)
			continue
		}
		l := loops[i%3]
		l.count(routeRequest, answeredOK, (i+1)*measuredEvery)
		l.measure(nanos)
	}
	var m Metrics
	copies := []*loopTally{{}, {}}
	for i := range copies {
		copies[i].copyFrom(loops[i])
	}
	m.addTallies(copies, &s.counts.offLoop)
	if len(m.Requests) != 1 {
		t.Fatalf("%+v", m.Requests)
	}
	r, want := m.Requests[0], one.read()
	if r.Count != 1000 || r.Latency.Sum != want.Sum || !slices.Equal(r.Latency.Counts, want.Counts) || !slices.Equal(r.Latency.Bounds, want.Bounds) {
		t.Errorf("%d requests, %+v; want %+v", r.Count, r.Latency, want)
	}
}

func TestBuckets(t *testing.T) {
	for _, b := range []*bounds{&latencyBounds, &sizeBounds} {
		for i, most := range b {
			if b.bucket(most) != i || b.bucket(most+1) != i+1 {
				t.Errorf("%d belongs to bucket %d, %d to the next; got %d, %d", most, i, most+1, b.bucket(most), b.bucket(most+1))
			}
		}
		if b.bucket(-1) != 0 || b.bucket(1<<62) != histogramBuckets-1 || !slices.IsSorted(b[:]) {
			t.Error("ends")
		}
	}
}

// Counting allocates nothing, also when every request is measured. (That it is counted at all, the tests of the hot path show.)
func TestMeasuringAllocatesNothing(t *testing.T) {
	if raceflag.Enabled || invariants.Enabled {
		t.Skip("this build allocates by itself")
	}
	s := start(t)
	s.dial().register(broker("a"))
	l := s.NewLoop().(*loop)
	p := netpoll.NewPipe(l, netpoll.Options{Now: s.clock.Now, Logger: s.logger})
	for _, r := range []request{routeOf("Base"), routeOf("None"), broker("a").heartbeat()} {
		frame := r.frame(1_000_000)
		turn := func() {
			s.clock.now.Add(2 * measuredEvery)
			if feedReads(t, p, frame) == 0 {
				t.Fatal("no answer")
			}
		}
		turn()
		if n := testing.AllocsPerRun(50, turn); n != 0 {
			t.Errorf("code %d: %v allocations", r.code, n)
		}
	}
	var waiting, measured uint64
	for _, c := range l.tally.cells[routeRequest] {
		waiting += c.waiting
		for _, n := range c.counts {
			measured += n
		}
	}
	if waiting != 0 || measured < 100 {
		t.Errorf("%d measured, %d not", measured, waiting)
	}
}
