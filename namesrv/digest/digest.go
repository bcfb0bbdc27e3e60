// Package digest sums up what all nameservers of a cluster should hold alike once every broker has registered with each: broker names with their
// cluster, addresses, zone and acting master, topics with their queues and static mappings, and the KV configuration. Two tables with equal digests
// are equal, but for one chance in 2^64; what is only of this server's making (signs of life, versions, the order in which things came) isn't in it.
//
// Sums have no order, so that a table is summed up in one pass: a broker's digest is that of its group, plus for each topic the product of two
// hashes, the topic's name's and its queues'; topics of the same brokers and queues are added up first (core.Snapshot.GroupSums).
package digest

import (
	"encoding/binary"
	"slices"
	"strconv"
	"sync"

	"github.com/cespare/xxhash/v2"

	"github.com/waymark-mq/waymark/core"
	"github.com/waymark-mq/waymark/namesrv/peers"
)

// Table is a snapshot summed up. Immutable.
type Table struct {
	Snapshot *core.Snapshot
	Sum      peers.Digest
	Brokers  []peers.Entry // by name; their digests are of group and topics. Of a name that only static mappings have, of these
}

// Cache keeps the table of the last snapshot asked for. Any goroutine.
type Cache struct {
	mu   sync.Mutex
	last *Table
}

// Of sums up a snapshot, unless it was the last.
func (c *Cache) Of(s *core.Snapshot) *Table {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.last == nil || c.last.Snapshot != s {
		c.last = newTable(s, c.last)
	}
	return c.last
}

func newTable(s *core.Snapshot, before *Table) *Table {
	sums := s.GroupSums(xxhash.Sum64String, queues)
	t := &Table{Snapshot: s, Sum: peers.Digest{Brokers: len(sums), Topics: s.Topics()}, Brokers: make([]peers.Entry, len(sums))}
	mapped := mappings(s)
	for i, g := range sums {
		d := mixed(group(g.Group) + g.Topics + mapped[g.Name])
		delete(mapped, g.Name)
		t.Brokers[i] = peers.Entry{Name: g.Name, Digest: d}
		t.Sum.Routes += d
	}
	for name, sum := range mapped { // of a broker name that isn't registered
		d := mixed(xxhash.Sum64String(name) + sum)
		t.Brokers = append(t.Brokers, peers.Entry{Name: name, Digest: d})
		t.Sum.Routes += d
	}
	if len(mapped) > 0 {
		slices.SortFunc(t.Brokers, byName)
	}
	if before != nil && s.SameKV(before.Snapshot) {
		t.Sum.KV = before.Sum.KV
		return t
	}
	names, _ := s.KVNamespaces()
	for _, name := range names {
		t.Sum.KV += namespace(name, s.KVEntries(name))
	}
	return t
}

// queues is the digest of a topic's queues at one broker; odd, so that a product with it loses nothing.
func queues(q core.QueueView) uint64 {
	var b [16]byte
	for i, n := range []int32{q.ReadQueueNums, q.WriteQueueNums, q.Perm, q.TopicSysFlag} {
		binary.LittleEndian.PutUint32(b[4*i:], uint32(n))
	}
	return xxhash.Sum64(b[:]) | 1
}

// mappings sums up the static mappings by the broker name whose queues they are of.
func mappings(s *core.Snapshot) map[string]uint64 {
	sums := map[string]uint64{}
	for m := range s.StaticMappings() {
		sums[m.BrokerName] += mapping(m)
	}
	return sums
}

func mapping(m core.MappingView) uint64 { return entry(m.Topic, m.Info) }

// group is the digest of a group without its topics.
func group(g *core.Group) uint64 {
	b := appendText(make([]byte, 0, 256), g.Name)
	b = appendText(b, g.ClusterName)
	b = strconv.AppendBool(b, g.ZoneName.Valid)
	b = appendText(b, g.ZoneName.S)
	b = strconv.AppendBool(b, g.ActingMaster)
	for _, a := range g.Addrs {
		b = appendText(binary.AppendVarint(b, a.BrokerID), a.Addr)
	}
	return xxhash.Sum64(b)
}

func entry(key, value string) uint64 {
	b := appendText(make([]byte, 0, 256), key)
	return xxhash.Sum64(appendText(b, value))
}

// namespace is the digest of a KV namespace.
func namespace(name string, entries map[string]string) uint64 {
	sum := xxhash.Sum64String(name)
	for key, value := range entries {
		sum += entry(key, value)
	}
	return mixed(sum)
}

func appendText(b []byte, text string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(text))), text...)
}

// mixed is a hash of a sum: sums of sums would be equal whichever of them a part is in.
func mixed(sum uint64) uint64 {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], sum)
	return xxhash.Sum64(b[:])
}
