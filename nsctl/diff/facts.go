package diff

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/waymark-mq/waymark/codec"
)

// facts are what a nameserver says of one thing: what → value. Order and dialect of an answer leave no trace in them, and two
// answers that mean the same are the same facts.
type facts map[string]string

// Kinds of things.
const (
	KindBroker  = "broker"
	KindCluster = "cluster"
	KindTopic   = "topic"
	KindRoute   = "route"
	KindKV      = "kv"
)

// thing is what facts are about.
type thing struct{ kind, name string }

func (a thing) compare(b thing) int {
	return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.name, b.name))
}

// Known is what differs of a thing that some don't know.
const Known = "known"

// clusterFacts are what cluster info says of each broker name and each cluster.
func clusterFacts(info *codec.ClusterInfo) map[thing]facts {
	all := map[thing]facts{}
	for name, b := range info.Brokers {
		f := facts{}
		f.broker("", b)
		all[thing{KindBroker, name}] = f
	}
	for name, brokers := range info.Clusters {
		f := facts{}
		for _, b := range brokers {
			f["broker "+b] = "yes"
		}
		all[thing{KindCluster, name}] = f
	}
	return all
}

// broker adds a broker name's facts; each begins with prefix.
func (f facts) broker(prefix string, b codec.BrokerData) {
	f[prefix+"cluster"] = b.Cluster
	if b.ZoneName.S != "" {
		f[prefix+"zone"] = b.ZoneName.S
	}
	if b.EnableActingMaster {
		f[prefix+"acting master"] = "yes"
	}
	for _, a := range b.Addrs {
		f[fmt.Sprintf("%saddress of id %d", prefix, a.ID)] = a.Addr
	}
}

// routeFacts are what a route says.
func routeFacts(r *codec.TopicRouteData) facts {
	f := facts{"route": "yes"} // so that an empty one isn't none
	for _, b := range r.Brokers {
		f.broker("broker "+b.BrokerName+": ", b)
	}
	// One broker may have several entries: as many facts.
	for _, q := range sortedQueues(r.Queues) {
		what := "queues on " + q.BrokerName
		for n := 2; f[what] != ""; n++ {
			what = fmt.Sprintf("queues on %s (%d)", q.BrokerName, n)
		}
		f[what] = fmt.Sprintf("read %d, write %d, perm %s, flags %d", q.ReadQueueNums, q.WriteQueueNums, Permission(q.Perm), q.TopicSysFlag)
	}
	if r.OrderTopicConf.S != "" {
		f["order"] = r.OrderTopicConf.S
	}
	for addr, servers := range r.FilterServers {
		if len(servers) > 0 {
			f["filter servers of "+addr] = strings.Join(slices.Sorted(slices.Values(servers)), ", ")
		}
	}
	for _, m := range r.Mappings {
		f["static mapping on "+m.Key] = mappingText(m)
	}
	return f
}

// Permission is a queue's perm as people write it: R and W, or the number if it has other bits.
func Permission(perm int32) string {
	switch perm {
	case codec.PermRead | codec.PermWrite:
		return "RW"
	case codec.PermRead:
		return "R"
	case codec.PermWrite:
		return "W"
	}
	return fmt.Sprint(perm)
}

func sortedQueues(queues []codec.QueueData) []codec.QueueData {
	return slices.SortedFunc(slices.Values(queues), func(a, b codec.QueueData) int {
		return cmp.Or(cmp.Compare(a.BrokerName, b.BrokerName), cmp.Compare(a.ReadQueueNums, b.ReadQueueNums), cmp.Compare(a.WriteQueueNums, b.WriteQueueNums),
			cmp.Compare(a.Perm, b.Perm), cmp.Compare(a.TopicSysFlag, b.TopicSysFlag))
	})
}

func mappingText(m codec.TopicQueueMapping) string {
	var b strings.Builder
	fmt.Fprintf(&b, "of %d, epoch %d, scope %s, from %s:", m.TotalQueues, m.Epoch, m.Scope.S, m.BrokerName.S)
	for _, pair := range m.CurrIDMap { // sorted by the parser
		fmt.Fprintf(&b, " %d→%d", pair.Logical, pair.Physical)
	}
	return b.String()
}

// kvFacts are a namespace's keys and values.
func kvFacts(table map[string]string) facts {
	f := facts{}
	for key, value := range table {
		f["key "+key] = value
	}
	return f
}

// digest stands for facts where all of them would be too many to keep.
type digest [sha256.Size]byte

func (f facts) digest() (d digest) {
	h := sha256.New()
	var length [8]byte
	for _, what := range f.sorted() {
		for _, text := range []string{what, f[what]} {
			binary.BigEndian.PutUint64(length[:], uint64(len(text)))
			h.Write(length[:])
			h.Write([]byte(text))
		}
	}
	h.Sum(d[:0])
	return d
}

func (f facts) sorted() []string {
	names := make([]string, 0, len(f))
	for what := range f {
		names = append(names, what)
	}
	slices.Sort(names)
	return names
}
