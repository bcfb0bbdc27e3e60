package fleet

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/waymark-mq/waymark/bench/phase"
	"github.com/waymark-mq/waymark/profiles"
)

var actionNames = [actions]string{dies: "dies", comesBack: "back", registers: "registers", beats: "beats"}

// plan is what the broker with the index does, in seconds from the first phase on; every action takes took.
func plan(w profiles.Workload, index int, took time.Duration) string {
	f := New("", &w, topologyOf(&w))
	var did []string
	f.times(index, rand.New(rand.NewPCG(1, 1)), phase.Of(&w, 0)).each(func(what action, due int64) int64 {
		did = append(did, fmt.Sprintf("%s %.3g", actionNames[what], time.Duration(due).Seconds()))
		return due + int64(took)
	})
	return strings.Join(did, ", ")
}

func TestTimes(t *testing.T) {
	const s = time.Second
	fleet := profiles.Fleet{Clusters: 1, Brokers: 4, Topics: 1, Queues: 8, Release: 5}
	with := func(change func(f *profiles.Fleet)) profiles.Fleet {
		f := fleet
		change(&f)
		return f
	}
	for _, c := range []struct {
		name  string
		load  profiles.Workload
		index int
		want  string
	}{
		{"nothing", profiles.Workload{Duration: 9 * s, Fleet: fleet}, 0, ""},
		{"heartbeats", profiles.Workload{Warmup: s, Duration: 3 * s, Fleet: with(func(f *profiles.Fleet) { f.Heartbeat = 2 * s })}, 2, "beats 1, beats 3"},
		{"spread over the period", profiles.Workload{Duration: 10 * s, Fleet: with(func(f *profiles.Fleet) { f.Register = 4 * s })}, 1,
			"registers 1, registers 5, registers 9"},
		{"not in the quiet phase", profiles.Workload{Warmup: 5 * s, Quiet: 5 * s, Duration: 5 * s, Fleet: with(func(f *profiles.Fleet) { f.Register = 4 * s })}, 1,
			"registers 1, registers 11"},
		{"no warm-up", profiles.Workload{Quiet: 5 * s, Duration: 5 * s, Fleet: with(func(f *profiles.Fleet) { f.Register = 4 * s })}, 1, "registers 6"},
		{"a period longer than the quiet phase", profiles.Workload{Warmup: 2 * s, Quiet: s, Duration: 9 * s, Fleet: with(func(f *profiles.Fleet) { f.Register = 8 * s })}, 0,
			"registers 0, registers 3, registers 11"},
		{"all at once", profiles.Workload{Warmup: 2 * s, Quiet: s, Duration: 6 * s, Fleet: with(func(f *profiles.Fleet) { f.Register, f.AtOnce = 4*s, true })}, 3,
			"registers 0, registers 3, registers 7"},
		{"cold", profiles.Workload{Cold: true, Duration: 6 * s, Fleet: with(func(f *profiles.Fleet) { f.Register, f.FillWithin = 4*s, 2*s })}, 2,
			"registers 1, registers 5"},
		{"one death", profiles.Workload{Duration: 6 * s, Fleet: with(func(f *profiles.Fleet) {
			f.Heartbeat, f.Death = 2*s, profiles.Death{Brokers: 1, First: 3 * s, Back: 2 * s}
		})}, 0, "beats 0, beats 2, dies 3, back 5"},
		{"not this one", profiles.Workload{Duration: 6 * s, Fleet: with(func(f *profiles.Fleet) { f.Death = profiles.Death{Brokers: 1, First: 3 * s} })}, 1, ""},
		{"for ever", profiles.Workload{Duration: 6 * s, Fleet: with(func(f *profiles.Fleet) { f.Heartbeat, f.Death = 2*s, profiles.Death{Brokers: 1, First: 3 * s} })}, 0,
			"beats 0, beats 2, dies 3"},
		{"again and again", profiles.Workload{Duration: 6 * s, Fleet: with(func(f *profiles.Fleet) {
			f.Death = profiles.Death{Brokers: 1, First: s, Every: 2 * s, Back: s / 2}
		})}, 0, "dies 1, back 1.5, dies 3, back 3.5, dies 5, back 5.5"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := plan(c.load, c.index, 0); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// TestPauseCountsFromTheAnswer: a slow server gets fewer registrations.
func TestPauseCountsFromTheAnswer(t *testing.T) {
	w := profiles.Workload{Duration: time.Minute, Fleet: profiles.Fleet{
		Clusters: 1, Brokers: 1, Topics: 1, Queues: 8, Release: 5, RegisterAfter: 100 * time.Millisecond,
	}}
	quick, slow := strings.Count(plan(w, 0, 0), ","), strings.Count(plan(w, 0, 100*time.Millisecond), ",")
	if quick < 500 || quick > 700 || slow < 250 || slow > 350 {
		t.Errorf("%d and %d registrations in a minute, with pauses of 100 ms", quick, slow)
	}
}
