package namesrv

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/waymark-mq/waymark/codec"
	"github.com/waymark-mq/waymark/core"
)

// While brokers come, change and go by every way there is, each answer that eight readers get is whole: in
// a route every queue has its broker with an address and the reverse, cluster and broker tables agree, and
// all topics of a broker show the same of it. faults has the same with 1,000 brokers of 1,000 topics.
func TestEveryAnswerIsWholeWhileBrokersFlap(t *testing.T) {
	const (
		flappers, brokersEach = 4, 6
		rounds                = 25
		readers               = 8
	)
	s := start(t)
	var done atomic.Bool
	var flapping, reading sync.WaitGroup
	for f := range flappers {
		flapping.Go(func() { flap(t, s, f, brokersEach, rounds) })
	}
	seen := make([]flapSeen, readers)
	for i := range readers {
		c := s.dial()
		reading.Go(func() {
			for n := 0; !done.Load() || n < 50; n++ {
				if err := seen[i].read(c, n); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	flapping.Wait()
	done.Store(true)
	reading.Wait()
	var all flapSeen
	for _, one := range seen {
		all.routes, all.misses, all.clusters = all.routes+one.routes, all.misses+one.misses, all.clusters+one.clusters
	}
	if all.routes == 0 || all.clusters == 0 {
		t.Errorf("%+v: the readers saw nothing", all)
	}
	t.Logf("%+v", all)
}

// flap registers and removes brokers of its own: by 104, by the connection's end, by a move to another
// connection, by renaming, with changed topics in between. Each is a master and a slave of one name.
func flap(t *testing.T, s *testServer, flapper, brokers, rounds int) {
	random := rand.New(rand.NewPCG(1, uint64(flapper)))
	c := s.dial()
	for round := range rounds {
		b := random.IntN(brokers)
		r := broker(fmt.Sprintf("f%d-%d", flapper, b)).counter(int64(round)).having(append(many(random.IntN(8), 4), named("Base", "Pad")...)...)
		switch random.IntN(6) {
		case 0:
			c.call(r.unregister())
		case 1:
			c.close()
			c = s.dial()
		case 2:
			c.call(r.set("brokerName", "renamed-"+r.fields["brokerName"]).request())
		case 3:
			c.call(r.slave(1).request())
		default:
			c.call(r.request())
		}
		if t.Failed() {
			return
		}
	}
}

// flapSeen is what a reader has seen.
type flapSeen struct{ routes, misses, clusters int }

// read asks one of several questions and checks the answer.
func (seen *flapSeen) read(c *client, n int) error {
	switch n % 4 {
	case 0, 1:
		r := routeOf([]string{"Base", "Topic000003"}[n/4%2])
		if n%2 == 1 {
			r = r.from(317) // the legacy form
		}
		a := c.call(r)
		if a.code == codec.ResponseTopicNotExist {
			seen.misses++
			return nil
		}
		seen.routes++
		return wholeRoute(a.body)
	case 2:
		seen.clusters++
		return wholeClusters(c.call(ask(codec.RequestGetBrokerClusterInfo)).body)
	}
	var list struct{ TopicList []string }
	for _, r := range []request{ask(codec.RequestGetAllTopicListFromNameserver), ask(codec.RequestGetTopicsByCluster, "cluster", cluster)} {
		body := c.call(r).body
		if err := json.Unmarshal([]byte(body), &list); err != nil {
			return fmt.Errorf("topics %s: %w", body, err)
		}
		for i := 1; i < len(list.TopicList); i++ {
			if list.TopicList[i-1] >= list.TopicList[i] {
				return fmt.Errorf("topic %d of %s", i, body)
			}
		}
	}
	return nil
}

// bareIDs are broker ids that are keys without quotes, as in the legacy form.
var bareIDs = regexp.MustCompile(`([{,])(-?\d+):`)

func quotedIDs(body string) []byte { return []byte(bareIDs.ReplaceAllString(body, `$1"$2":`)) }

func wholeRoute(body string) error {
	var r struct {
		BrokerDatas []struct {
			BrokerName  string
			BrokerAddrs map[int64]string
		}
		QueueDatas []struct{ BrokerName string }
	}
	if err := json.Unmarshal(quotedIDs(body), &r); err != nil {
		return fmt.Errorf("route %s: %w", body, err)
	}
	if len(r.BrokerDatas) == 0 || len(r.BrokerDatas) != len(r.QueueDatas) {
		return fmt.Errorf("%d brokers and %d queues in %s", len(r.BrokerDatas), len(r.QueueDatas), body)
	}
	for i, b := range r.BrokerDatas {
		if b.BrokerName != r.QueueDatas[i].BrokerName || len(b.BrokerAddrs) == 0 || (i > 0 && r.BrokerDatas[i-1].BrokerName >= b.BrokerName) {
			return fmt.Errorf("broker %d in %s", i, body)
		}
	}
	return nil
}

// wholeClusters checks the body of 106: every name under a cluster has its broker with an address, and the reverse.
func wholeClusters(body string) error {
	var info struct {
		BrokerAddrTable map[string]struct {
			BrokerAddrs map[int64]string
			Cluster     string
		}
		ClusterAddrTable map[string][]string
	}
	if err := json.Unmarshal(quotedIDs(body), &info); err != nil {
		return fmt.Errorf("clusters %s: %w", body, err)
	}
	listed := map[string]bool{}
	for name, brokers := range info.ClusterAddrTable {
		for _, b := range brokers {
			listed[b] = true
			if len(info.BrokerAddrTable[b].BrokerAddrs) == 0 {
				return fmt.Errorf("cluster %s lists %s, which has no address: %s", name, b, body)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(info.BrokerAddrTable)) {
		if !listed[name] {
			return fmt.Errorf("no cluster lists %s: %s", name, body)
		}
	}
	return nil
}

// The ends of many connections that come while the writer is busy are one wave: one step applies them all,
// so that a reader sees either every broker or none of them.
func TestEndsThatCameTogetherAreOneWave(t *testing.T) {
	const brokers = 200
	s := start(t)
	clients := make([]*client, brokers)
	for i := range clients {
		clients[i] = s.dial()
		clients[i].register(broker(fmt.Sprintf("b%03d", i)))
	}
	release := s.parkWriter()
	for _, c := range clients {
		c.close()
	}
	queued := func() (n int) {
		s.changes.mu.Lock()
		defer s.changes.mu.Unlock()
		for _, c := range s.changes.items {
			if _, end := c.command.(*core.EndConnection); end {
				n++
			}
		}
		return n
	}
	eventually(t, "the ends wait for the writer", func() bool { return queued() == brokers })
	if n := s.table.Load().Brokers(); n != brokers {
		t.Fatalf("%d brokers while the writer is busy, want %d", n, brokers)
	}
	release()
	eventually(t, "none is left", func() bool {
		switch n := s.table.Load().Brokers(); n {
		case 0:
			return true
		case brokers:
			return false
		default:
			t.Fatalf("%d of %d brokers are left: more than one step", n, brokers)
			return false
		}
	})
	s.dial().wantRoute("Base", "none")
	if got := len(s.logged("broker removed: its connection ended")); got != brokers {
		t.Errorf("%d ends told of, want %d", got, brokers)
	}
}

// A removal that waits behind, or before, a registration of the same broker on another connection takes
// nothing from it, and nobody sees the broker missing in between.
func TestRemovalQueuedWithARegistration(t *testing.T) {
	for _, tt := range []struct {
		name            string
		removedFirst    bool
		remove          func(s *testServer, old *client, r registration)
		route, afterEnd string
	}{
		{"the old connection ends, then it registers", true, func(_ *testServer, old *client, _ registration) { old.close() }, "a{0=a:10911} 4/4/6/0", "none"},
		{"it registers, then the old connection ends", false, func(_ *testServer, old *client, _ registration) { old.close() }, "a{0=a:10911} 4/4/6/0", "none"},
		{"a 104, then it registers", true, func(_ *testServer, old *client, r registration) { old.send(r.unregister()) }, "a{0=a:10911} 4/4/6/0", "none"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := start(t)
			old, fresh := s.dial(), s.dial()
			r := broker("a")
			old.register(r)
			release := s.parkWriter()
			waiting := func(n int) func() bool {
				return func() bool {
					s.changes.mu.Lock()
					defer s.changes.mu.Unlock()
					return len(s.changes.items) == n
				}
			}
			remove := func() { tt.remove(s, old, r) }
			var opaque int32
			register := func() { opaque = fresh.send(r.counter(2).request()) }
			first, second := register, remove
			if tt.removedFirst {
				first, second = remove, register
			}
			first()
			eventually(t, "the first waits", waiting(1))
			second()
			eventually(t, "both wait", waiting(2))
			release()
			fresh.wait(opaque)
			s.barrier()
			fresh.wantRoute("Base", tt.route)
			s.end(fresh)
			s.dial().wantRoute("Base", tt.afterEnd)
		})
	}
}
