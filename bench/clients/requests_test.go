package clients

import (
	"fmt"
	"testing"

	"github.com/waymark-mq/waymark/bench/topology"
	"github.com/waymark-mq/waymark/bench/wire"
	"github.com/waymark-mq/waymark/codec"
	"github.com/waymark-mq/waymark/profiles"
)

func newPicker(c profiles.Clients, seed, driver uint64) *picker {
	f := profiles.Fleet{Clusters: 1, Brokers: 3, Topics: 1000}
	c.Version = 513
	return newRequests(&c, topology.New(&f, seed)).picker(seed, driver)
}

func draw(p *picker, n int) (counts [kinds]int, asked []int, all string) {
	asked = make([]int, 1000)
	for range n {
		k, i := p.next(0)
		counts[k]++
		if k == route {
			asked[i]++
		}
		all += fmt.Sprint(k, i, " ")
	}
	return counts, asked, all
}

func TestPickFollowsTheSeed(t *testing.T) {
	c := profiles.Clients{Skew: 1.2, Mix: profiles.Mix{Route: 1, Heartbeat: 1}}
	_, _, a := draw(newPicker(c, 5, 0), 500)
	_, _, b := draw(newPicker(c, 5, 0), 500)
	_, _, otherSeed := draw(newPicker(c, 6, 0), 500)
	_, _, otherDriver := draw(newPicker(c, 5, 1), 500)
	if a != b || a == otherSeed || a == otherDriver {
		t.Error("the choice does not follow seed and driver")
	}
}

func TestPickFollowsTheMix(t *testing.T) {
	counts, asked, _ := draw(newPicker(profiles.Clients{Mix: profiles.Mix{Route: 5, Miss: 1, Heartbeat: 2, Cluster: 1, Topics: 1}}, 1, 0), 10_000)
	for k, share := range [kinds]float64{route: .5, miss: .1, heartbeat: .2, cluster: .1, topics: .1} {
		if got := float64(counts[k]) / 10_000; got < share*.8 || got > share*1.2 {
			t.Errorf("kind %d: a share of %.2f, want %.2f", k, got, share)
		}
	}
	for topic, n := range asked {
		if n > 30 { // 5 on average
			t.Errorf("topic %d was asked %d times of 5,000 without skew", topic, n)
		}
	}
	counts, asked, _ = draw(newPicker(profiles.Clients{Skew: 1.5, Mix: profiles.Mix{Route: 1}}, 1, 0), 10_000)
	if counts[route] != 10_000 || asked[0] < 2_000 || asked[0] < 2*asked[1] {
		t.Errorf("with skew the first topics were asked %v times", asked[:4])
	}
}

func TestRequestsAreWhatTheyAreCalled(t *testing.T) {
	for _, header := range []profiles.Header{profiles.JSON, profiles.RocketMQ} {
		p := newPicker(profiles.Clients{Header: header, Mix: profiles.Mix{Route: 1, Miss: 1, Heartbeat: 1, Cluster: 1, Topics: 1}}, 1, 0)
		for k, want := range [kinds]struct {
			code  int32
			field string
			value string
		}{
			route:     {105, "topic", "T1"},
			miss:      {105, "topic", "%RETRY%missing-1"},
			heartbeat: {904, "brokerAddr", "10.0.0.1:10911"},
			cluster:   {106, "", ""},
			topics:    {206, "", ""},
		} {
			set := p.sets[k]
			i := min(1, set.Len()-1)
			f, err := codec.ParseFrame(set.Append(nil, i, wire.Opaque(3)))
			if err != nil {
				t.Fatal(err)
			}
			var c codec.Command
			if err := c.Parse(f); err != nil {
				t.Fatal(err)
			}
			value, _ := c.Field(want.field)
			if c.Code != want.code || string(value) != want.value || c.Version != 513 || c.Opaque != wire.Opaque(3) || c.IsOneway() {
				t.Errorf("%s, kind %d: code %d, %s %q, version %d", header, k, c.Code, want.field, value, c.Version)
			}
		}
	}
}

func TestPending(t *testing.T) {
	var p pending
	p.push(-1, 99)
	for i := range int64(1000) {
		p.push(i, int32(i+1000))
		p.push(i+5000, int32(i+5000))
		if due, known, ok := p.answer(int32(i + 5000)); due != i+5000 || !known || !ok { // out of order
			t.Fatal(due, known, ok)
		}
		if due, known, ok := p.answer(7); due != i-1 || known || !ok { // nobody's: the oldest
			t.Fatal(due, known, ok)
		}
	}
	var left []int64
	p.each(func(due int64) { left = append(left, due) })
	if len(left) != 1 || left[0] != 999 || p.open != 1 || len(p.waiting) > 200 {
		t.Errorf("%v wait, %d counted, %d kept", left, p.open, len(p.waiting))
	}
	if _, _, ok := new(pending).answer(1); ok {
		t.Error("an answer without a request")
	}
}

func TestEachBrokerBeatsOnOneConnection(t *testing.T) {
	for _, conns := range []int{1, 2, 3, 5} { // 3 brokers
		p := newPicker(profiles.Clients{Connections: conns, Mix: profiles.Mix{Heartbeat: 1}}, 1, 0)
		on := map[int]map[int]bool{}
		for range 200 {
			for c := range conns {
				k, broker := p.next(c)
				if k != heartbeat {
					t.Fatalf("kind %d", k)
				}
				if on[broker] == nil {
					on[broker] = map[int]bool{}
				}
				on[broker][c] = true
			}
		}
		if len(on) != 3 {
			t.Errorf("%d connections: %d brokers beat", conns, len(on))
		}
		for broker, c := range on {
			if conns <= 3 && len(c) != 1 {
				t.Errorf("%d connections: broker %d beats on %d", conns, broker, len(c))
			}
		}
	}
}
