package bench

import (
	"fmt"
	"time"

	"github.com/waymark-mq/waymark/bench/clients"
	"github.com/waymark-mq/waymark/bench/fleet"
	"github.com/waymark-mq/waymark/bench/servers"
	"github.com/waymark-mq/waymark/profiles"
)

// Result is one workload on one server. Durations are in nanoseconds, sizes in bytes.
type Result struct {
	Profile  string            `json:"profile"`
	Variant  string            `json:"variant"`
	Server   string            `json:"server"`
	Loops    int               `json:"loops"`
	Round    int               `json:"round"` // results of one round are compared with one another
	Smoke    bool              `json:"smoke"`
	Floor    bool              `json:"floor"`
	Workload profiles.Workload `json:"workload"`
	Machine  Machine           `json:"machine"`

	Start    servers.Usage   `json:"start"`  // once it accepts connections
	Listen   time.Duration   `json:"listen"` // from its start until then; 0: it ran already
	Fill     Fill            `json:"fill"`
	Connect  Connect         `json:"connect"`
	Quiet    Spent           `json:"quiet"`
	Measured Spent           `json:"measured"`
	End      servers.Usage   `json:"end"`
	Known    bool            `json:"known"` // CPU and memory are known
	Clients  clients.Outcome `json:"clients"`
	Fleet    fleet.Outcome   `json:"fleet"`
}

// Fill is the first registration of every broker.
type Fill struct {
	fleet.Registrations
	BodyBytes int           `json:"body_bytes"`
	Wall      time.Duration `json:"wall"`
	CPU       time.Duration `json:"cpu"`
	Resident  int64         `json:"resident"` // afterwards
}

// Connect is the opening of the clients' connections one after another, with one answered query on each.
type Connect struct {
	Connections int           `json:"connections"`
	Wall        time.Duration `json:"wall"`
	CPU         time.Duration `json:"cpu"`
	Grown       int64         `json:"grown"` // resident bytes more than before
}

// Spent is what a phase took of the server.
type Spent struct {
	Wall       time.Duration `json:"wall"`
	CPU        time.Duration `json:"cpu"`
	Answered   int64         `json:"answered"`   // requests of clients
	Registered int64         `json:"registered"` // registrations due in the phase, comebacks included
	// Acknowledged are registrations answered between the phase's two ends, whenever they were due: what the CPU time went into,
	// also on a server that can't keep up.
	Acknowledged int64 `json:"acknowledged"`
}

// AnswerBytes is the mean size of the answers to clients; 0 without any.
func (r *Result) AnswerBytes() int {
	if n := r.Clients.Measured.Latency.Count; n > 0 {
		return int(r.Clients.Measured.Bytes / n)
	}
	return 0
}

// Faults says what the server did that it should not have done under this workload, one line each.
func (r *Result) Faults() []string {
	var list []string
	add := func(n int64, format string, args ...any) {
		if n > 0 {
			list = append(list, fmt.Sprintf("%d ", n)+fmt.Sprintf(format, args...))
		}
	}
	c := &r.Clients
	add(c.Unanswered, "requests were not answered")
	add(c.LostCount, "connections of clients ended: %v", c.Lost)
	for code, n := range c.Refused {
		add(n, "requests were answered with code %d", code)
	}
	if !r.Floor {
		add(c.Strangers, "answers had an opaque that was not asked")
	}
	if !r.topicsMayBeGone() {
		add(c.NotFound-c.Misses, "topics were not found though a broker has them")
	}
	for what, registrations := range map[string]*fleet.Registrations{
		"first registrations": &r.Fill.Registrations, "registrations": &r.Fleet.Registrations, "registrations of brokers that came back": &r.Fleet.Comebacks,
	} {
		for code, n := range registrations.Refused {
			add(n, "%s were answered with code %d", what, code)
		}
	}
	add(r.Fleet.LostCount, "times a broker lost its connection or got no answer: %v", r.Fleet.Lost)
	return list
}

// topicsMayBeGone reports whether a topic may rightly be unknown at times.
func (r *Result) topicsMayBeGone() bool {
	f := &r.Workload.Fleet
	return r.Workload.Cold || f.Death.Brokers > 0 && (f.BrokersPerTopic > 0 || f.Death.Brokers == f.Brokers)
}
