// Package topology names the brokers and topics of a load profile and says which topics a broker has. The same
// profile and seed give the same names everywhere.
package topology

import (
	"fmt"
	"math/rand/v2"
	"strconv"

	"github.com/waymark-mq/waymark/profiles"
)

// Topology is a fleet's brokers and topics. Nothing of it is written to after New.
type Topology struct {
	Brokers []Broker
	Topics  []string
}

// Broker is a master; Topics are indexes into the topology's, shared by all brokers that have the same.
type Broker struct {
	Cluster, Name, Addr, HAAddr string
	Topics                      *TopicSet
}

// TopicSet is a list of topics.
type TopicSet struct{ Indexes []int32 }

// New lays out a fleet.
func New(f *profiles.Fleet, seed uint64) *Topology {
	t := &Topology{Brokers: make([]Broker, f.Brokers), Topics: names(f.Topics, f.TopicNameLength, seed)}
	sets := place(f)
	for i := range t.Brokers {
		host := fmt.Sprintf("10.%d.%d.%d", i>>16, i>>8&0xff, i&0xff)
		t.Brokers[i] = Broker{
			Cluster: "cluster-" + strconv.Itoa(i*f.Clusters/f.Brokers),
			Name:    "broker-" + strconv.Itoa(i),
			Addr:    host + ":10911",
			HAAddr:  host + ":10912",
			Topics:  sets[i],
		}
	}
	return t
}

func names(n, letters int, seed uint64) []string {
	rng := rand.New(rand.NewPCG(seed, 1))
	list := make([]string, n)
	prefix := []byte{'T'}
	for i := range list {
		if letters > 0 {
			prefix = prefix[:0]
			for range letters {
				prefix = append(prefix, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"[rng.IntN(52)])
			}
		}
		list[i] = string(prefix) + strconv.Itoa(i)
	}
	return list
}

// place gives each broker its topics. A topic lies on brokers that follow one another, the next topic on the next ones.
func place(f *profiles.Fleet) []*TopicSet {
	sets := make([]*TopicSet, f.Brokers)
	perTopic := f.BrokersPerTopic
	if perTopic == 0 || perTopic == f.Brokers {
		all := &TopicSet{Indexes: make([]int32, f.Topics)}
		for i := range all.Indexes {
			all.Indexes[i] = int32(i)
		}
		for b := range sets {
			sets[b] = all
		}
		return sets
	}
	for b := range sets {
		sets[b] = new(TopicSet)
	}
	for topic := range f.Topics {
		for k := range perTopic {
			b := sets[(topic*perTopic+k)%f.Brokers]
			b.Indexes = append(b.Indexes, int32(topic))
		}
	}
	return share(sets)
}

// share replaces equal sets by one.
func share(sets []*TopicSet) []*TopicSet {
	known := map[string]*TopicSet{}
	for b, set := range sets {
		key := fmt.Sprint(set.Indexes)
		if known[key] == nil {
			known[key] = set
		}
		sets[b] = known[key]
	}
	return sets
}
