package profiles

import "time"

// Workload is one load on one nameserver. Its phases follow one another: first registrations, connecting, warm-up,
// quiet phase, measured phase.
type Workload struct {
	Seed uint64 // everything random follows from it
	// Cold measures from the first registration and the first connection on; there is nothing before.
	Cold     bool
	Warmup   time.Duration // as the measured phase, but not measured
	Quiet    time.Duration // clients and heartbeats only, measured by itself; 0: no such phase
	Duration time.Duration // the measured phase
	Fleet    Fleet
	Clients  Clients
}

// Fleet is what the brokers are and do.
type Fleet struct {
	Clusters        int // the brokers are divided over them in order
	Brokers         int
	Topics          int // of all brokers together
	BrokersPerTopic int `toml:"brokers_per_topic"` // 0: every broker has every topic
	Queues          int // of a topic on a broker, for reading and for writing
	TopicNameLength int `toml:"topic_name_length"` // random letters before a topic's number; 0: the letter T
	Release         int // 4 or 5: whose bodies and headers they send

	FillWithin    time.Duration `toml:"fill_within"` // first registrations are spread over it; 0: each right after another's answer
	Heartbeat     time.Duration // period of one-way heartbeats; 0: none
	Register      time.Duration // period of registrations; 0: none
	AtOnce        bool          `toml:"at_once"`        // a round's registrations come at once instead of spread over the period
	RegisterAfter time.Duration `toml:"register_after"` // instead of a period: mean pause after an answer, from none to twice as long
	NewVersion    bool          `toml:"new_version"`    // a registration has a new DataVersion also where no topic changed
	Changed       int           // topics that change with a registration
	Death         Death
}

// Death is how brokers end: their connections close without a word, and they come back.
type Death struct {
	Brokers int           // how many, always the same; 0: none
	First   time.Duration // from the beginning of the measured phase on
	Every   time.Duration // 0: once
	Back    time.Duration // from the end to the next registration; 0: never
}

// Clients is what the clients ask.
type Clients struct {
	Connections int     // 0: no clients
	Depth       int     // without a rate: requests written at once; the next ones follow when all are answered
	Rate        float64 // requests per second over all connections, each at its scheduled time; 0: closed loop
	Header      Header
	Version     int     // of the header; from 401 on routes come in the standard JSON dialect
	Skew        float64 // exponent of Zipf's law over the topics, above 1; 0: all alike
	Mix         Mix
}

// Mix has the shares of the requests; only their proportions count.
type Mix struct {
	Route     float64 // 105 of a topic that some broker has
	Miss      float64 // 105 of a topic that none has
	Heartbeat float64 // 904 of a registered broker, answered
	Cluster   float64 // 106, the list of brokers
	Topics    float64 // 206, the list of topics
}

// Header is the form of a request's header.
type Header string

const (
	JSON     Header = "json"
	RocketMQ Header = "rocketmq" // the binary form
)

// Events reports whether brokers do anything but heartbeats after their first registration.
func (f *Fleet) Events() bool {
	return f.Register > 0 || f.RegisterAfter > 0 || f.Death.Brokers > 0
}

// defaults is what a file need not say.
func defaults() Workload {
	return Workload{
		Seed:    1,
		Fleet:   Fleet{Clusters: 1, Queues: 8, Release: 5},
		Clients: Clients{Depth: 1, Header: JSON, Version: 513},
	}
}
