package fleet

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"

	"github.com/waymark-mq/waymark/bench/latency"
	"github.com/waymark-mq/waymark/bench/phase"
	"github.com/waymark-mq/waymark/bench/topology"
	"github.com/waymark-mq/waymark/profiles"
)

const (
	fillers      = 4 // first registrations in flight without fill_within
	maxLostShown = 5
)

// bodies are buffers for registration bodies in flight.
var bodies = sync.Pool{New: func() any { return new([]byte) }}

// Fleet is the brokers of a profile.
type Fleet struct {
	addr    string
	load    *profiles.Workload
	brokers []*broker

	registrations, comebacks record
	beats, deaths            atomic.Int64
	acknowledged             atomic.Int64 // registrations answered since the first phase began

	mu   sync.Mutex
	lost []string
	n    int64 // how many were lost
}

// Outcome is what the brokers did. Registrations and comebacks are those of the measured phase.
type Outcome struct {
	Registrations Registrations `json:"registrations"`
	Comebacks     Registrations `json:"comebacks"`
	Heartbeats    int64         `json:"heartbeats"` // of all phases
	Deaths        int64         `json:"deaths"`
	Lost          []string      `json:"lost"` // why connections ended or were refused, up to a few
	LostCount     int64         `json:"lost_count"`
}

// Registrations are registrations that were answered, from when they were due to the answer.
type Registrations struct {
	Latency latency.Summary `json:"latency"`
	Refused map[int32]int64 `json:"refused"` // answered with another code than 0, by code
}

// record of registrations, shared by the brokers.
type record struct {
	mu      sync.Mutex
	latency *latency.Recorder
	refused map[int32]int64
}

func (r *record) add(d int64, code int32) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.latency == nil {
		r.latency, r.refused = latency.NewRecorder(), map[int32]int64{}
	}
	r.latency.Record(d, 1)
	if code != 0 {
		r.refused[code]++
	}
}

func (r *record) outcome() Registrations {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.latency == nil {
		return Registrations{}
	}
	return Registrations{r.latency.Summary(), r.refused}
}

// New makes the brokers of a workload; they connect with their first registration.
func New(addr string, load *profiles.Workload, t *topology.Topology) *Fleet {
	f := &Fleet{addr: addr, load: load, brokers: make([]*broker, len(t.Brokers))}
	tables := map[*topology.TopicSet]*table{}
	for i := range t.Brokers {
		set := t.Brokers[i].Topics
		if tables[set] == nil {
			tables[set] = newTable(&load.Fleet, t, set)
		}
		f.brokers[i] = &broker{
			Broker: &t.Brokers[i], fleet: f, index: i, table: tables[set],
			rng: rand.New(rand.NewPCG(load.Seed, uint64(i)<<32)),
		}
	}
	return f
}

// BodyBytes is the size of the first broker's registration body; 0 without brokers.
func (f *Fleet) BodyBytes() int {
	if len(f.brokers) == 0 {
		return 0
	}
	return len(f.brokers[0].table.body)
}

// Fill registers every broker for the first time and returns when all are answered. It fails if a broker isn't.
func (f *Fleet) Fill() (Registrations, error) {
	var r record
	start := phase.Now()
	within := int64(f.load.Fleet.FillWithin)
	turns := make(chan struct{}, fillers)
	var filling sync.WaitGroup
	for i, b := range f.brokers {
		if within == 0 {
			turns <- struct{}{} // before the goroutine, to keep the order
		}
		filling.Go(func() {
			due := start + within*int64(i)/int64(len(f.brokers))
			phase.SleepUntil(due)
			due = phase.Now()
			code, err := b.register()
			f.note(err)
			if err == nil {
				r.add(phase.Now()-due, code)
			}
			if within == 0 {
				<-turns
			}
		})
	}
	filling.Wait()
	o := r.outcome()
	if len(f.lost) > 0 {
		return o, fmt.Errorf("fleet: %d of %d brokers did not register, the first: %s", f.n, len(f.brokers), f.lost[0])
	}
	return o, nil
}

// Registered is the number of registrations of the measured phase that were answered so far.
func (f *Fleet) Registered() int64 {
	r, c := f.registrations.outcome(), f.comebacks.outcome()
	return r.Latency.Count + c.Latency.Count
}

// Acknowledged is the number of registrations of any phase that were answered so far.
func (f *Fleet) Acknowledged() int64 { return f.acknowledged.Load() }

// Run lets the brokers live through all phases.
func (f *Fleet) Run(p phase.Phases) Outcome {
	var living sync.WaitGroup
	for _, b := range f.brokers {
		living.Go(func() { b.life(p) })
	}
	living.Wait()
	return Outcome{
		Registrations: f.registrations.outcome(), Comebacks: f.comebacks.outcome(),
		Heartbeats: f.beats.Load(), Deaths: f.deaths.Load(), Lost: f.lost, LostCount: f.n,
	}
}

// Close ends the connections.
func (f *Fleet) Close() {
	for _, b := range f.brokers {
		b.hangUp()
	}
}

// note counts a fault, if err is one.
func (f *Fleet) note(err error) {
	if err == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.n++
	if len(f.lost) < maxLostShown {
		f.lost = append(f.lost, err.Error())
	}
}
