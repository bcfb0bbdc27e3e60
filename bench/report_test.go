package bench

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/waymark-mq/waymark/bench/latency"
	"github.com/waymark-mq/waymark/profiles"
)

// made is a result with a CPU time in µs per query.
func made(server string, round int, cpu float64, isFloor bool) *Result {
	r := &Result{Profile: "steady-read", Variant: "16-json", Server: server, Loops: 1, Round: round, Floor: isFloor, Known: true}
	r.Workload.Fleet = profiles.Fleet{Brokers: 4, Topics: 100}
	r.Workload.Clients = profiles.Clients{Connections: 16, Depth: 1, Header: profiles.JSON}
	r.Workload.Duration = time.Second
	r.Measured = Spent{Wall: time.Second, CPU: time.Duration(cpu * 1000 * micro), Answered: 1000}
	r.Clients.Measured.Latency = latency.Summary{Count: 1000, P99: time.Millisecond}
	r.Clients.Measured.Series = []latency.Point{{At: 0, Count: 500, P99: time.Millisecond, Max: 2 * time.Millisecond}}
	return r
}

// TestReportPairsRounds: the ratio of medians would be 2, but in no round was it anything but 1.
func TestReportPairsRounds(t *testing.T) {
	var results []*Result
	for round, cpu := range []float64{1, 2, 4} {
		results = append(results, made("waymark", round, cpu, false), made("floor", round, cpu, true))
	}
	results[1].Measured.CPU /= 2 // the floor's first round
	var b strings.Builder
	if err := Report(&b, results); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"| | floor, 1 loop | waymark, 1 loop | waymark ÷ floor |\n",
		"| CPU per query, µs | 2.00 (0.5–4.00) | 2.00 (1.00–4.00) | 1.00 (1.00–2.00) |\n",
		"| queries per second | 1,000 | 1,000 | 1.00 |\n",
		"4 brokers, 100 topics; 16 connections × 1 in flight, json header; 1s measured. 3 rounds.",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
	if strings.Contains(b.String(), "registration") || strings.Contains(b.String(), "Smoke") {
		t.Errorf("rows of nothing:\n%s", b.String())
	}
}

func TestReportShowsFaults(t *testing.T) {
	r := made("waymark", 0, 1, false)
	r.Clients.Unanswered, r.Clients.Refused, r.Clients.NotFound, r.Clients.Strangers = 3, map[int32]int64{2: 5}, 7, 1
	r.Fleet.Registrations.Refused = map[int32]int64{1: 2}
	if n := len(r.Faults()); n != 5 {
		t.Errorf("%d faults: %v", n, r.Faults())
	}
	var b strings.Builder
	if err := Report(&b, []*Result{r}); err != nil || strings.Count(b.String(), "**waymark, round 1: ") != 5 {
		t.Error(err, b.String())
	}
	r.Floor = true // looks at no opaque
	if n := len(r.Faults()); n != 4 {
		t.Errorf("%d faults of the floor: %v", n, r.Faults())
	}
	r.Workload.Cold = true // topics come as time goes by
	if n := len(r.Faults()); n != 3 {
		t.Errorf("%d faults of a cold start: %v", n, r.Faults())
	}
}

func TestRegistrationCPUWithoutTheClientsPart(t *testing.T) {
	r := made("waymark", 0, 0, false)
	r.Workload.Fleet.Register = time.Second
	r.Measured = Spent{Wall: 2 * time.Second, CPU: 500 * time.Millisecond, Registered: 600, Acknowledged: 30} // it can't keep up
	if _, ok := registrationCPU(r); ok {
		t.Error("clients and no quiet phase: the part of registrations is unknown")
	}
	r.Quiet = Spent{Wall: time.Second, CPU: 100 * time.Millisecond, Answered: 1000}
	if v, ok := registrationCPU(r); !ok || v != 10 {
		t.Errorf("%v ms, want 500 - 2 x 100 by 30", v)
	}
	r.Workload.Clients.Connections, r.Quiet = 0, Spent{}
	if v, ok := registrationCPU(r); !ok || v < 16 || v > 17 {
		t.Errorf("%v ms without clients", v)
	}
}

func TestResultsAreReadAsWritten(t *testing.T) {
	var b bytes.Buffer
	for round := range 3 {
		if err := WriteResult(&b, made("waymark", round, 2, false)); err != nil {
			t.Fatal(err)
		}
	}
	list, err := ReadResults(&b)
	if err != nil || len(list) != 3 || list[2].Round != 2 || list[0].Measured != made("", 0, 2, false).Measured || list[0].Workload.Clients.Depth != 1 {
		t.Errorf("%+v, %v", list, err)
	}
	if _, err := ReadResults(strings.NewReader("{}\n{")); err == nil || !strings.Contains(err.Error(), "result 2") {
		t.Error(err)
	}
}

func TestCharts(t *testing.T) {
	a, b := made("waymark", 0, 1, false), made("apache", 0, 9, false)
	c, err := TimeChart([]*Result{a, b}, "max")
	if err != nil || len(c.Lines) != 2 || c.Lines[1].Points[0].Y != 2 {
		t.Errorf("%+v, %v", c, err)
	}
	bigger := made("waymark", 0, 3, false)
	bigger.Variant, bigger.Workload.Fleet.Topics = "big", 10_000
	again := made("waymark", 1, 5, false)
	again.Variant, again.Workload.Fleet.Topics = "big", 10_000
	if _, err := TimeChart([]*Result{a, bigger}, "p99"); err == nil {
		t.Error("two variants over one time")
	}
	if c, err = SizeChart([]*Result{bigger, a, again, b}, "topics", "cpu"); err != nil || len(c.Lines) != 2 || len(c.Lines[0].Points) != 2 {
		t.Fatalf("%+v, %v", c, err)
	}
	if p := c.Lines[0].Points; p[0].X != 100 || p[0].Y != 1 || p[1].X != 10_000 || p[1].Y != 4 {
		t.Errorf("%+v", p)
	}
	for _, c := range [][3]string{{"time", "p90", ""}, {"topics", "colour", ""}, {"colour", "cpu", ""}} {
		var err error
		if c[0] == "time" {
			_, err = TimeChart([]*Result{a}, c[1])
		} else {
			_, err = SizeChart([]*Result{a}, c[0], c[1])
		}
		if err == nil {
			t.Errorf("%v is drawn", c)
		}
	}
}
