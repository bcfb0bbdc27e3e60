package clients

import (
	"math/rand/v2"
	"strconv"

	"github.com/waymark-mq/waymark/bench/topology"
	"github.com/waymark-mq/waymark/bench/wire"
	"github.com/waymark-mq/waymark/codec"
	"github.com/waymark-mq/waymark/profiles"
)

// kind of request, as a mix names them.
type kind int

const (
	route kind = iota
	miss
	heartbeat
	cluster
	topics
	kinds
)

const missingTopics = 1_000

// requests are all that a profile's clients ask, encoded. They are shared by the drivers and not written to.
type requests struct {
	sets  [kinds]*wire.Frames
	upTo  [kinds]float64 // share of this kind and those before, of 1
	skew  float64
	conns int  // connections there are
	first kind // the only kind there is; kinds: there are several
}

func newRequests(c *profiles.Clients, t *topology.Topology) *requests {
	header := codec.SerializeJSON
	if c.Header == profiles.RocketMQ {
		header = codec.SerializeROCKETMQ
	}
	encode := func(n int, code int32, fields func(i int) []codec.ExtField) *wire.Frames {
		return wire.Encode(header, n, func(i int) *codec.Header {
			return &codec.Header{Code: code, Version: int32(c.Version), ExtFields: fields(i)}
		})
	}
	none := func(int) []codec.ExtField { return nil }
	r := &requests{skew: c.Skew, conns: max(c.Connections, 1)}
	shares := [kinds]float64{route: c.Mix.Route, miss: c.Mix.Miss, heartbeat: c.Mix.Heartbeat, cluster: c.Mix.Cluster, topics: c.Mix.Topics}
	r.share(shares)
	for k, share := range shares {
		if share == 0 {
			continue
		}
		switch kind(k) {
		case route:
			r.sets[k] = encode(len(t.Topics), codec.RequestGetRouteInfoByTopic, func(i int) []codec.ExtField {
				return []codec.ExtField{{Name: "topic", Value: t.Topics[i]}}
			})
		case miss:
			r.sets[k] = encode(missingTopics, codec.RequestGetRouteInfoByTopic, func(i int) []codec.ExtField {
				return []codec.ExtField{{Name: "topic", Value: "%RETRY%missing-" + strconv.Itoa(i)}}
			})
		case heartbeat:
			r.sets[k] = encode(len(t.Brokers), codec.RequestBrokerHeartbeat, func(i int) []codec.ExtField {
				b := &t.Brokers[i]
				return []codec.ExtField{{Name: "clusterName", Value: b.Cluster}, {Name: "brokerAddr", Value: b.Addr}, {Name: "brokerName", Value: b.Name}}
			})
		case cluster:
			r.sets[k] = encode(1, codec.RequestGetBrokerClusterInfo, none)
		case topics:
			r.sets[k] = encode(1, codec.RequestGetAllTopicListFromNameserver, none)
		}
	}
	return r
}

// share sets upTo and first.
func (r *requests) share(shares [kinds]float64) {
	total := 0.0
	for _, s := range shares {
		total += s
	}
	r.first = kinds
	sum, several := 0.0, false
	for k, s := range shares {
		sum += s
		r.upTo[k] = sum / total
		if s > 0 {
			several = several || r.first != kinds
			r.first = kind(k)
		}
	}
	if several {
		r.first = kinds
	}
}

// picker chooses requests. The same seed chooses the same ones.
type picker struct {
	*requests
	rng  *rand.Rand
	zipf *rand.Zipf // over topics; nil: all alike
}

func (r *requests) picker(seed, driver uint64) *picker {
	p := &picker{requests: r, rng: rand.New(rand.NewPCG(seed, driver+2))}
	if set := r.sets[route]; set != nil && r.skew > 0 {
		p.zipf = rand.NewZipf(p.rng, r.skew, 1, uint64(set.Len()-1))
	}
	return p
}

// next chooses a request for a connection, by its number.
func (p *picker) next(conn int) (k kind, i int) {
	if k = p.first; k == kinds {
		k = route
		for share := p.rng.Float64(); k < kinds-1 && share >= p.upTo[k]; {
			k++
		}
	}
	switch {
	case k == route && p.zipf != nil:
		return k, int(p.zipf.Uint64())
	case k == heartbeat:
		return k, p.broker(conn)
	}
	return k, p.rng.IntN(p.sets[k].Len())
}

// broker chooses one of the brokers that live on a connection: each is on one, unless there are fewer than connections.
func (p *picker) broker(conn int) int {
	n := p.sets[heartbeat].Len()
	first := conn % min(n, p.conns)
	own := (n - first + p.conns - 1) / p.conns
	return first + p.conns*p.rng.IntN(own)
}
