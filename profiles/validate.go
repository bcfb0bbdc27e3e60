package profiles

import (
	"fmt"
	"time"
)

// Bounds keep a typing error from taking the machine's memory.
const (
	maxBrokers     = 10_000
	maxTopics      = 1_000_000
	maxTables      = 20_000_000 // topics over all brokers
	maxConnections = 1_000_000
	maxDepth       = 1_024
	maxTopicName   = 100
	maxDuration    = 24 * time.Hour
)

// Validate returns the first thing that is wrong, named by its key.
func (w *Workload) Validate() error {
	if w.Duration <= 0 {
		return fmt.Errorf("duration: %v, must be above 0", w.Duration)
	}
	for _, d := range []struct {
		key   string
		value time.Duration
	}{
		{"duration", w.Duration}, {"warmup", w.Warmup}, {"quiet", w.Quiet},
		{"fleet.fill_within", w.Fleet.FillWithin}, {"fleet.heartbeat", w.Fleet.Heartbeat}, {"fleet.register", w.Fleet.Register},
		{"fleet.register_after", w.Fleet.RegisterAfter}, {"fleet.death.first", w.Fleet.Death.First},
		{"fleet.death.every", w.Fleet.Death.Every}, {"fleet.death.back", w.Fleet.Death.Back},
	} {
		if d.value < 0 || d.value > maxDuration {
			return fmt.Errorf("%s: %v, outside 0 to %v", d.key, d.value, maxDuration)
		}
	}
	if w.Cold && (w.Warmup > 0 || w.Quiet > 0) {
		return fmt.Errorf("cold: has neither warmup nor quiet")
	}
	if err := w.Fleet.validate(); err != nil {
		return err
	}
	if w.Quiet > 0 && (w.Clients.Connections == 0 || !w.Fleet.Events()) {
		return fmt.Errorf("quiet: needs clients, and brokers that do something afterwards")
	}
	return w.Clients.validate(&w.Fleet)
}

func (f *Fleet) validate() error {
	for _, n := range []struct {
		key              string
		value, low, high int
	}{
		{"brokers", f.Brokers, 0, maxBrokers}, {"topics", f.Topics, 0, maxTopics}, {"clusters", f.Clusters, 1, max(1, f.Brokers)},
		{"brokers_per_topic", f.BrokersPerTopic, 0, f.Brokers}, {"queues", f.Queues, 1, 65536},
		{"topic_name_length", f.TopicNameLength, 0, maxTopicName}, {"release", f.Release, 4, 5}, {"changed", f.Changed, 0, f.Topics},
	} {
		if n.value < n.low || n.value > n.high {
			return fmt.Errorf("fleet.%s: %d, outside %d to %d", n.key, n.value, n.low, n.high)
		}
	}
	perTopic := f.BrokersPerTopic
	if perTopic == 0 {
		perTopic = f.Brokers
	}
	if perTopic*f.Topics > maxTables {
		return fmt.Errorf("fleet: %d brokers for each of %d topics, more than %d entries", perTopic, f.Topics, maxTables)
	}
	again := f.Register > 0 || f.RegisterAfter > 0
	switch {
	case f.Register > 0 && f.RegisterAfter > 0:
		return fmt.Errorf("fleet.register, fleet.register_after: only one of them")
	case !again && (f.Changed > 0 || f.NewVersion):
		return fmt.Errorf("fleet.changed, fleet.new_version: without fleet.register or fleet.register_after")
	case f.AtOnce && f.Register == 0:
		return fmt.Errorf("fleet.at_once: without fleet.register")
	case f.Brokers == 0 && (again || f.Heartbeat > 0):
		return fmt.Errorf("fleet: registrations or heartbeats without brokers")
	}
	return f.Death.validate(f)
}

func (d *Death) validate(f *Fleet) error {
	switch {
	case d.Brokers < 0 || d.Brokers > f.Brokers:
		return fmt.Errorf("fleet.death.brokers: %d, outside 0 to %d", d.Brokers, f.Brokers)
	case d.Brokers == 0 && *d != Death{}:
		return fmt.Errorf("fleet.death: without fleet.death.brokers")
	case d.Every > 0 && (d.Back == 0 || d.Back >= d.Every):
		return fmt.Errorf("fleet.death.back: %v, must be above 0 and below every (%v)", d.Back, d.Every)
	}
	return nil
}

func (c *Clients) validate(f *Fleet) error {
	if c.Connections < 0 || c.Connections > maxConnections {
		return fmt.Errorf("clients.connections: %d, outside 0 to %d", c.Connections, maxConnections)
	}
	if c.Depth < 1 || c.Depth > maxDepth {
		return fmt.Errorf("clients.depth: %d, outside 1 to %d", c.Depth, maxDepth)
	}
	if c.Connections == 0 {
		return nil
	}
	shares := []float64{c.Mix.Route, c.Mix.Miss, c.Mix.Heartbeat, c.Mix.Cluster, c.Mix.Topics}
	sum := 0.0
	for _, share := range shares {
		if !(share >= 0 && share <= 1e6) {
			return fmt.Errorf("clients.mix: share %v, outside 0 to 1000000", share)
		}
		sum += share
	}
	switch {
	case sum == 0:
		return fmt.Errorf("clients.mix: nothing to ask")
	case !(c.Rate >= 0 && c.Rate <= 1e9):
		return fmt.Errorf("clients.rate: %v, outside 0 to 1000000000", c.Rate)
	case c.Rate > 0 && c.Depth > 1:
		return fmt.Errorf("clients.depth: %d, has no meaning with a rate", c.Depth)
	case c.Header != JSON && c.Header != RocketMQ:
		return fmt.Errorf("clients.header: %q, neither %q nor %q", c.Header, JSON, RocketMQ)
	case c.Version < 1 || c.Version > 32767:
		return fmt.Errorf("clients.version: %d, outside 1 to 32767", c.Version)
	case c.Skew != 0 && !(c.Skew > 1 && c.Skew <= 10):
		return fmt.Errorf("clients.skew: %v, neither 0 nor above 1 and up to 10", c.Skew)
	case c.Mix.Route > 0 && f.Topics*f.Brokers == 0:
		return fmt.Errorf("clients.mix.route: the fleet has no topics")
	case c.Mix.Heartbeat > 0 && f.Brokers == 0:
		return fmt.Errorf("clients.mix.heartbeat: the fleet has no brokers")
	}
	return nil
}
