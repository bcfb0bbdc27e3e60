package latency

import (
	"testing"
	"time"
)

func near(got, want time.Duration) bool {
	return got >= want-want/100 && got <= want+want/100
}

func TestSummary(t *testing.T) {
	r, half := NewRecorder(), NewRecorder()
	for i := int64(1); i <= 1000; i += 2 {
		r.Record(i*1000, 1)
		half.Record((i+1)*1000, 1)
	}
	r.Merge(half)
	s := r.Summary()
	if s.Count != 1000 || !near(s.P50, 500*time.Microsecond) || !near(s.P99, 990*time.Microsecond) || !near(s.P999, 999*time.Microsecond) || !near(s.Max, time.Millisecond) || !near(s.Mean, 500500) {
		t.Errorf("%+v", s)
	}
	if NewRecorder().Summary() != (Summary{}) {
		t.Error("an empty recorder has figures")
	}
}

func TestRecordBounds(t *testing.T) {
	r := NewRecorder()
	r.Record(-5, 1)
	r.Record(int64(time.Hour), 3)
	if s := r.Summary(); s.Count != 4 || s.Max < 9*time.Minute || s.Max > 11*time.Minute {
		t.Errorf("%+v", s)
	}
}

func TestSeries(t *testing.T) {
	s, other := NewSeries(100*time.Millisecond), NewSeries(100*time.Millisecond)
	ms := int64(time.Millisecond)
	s.Record(0, 2*ms, 5)
	s.Record(350*ms, 30*ms, 1)
	s.Record(-1, ms, 1)    // before the beginning
	s.Record(1<<60, ms, 1) // after any end
	other.Record(99*ms, 4*ms, 5)
	other.Record(720*ms, ms, 1)
	s.Merge(other)
	points := s.Points()
	if len(points) != 3 {
		t.Fatalf("%+v", points)
	}
	if p := points[0]; p.At != 0 || p.Count != 10 || !near(p.P50, 2*time.Millisecond) || !near(p.Max, 4*time.Millisecond) {
		t.Errorf("%+v", p)
	}
	if p := points[1]; p.At != 300*time.Millisecond || p.Count != 1 || !near(p.P99, 30*time.Millisecond) {
		t.Errorf("%+v", p)
	}
	if p := points[2]; p.At != 700*time.Millisecond || !near(p.Max, time.Millisecond) {
		t.Errorf("%+v", p)
	}
}
