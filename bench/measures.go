package bench

import "time"

// measure is a figure of a result: a row of a report, an axis of a plot.
type measure struct {
	key   string // by which a plot asks for it
	title string
	ratio bool // comparing servers by it has a meaning
	value func(*Result) (v float64, ok bool)
}

const (
	micro = float64(time.Microsecond)
	milli = float64(time.Millisecond)
	mib   = float64(1 << 20)
	kib   = float64(1 << 10)
)

// divided is a ÷ b ÷ unit, and not ok without b.
func divided[T ~int64, N ~int64 | ~int](a T, b N, unit float64) (float64, bool) {
	if b == 0 {
		return 0, false
	}
	return float64(a) / float64(b) / unit, true
}

// inUnits is a ÷ unit, and not ok if a is 0.
func inUnits[T ~int64](a T, unit float64) (float64, bool) { return float64(a) / unit, a != 0 }

// measures are all figures, in the order of a report.
var measures = []measure{
	{"listen", "start to listening, ms", true, func(r *Result) (float64, bool) { return inUnits(r.Listen, milli) }},
	{"start-memory", "memory after the start, MiB", true, func(r *Result) (float64, bool) { return inUnits(r.Start.Resident, mib) }},
	{"fill-cpu", "CPU per first registration, ms", true, func(r *Result) (float64, bool) {
		v, ok := divided(r.Fill.CPU, r.Fill.Latency.Count, milli)
		return v, ok && r.Known
	}},
	{"fill-p99", "first registrations, p99, ms", true, func(r *Result) (float64, bool) { return inUnits(r.Fill.Latency.P99, milli) }},
	{"fill-memory", "memory with all registered, MiB", true, func(r *Result) (float64, bool) { return inUnits(r.Fill.Resident, mib) }},
	{"connection-cpu", "CPU per connection and its first query, µs", true, func(r *Result) (float64, bool) {
		v, ok := divided(r.Connect.CPU, r.Connect.Connections, micro)
		return v, ok && r.Known && r.Connect.Connections >= manyConnections
	}},
	{"connection-memory", "memory per connection, KiB", true, func(r *Result) (float64, bool) {
		v, ok := divided(r.Connect.Grown, r.Connect.Connections, kib)
		return v, ok && r.Known && r.Connect.Connections >= manyConnections
	}},
	{"quiet-cpu", "quiet: CPU per query, µs", true, func(r *Result) (float64, bool) {
		v, ok := divided(r.Quiet.CPU, r.Quiet.Answered, micro)
		return v, ok && r.Known
	}},
	{"quiet-p99", "quiet: p99, µs", true, func(r *Result) (float64, bool) { return inUnits(r.Clients.Quiet.Latency.P99, micro) }},
	{"rate", "queries per second", true, func(r *Result) (float64, bool) {
		return divided(r.Measured.Answered, r.Measured.Wall, 1/float64(time.Second))
	}},
	{"cpu", "CPU per query, µs", true, func(r *Result) (float64, bool) {
		v, ok := divided(r.Measured.CPU, r.Measured.Answered, micro)
		return v, ok && r.Known && !r.Workload.Fleet.Events() && !r.Workload.Cold
	}},
	{"core", "CPU, % of one core", true, func(r *Result) (float64, bool) {
		v, ok := divided(r.Measured.CPU, r.Measured.Wall, 0.01)
		return v, ok && r.Known
	}},
	{"p50", "p50, µs", true, func(r *Result) (float64, bool) { return inUnits(r.Clients.Measured.Latency.P50, micro) }},
	{"p99", "p99, µs", true, func(r *Result) (float64, bool) { return inUnits(r.Clients.Measured.Latency.P99, micro) }},
	{"p999", "p99.9, µs", true, func(r *Result) (float64, bool) { return inUnits(r.Clients.Measured.Latency.P999, micro) }},
	{"max", "slowest, µs", true, func(r *Result) (float64, bool) { return inUnits(r.Clients.Measured.Latency.Max, micro) }},
	{"p99-quiet", "p99 ÷ p99 while quiet", false, func(r *Result) (float64, bool) {
		return divided(r.Clients.Measured.Latency.P99, r.Clients.Quiet.Latency.P99, 1)
	}},
	{"registrations", "registrations", false, func(r *Result) (float64, bool) { return inUnits(r.Measured.Registered, 1) }},
	{"registration-cpu", "CPU per registration, ms", true, registrationCPU},
	{"registration-p50", "registrations, p50, ms", true, func(r *Result) (float64, bool) { return inUnits(r.Fleet.Registrations.Latency.P50, milli) }},
	{"registration-p99", "registrations, p99, ms", true, func(r *Result) (float64, bool) { return inUnits(r.Fleet.Registrations.Latency.P99, milli) }},
	{"comeback-p99", "brokers that come back, p99, ms", true, func(r *Result) (float64, bool) { return inUnits(r.Fleet.Comebacks.Latency.P99, milli) }},
	{"memory", "memory at the end, MiB", true, func(r *Result) (float64, bool) { return inUnits(r.End.Resident, mib) }},
	{"peak-memory", "most memory, MiB", true, func(r *Result) (float64, bool) { return inUnits(r.End.Peak, mib) }},
	{"answer", "bytes per answer", false, func(r *Result) (float64, bool) { return inUnits(int64(r.AnswerBytes()), 1) }},
	{"late", "load generator late, p99, µs", false, func(r *Result) (float64, bool) { return inUnits(r.Clients.Measured.Late.P99, micro) }},
}

// registrationCPU is what a registration of the measured phase took. The part of clients is that of the quiet phase. Without one it
// can't be told, nor where brokers die, which costs too and makes answers shorter.
func registrationCPU(r *Result) (float64, bool) {
	own := r.Measured.CPU
	if r.Workload.Clients.Connections > 0 {
		if r.Quiet.Wall == 0 || r.Workload.Fleet.Death.Brokers > 0 {
			return 0, false
		}
		own -= time.Duration(float64(r.Quiet.CPU) * float64(r.Measured.Wall) / float64(r.Quiet.Wall))
	}
	v, ok := divided(own, r.Measured.Acknowledged, milli)
	return v, ok && r.Known && own > 0 // less than nothing: lost in the noise of the clients' part
}

// sizes of a workload, for the axis of a plot.
var sizes = []measure{
	{key: "topics", title: "topics", value: func(r *Result) (float64, bool) { return inUnits(int64(r.Workload.Fleet.Topics), 1) }},
	{key: "brokers", title: "brokers", value: func(r *Result) (float64, bool) { return inUnits(int64(r.Workload.Fleet.Brokers), 1) }},
	{key: "connections", title: "connections", value: func(r *Result) (float64, bool) { return inUnits(int64(r.Workload.Clients.Connections), 1) }},
	{key: "depth", title: "requests written at once", value: func(r *Result) (float64, bool) { return inUnits(int64(r.Workload.Clients.Depth), 1) }},
}
