package clients

import (
	"time"

	"github.com/waymark-mq/waymark/bench/latency"
	"github.com/waymark-mq/waymark/bench/phase"
	"github.com/waymark-mq/waymark/codec"
)

// Outcome is what came of a run, with its drain.
type Outcome struct {
	Quiet, Measured Section

	Sent       int64           `json:"sent"`
	Misses     int64           `json:"misses"`     // sent for topics that don't exist
	NotFound   int64           `json:"not_found"`  // answered with code 17
	Refused    map[int32]int64 `json:"refused"`    // answered with other codes than 0 and 17, by code
	Strangers  int64           `json:"strangers"`  // answers with an opaque that was not asked
	Unanswered int64           `json:"unanswered"` // not answered within the drain
	Lost       []string        `json:"lost"`       // why connections ended, up to a few
	LostCount  int64           `json:"lost_count"` // how many ended
}

// Section is a phase. A request belongs to the phase in which it was due (open loop) or answered (closed loop).
type Section struct {
	Latency latency.Summary `json:"latency"`
	Late    latency.Summary `json:"late"`  // how long after its due time a request was written: the load generator's own share
	Bytes   int64           `json:"bytes"` // of its answers
	Series  []latency.Point `json:"series,omitempty"`
}

const maxLostShown = 5

// tally collects what one driver sees.
type tally struct {
	phases          phase.Phases
	quiet, measured part
	outcome         Outcome // all but the sections
}

type part struct {
	latency, late *latency.Recorder
	series        *latency.Series
	bytes         int64
}

func newPart(width time.Duration) part {
	return part{latency.NewRecorder(), latency.NewRecorder(), latency.NewSeries(width), 0}
}

func newTally(p phase.Phases, width time.Duration) *tally {
	return &tally{phases: p, quiet: newPart(width), measured: newPart(width), outcome: Outcome{Refused: map[int32]int64{}}}
}

// part of the phase at that time; nil: nothing is recorded then.
func (t *tally) part(at int64) (*part, int64) {
	switch {
	case at >= t.phases.Measured && at < t.phases.End:
		return &t.measured, t.phases.Measured
	case at >= t.phases.Quiet && at < t.phases.Measured:
		return &t.quiet, t.phases.Quiet
	}
	return nil, 0
}

// record n answers of a phase, each d after its request.
func (t *tally) record(at, d, n, bytes int64) {
	if p, begin := t.part(at); p != nil {
		p.latency.Record(d, n)
		p.series.Record(at-begin, d, n)
		p.bytes += bytes
	}
}

func (t *tally) code(code int32) {
	switch code {
	case codec.ResponseSuccess:
	case codec.ResponseTopicNotExist:
		t.outcome.NotFound++
	default:
		t.outcome.Refused[code]++
	}
}

func (t *tally) lost(err error) {
	t.outcome.LostCount++
	if len(t.outcome.Lost) < maxLostShown {
		t.outcome.Lost = append(t.outcome.Lost, err.Error())
	}
}

func (t *tally) merge(o *tally) {
	for _, p := range [][2]*part{{&t.quiet, &o.quiet}, {&t.measured, &o.measured}} {
		p[0].latency.Merge(p[1].latency)
		p[0].late.Merge(p[1].late)
		p[0].series.Merge(p[1].series)
		p[0].bytes += p[1].bytes
	}
	a, b := &t.outcome, &o.outcome
	a.Sent += b.Sent
	a.Misses += b.Misses
	a.NotFound += b.NotFound
	a.Strangers += b.Strangers
	a.Unanswered += b.Unanswered
	a.LostCount += b.LostCount
	a.Lost = append(a.Lost, b.Lost...)
	a.Lost = a.Lost[:min(len(a.Lost), maxLostShown)]
	for code, n := range b.Refused {
		a.Refused[code] += n
	}
}

func (t *tally) done() Outcome {
	o := t.outcome
	o.Quiet, o.Measured = t.quiet.section(), t.measured.section()
	return o
}

func (p *part) section() Section {
	return Section{p.latency.Summary(), p.late.Summary(), p.bytes, p.series.Points()}
}
