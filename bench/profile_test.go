package bench

import (
	"context"
	"flag"
	"fmt"
	"os"
	"runtime"
	"testing"

	"github.com/waymark-mq/waymark/bench/servers"
	"github.com/waymark-mq/waymark/profiles"
)

var fullSize = flag.Bool("full", false, "profiles at their full size instead of the smoke size")

// BenchmarkProfile puts every variant of every profile on a nameserver that runs in a process of its own. At the smoke size, which is
// the default, it shows that all of them work; -full measures, and cmd/nsload compares.
//
//	go test ./bench -run '^$' -bench Profile/steady-read -benchtime 1x -full
func BenchmarkProfile(b *testing.B) {
	root, err := servers.ModuleRoot()
	if err != nil {
		b.Fatal(err)
	}
	binary, err := servers.BuildWaymark(root, b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	for _, name := range profiles.Names() {
		p, err := profiles.Load(name)
		if err != nil {
			b.Fatal(err)
		}
		for _, v := range p.Variants {
			label := name
			if v.Name != "" {
				label += "/" + v.Name
			}
			load := v.Smoke
			if *fullSize {
				load = v.Full
			}
			b.Run(label, func(b *testing.B) { benchmarkWorkload(b, servers.Waymark(binary, 1), &load) })
		}
	}
}

func benchmarkWorkload(b *testing.B, s *servers.Server, load *profiles.Workload) {
	var r *Result
	for b.Loop() {
		var err error
		if r, err = Run(b.Context(), s, load, Options{}); err != nil {
			b.Fatal(err)
		}
		for _, f := range r.Faults() {
			b.Error(f)
		}
	}
	b.ReportMetric(0, "ns/op") // of starting a process and waiting
	for _, m := range []struct{ key, unit string }{
		{"cpu", "cpu-µs/query"}, {"p99", "p99-µs"}, {"max", "max-µs"}, {"quiet-p99", "quiet-p99-µs"},
		{"registration-cpu", "cpu-ms/registration"}, {"fill-cpu", "cpu-ms/first-registration"}, {"memory", "MiB"},
	} {
		figure, err := measureOf(measures, m.key)
		if err != nil {
			b.Fatal(err)
		}
		if v, ok := figure.value(r); ok {
			b.ReportMetric(v, m.unit)
		}
	}
}

// inProcess is a nameserver within this process, as a server that runs already.
func inProcess(t *testing.T) *servers.Server {
	t.Helper()
	return servers.External("inside", startNameserver(t).Addr(), os.Getpid())
}

func smoke(t *testing.T, name, variant string) *profiles.Workload {
	t.Helper()
	p, err := profiles.Load(name)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range p.Variants {
		if v.Name == variant {
			return &v.Smoke
		}
	}
	t.Fatalf("%s has no variant %q", name, variant)
	return nil
}

// TestRun puts the kinds of workloads that differ most on a nameserver and looks at what came of them.
func TestRun(t *testing.T) {
	onlyLinux(t)
	t.Run("read", func(t *testing.T) {
		w := smoke(t, "pipelined-read", "16-rocketmq")
		r := runInside(t, w)
		if r.Connect.Connections != 16 || r.Fill.Latency.Count != 4 || r.Fill.BodyBytes < 10_000 || r.Quiet != (Spent{}) {
			t.Errorf("%+v %+v %+v", r.Connect, r.Fill, r.Quiet)
		}
		if n := r.Clients.Sent; n%32 != 0 || n < 16*32 || r.Clients.NotFound != 0 {
			t.Errorf("%d sent, %d not found", n, r.Clients.NotFound)
		}
	})
	t.Run("storm", func(t *testing.T) {
		w := smoke(t, "registration-storm", "")
		r := runInside(t, w)
		if r.Measured.Registered != 8 || r.Clients.Quiet.Latency.Count != 400 || r.Clients.Measured.Latency.Count != 800 || r.AnswerBytes() < 600 {
			t.Errorf("%d registrations, %d and %d queries, %d bytes an answer", r.Measured.Registered, r.Clients.Quiet.Latency.Count, r.Clients.Measured.Latency.Count, r.AnswerBytes())
		}
	})
	t.Run("cold", func(t *testing.T) {
		r := runInside(t, smoke(t, "cold-start", ""))
		if r.Fill.Latency.Count != 0 || r.Connect.Connections != 0 || r.Measured.Registered != 4 || r.Clients.Measured.Latency.Count != 1200 {
			t.Errorf("%+v, %d registered", r.Fill, r.Measured.Registered)
		}
	})
	t.Run("death", func(t *testing.T) {
		r := runInside(t, smoke(t, "mass-death", "half"))
		if r.Fleet.Deaths != 5 || r.Fleet.Comebacks.Latency.Count != 5 || r.Measured.Registered != 5 {
			t.Errorf("%+v", r.Fleet)
		}
	})
}

func runInside(t *testing.T, w *profiles.Workload) *Result {
	t.Helper()
	r, err := Run(t.Context(), inProcess(t), w, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range r.Faults() {
		t.Error(f)
	}
	if !r.Known || r.End.CPU <= 0 || r.End.Resident == 0 || r.Workload != *w {
		t.Errorf("%+v %+v", r.Measured, r.End)
	}
	return r
}

func TestRunTellsWhatFailed(t *testing.T) {
	onlyLinux(t)
	w := smoke(t, "steady-read", "16-json")
	if _, err := Run(t.Context(), servers.External("nobody", "127.0.0.1:1", 0), w, Options{}); err == nil {
		t.Error("a server that isn't there")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Run(ctx, inProcess(t), w, Options{}); err == nil {
		t.Error("a run that was called off")
	}
}

// TestComparisonOrder: every server begins once, and a floor waits until an answer was seen.
func TestComparisonOrder(t *testing.T) {
	floor := servers.Floor("", 1)
	c := Comparison{Servers: []*servers.Server{servers.External("a", "", 0), floor, servers.External("b", "", 0)}}
	var got []string
	for round, answerBytes := range []int{0, 940, 940} {
		names := ""
		for _, s := range c.order(round, answerBytes) {
			names += " " + s.Name
		}
		got = append(got, names)
	}
	if want := "[ a b floor  floor b a  b a floor]"; fmt.Sprint(got) != want {
		t.Errorf("%v, want %v", got, want)
	}
	if s := sized(floor, 940); s.AnswerSize != 940 || floor.AnswerSize != 0 {
		t.Errorf("%d, %d", s.AnswerSize, floor.AnswerSize)
	}
	floor.AnswerSize = 500
	if s := sized(floor, 940); s.AnswerSize != 500 {
		t.Errorf("a floor of 500 bytes answers %d", s.AnswerSize)
	}
}

func onlyLinux(t *testing.T) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("load can be put on a server from Linux only")
	}
}
