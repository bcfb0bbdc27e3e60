// Package latency records latencies: as a distribution (HdrHistogram), and over time for plots.
package latency

import (
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

const (
	longest       = int64(10 * time.Minute)
	digits        = 3 // of a distribution
	seriesDigits  = 2 // of a bucket of a series
	maxBuckets    = 36_000
	seriesLongest = int64(time.Minute)
)

// Recorder is a distribution, for one goroutine at a time.
type Recorder struct{ hist *hdrhistogram.Histogram }

// NewRecorder returns an empty recorder.
func NewRecorder() *Recorder { return &Recorder{hdrhistogram.New(1, longest, digits)} }

// Record records n latencies of d nanoseconds. What is longer than ten minutes counts as ten minutes.
func (r *Recorder) Record(d, n int64) {
	_ = r.hist.RecordValues(min(max(d, 1), longest), n) // in range: can't fail
}

// Merge adds what another recorder has.
func (r *Recorder) Merge(other *Recorder) { r.hist.Merge(other.hist) }

// Summary is what is reported of a distribution.
type Summary struct {
	Count int64         `json:"count"`
	Mean  time.Duration `json:"mean"`
	P50   time.Duration `json:"p50"`
	P99   time.Duration `json:"p99"`
	P999  time.Duration `json:"p999"`
	Max   time.Duration `json:"max"`
}

// Summary of what was recorded; all zero if that is nothing.
func (r *Recorder) Summary() Summary {
	at := func(percent float64) time.Duration { return time.Duration(r.hist.ValueAtPercentile(percent)) }
	if r.hist.TotalCount() == 0 {
		return Summary{}
	}
	return Summary{r.hist.TotalCount(), time.Duration(r.hist.Mean()), at(50), at(99), at(99.9), time.Duration(r.hist.Max())}
}

// Series is a distribution for each stretch of time, for one goroutine at a time.
type Series struct {
	width   int64
	buckets []*hdrhistogram.Histogram
}

// NewSeries has one bucket for each width.
func NewSeries(width time.Duration) *Series { return &Series{width: int64(width)} }

// Record records n latencies of d nanoseconds, at nanoseconds after the beginning of the series.
func (s *Series) Record(at, d, n int64) {
	i := at / s.width
	if at < 0 || i >= maxBuckets {
		return
	}
	for int64(len(s.buckets)) <= i {
		s.buckets = append(s.buckets, nil)
	}
	if s.buckets[i] == nil {
		s.buckets[i] = hdrhistogram.New(1_000, seriesLongest, seriesDigits)
	}
	_ = s.buckets[i].RecordValues(min(max(d, 1), seriesLongest), n) // in range: can't fail
}

// Merge adds what another series of the same width has.
func (s *Series) Merge(other *Series) {
	for len(s.buckets) < len(other.buckets) {
		s.buckets = append(s.buckets, nil)
	}
	for i, h := range other.buckets {
		if h == nil {
			continue
		}
		if s.buckets[i] == nil {
			s.buckets[i] = hdrhistogram.New(1_000, seriesLongest, seriesDigits)
		}
		s.buckets[i].Merge(h)
	}
}

// Point is a bucket that isn't empty.
type Point struct {
	At    time.Duration `json:"at"` // its beginning
	Count int64         `json:"count"`
	P50   time.Duration `json:"p50"`
	P99   time.Duration `json:"p99"`
	Max   time.Duration `json:"max"`
}

// Points are in the order of time.
func (s *Series) Points() []Point {
	var points []Point
	for i, h := range s.buckets {
		if h == nil {
			continue
		}
		points = append(points, Point{
			At: time.Duration(int64(i) * s.width), Count: h.TotalCount(),
			P50: time.Duration(h.ValueAtPercentile(50)), P99: time.Duration(h.ValueAtPercentile(99)), Max: time.Duration(h.Max()),
		})
	}
	return points
}
