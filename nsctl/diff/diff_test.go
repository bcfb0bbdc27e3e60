package diff

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/waymark-mq/waymark/codec"
	"github.com/waymark-mq/waymark/nsctl/ask"
)

// registry is a nameserver that answers in another order each time.
type registry struct {
	brokers map[string]codec.BrokerData
	routes  map[string]codec.TopicRouteData // of listed topics; queues only
	kv      map[string]map[string]string
	err     error // of every answer
}

func newRegistry() *registry {
	return &registry{brokers: map[string]codec.BrokerData{}, routes: map[string]codec.TopicRouteData{}, kv: map[string]map[string]string{}}
}

func (r *registry) Clusters(context.Context) (*codec.ClusterInfo, error) {
	info := &codec.ClusterInfo{Brokers: map[string]codec.BrokerData{}, Clusters: map[string][]string{}}
	for name, b := range r.brokers {
		info.Brokers[name] = shuffledAddrs(b)
		info.Clusters[b.Cluster] = append(info.Clusters[b.Cluster], name)
	}
	return info, r.err
}

func (r *registry) Topics(context.Context) ([]string, error) {
	return shuffled(slices.Collect(maps.Keys(r.routes))), r.err
}

func (r *registry) Route(_ context.Context, topic string) (*codec.TopicRouteData, error) {
	route, ok := r.routes[topic]
	if !ok || len(route.Queues) == 0 {
		return nil, ask.ErrNoRoute
	}
	route.Queues = shuffled(route.Queues)
	for _, q := range route.Queues {
		route.Brokers = append(route.Brokers, shuffledAddrs(r.brokers[q.BrokerName]))
	}
	return &route, r.err
}

func (r *registry) KV(_ context.Context, namespace string) (map[string]string, error) {
	return r.kv[namespace], r.err
}

func shuffled[E any](s []E) []E {
	s = slices.Clone(s)
	rand.Shuffle(len(s), func(i, j int) { s[i], s[j] = s[j], s[i] })
	return s
}

func shuffledAddrs(b codec.BrokerData) codec.BrokerData {
	b.Addrs = shuffled(b.Addrs)
	return b
}

func (r *registry) clone() *registry {
	c := newRegistry()
	maps.Copy(c.brokers, r.brokers)
	maps.Copy(c.routes, r.routes)
	for namespace, table := range r.kv {
		c.kv[namespace] = maps.Clone(table)
	}
	return c
}

func draw(t *rapid.T) *registry {
	r := newRegistry()
	for i := range rapid.IntRange(1, 5).Draw(t, "brokers") {
		name := fmt.Sprint("b", i)
		b := codec.BrokerData{BrokerName: name, Cluster: fmt.Sprint("c", i%2)}
		for id := range rapid.IntRange(1, 3).Draw(t, "addresses") {
			b.Addrs = append(b.Addrs, codec.BrokerAddr{ID: int64(id), Addr: fmt.Sprintf("%s:%d", name, id)})
		}
		r.brokers[name] = b
	}
	for i := range rapid.IntRange(0, 12).Draw(t, "topics") {
		var route codec.TopicRouteData
		for name := range r.brokers {
			if rapid.Bool().Draw(t, "on it") {
				route.Queues = append(route.Queues, codec.QueueData{BrokerName: name, ReadQueueNums: 4, WriteQueueNums: 4, Perm: 6})
			}
		}
		r.routes[fmt.Sprint("t", i)] = route
	}
	r.kv["n"] = map[string]string{"k": "v", "order": "b0:4"}
	return r
}

// mutate changes something, or nothing that shows.
func (r *registry) mutate(t *rapid.T) {
	name := fmt.Sprint("b", rapid.IntRange(0, 6).Draw(t, "broker"))
	topic := fmt.Sprint("t", rapid.IntRange(0, 14).Draw(t, "topic"))
	b, known := r.brokers[name]
	route, listed := r.routes[topic]
	switch rapid.IntRange(0, 9).Draw(t, "mutation") {
	case 0:
		if !known {
			r.brokers[name] = codec.BrokerData{BrokerName: name, Cluster: "c0", Addrs: []codec.BrokerAddr{{ID: 0, Addr: "new:1"}}}
		}
	case 1:
		if known {
			b.Addrs = append(slices.Clone(b.Addrs[:len(b.Addrs)-1]), codec.BrokerAddr{ID: b.Addrs[len(b.Addrs)-1].ID, Addr: "moved:1"})
			r.brokers[name] = b
		}
	case 2:
		if known {
			b.Addrs = append(slices.Clone(b.Addrs), codec.BrokerAddr{ID: 7, Addr: "slave:1"})
			r.brokers[name] = b
		}
	case 3:
		if known {
			b.ZoneName, b.EnableActingMaster = codec.NullString{S: "z", Valid: true}, true
			r.brokers[name] = b
		}
	case 4:
		if known {
			b.Cluster = "c9"
			r.brokers[name] = b
		}
	case 5:
		if !listed {
			r.routes[topic] = codec.TopicRouteData{}
		}
	case 6:
		delete(r.routes, topic)
	case 7:
		if listed && len(route.Queues) > 0 {
			route.Queues = slices.Clone(route.Queues)
			route.Queues[0].Perm = 4
			r.routes[topic] = route
		}
	case 8:
		if listed {
			route.OrderTopicConf = codec.NullString{S: rapid.SampledFrom([]string{"", "b0:8"}).Draw(t, "order"), Valid: true}
			r.routes[topic] = route
		}
	case 9:
		r.kv["n"][rapid.SampledFrom([]string{"k", "k2"}).Draw(t, "key")] = rapid.SampledFrom([]string{"v", ""}).Draw(t, "value")
	}
}

// wanted are the things that two registries don't say alike, by comparison of what they are made of.
func wanted(a, b *registry) (things []string) {
	for name := range union(a.brokers, b.brokers) {
		if !reflect.DeepEqual(a.brokers[name], b.brokers[name]) {
			things = append(things, "broker "+name)
		}
	}
	clusters := func(r *registry) map[string]map[string]bool {
		all := map[string]map[string]bool{}
		for name, b := range r.brokers {
			if all[b.Cluster] == nil {
				all[b.Cluster] = map[string]bool{}
			}
			all[b.Cluster][name] = true
		}
		return all
	}
	for name := range union(clusters(a), clusters(b)) {
		if !reflect.DeepEqual(clusters(a)[name], clusters(b)[name]) {
			things = append(things, "cluster "+name)
		}
	}
	full := func(r *registry, topic string) any {
		route := r.routes[topic]
		route.OrderTopicConf.Valid = route.OrderTopicConf.S != ""
		if len(route.Queues) == 0 {
			return nil
		}
		all := []any{route}
		for _, q := range route.Queues {
			all = append(all, r.brokers[q.BrokerName])
		}
		return all
	}
	for topic := range union(a.routes, b.routes) {
		_, inA := a.routes[topic]
		_, inB := b.routes[topic]
		if inA != inB {
			things = append(things, "topic "+topic)
		} else if !reflect.DeepEqual(full(a, topic), full(b, topic)) {
			things = append(things, "route "+topic)
		}
	}
	if !maps.Equal(a.kv["n"], b.kv["n"]) {
		things = append(things, "kv n")
	}
	slices.Sort(things)
	return things
}

func union[V any](a, b map[string]V) map[string]bool {
	all := map[string]bool{}
	for name := range a {
		all[name] = true
	}
	for name := range b {
		all[name] = true
	}
	return all
}

func reported(r *Result) (things []string) {
	for _, d := range r.Differences {
		things = append(things, d.Kind+" "+d.Name)
	}
	slices.Sort(things)
	return slices.Compact(things)
}

func options(pause func(context.Context) error) Options {
	if pause == nil {
		pause = func(context.Context) error { return nil }
	}
	return Options{Namespaces: []string{"n"}, InFlight: 3, Pause: pause}
}

// Whatever differs is found, and nothing else is, whatever the order of answers.
func TestAllDifferencesAreFoundAndNoneIsInvented(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := draw(t)
		b := a.clone()
		for range rapid.IntRange(0, 6).Draw(t, "mutations") {
			b.mutate(t)
		}
		r, err := Run(context.Background(), []Nameserver{a, b, b}, options(nil))
		if err != nil {
			t.Fatal(err)
		}
		if got, want := reported(r), wanted(a, b); !slices.Equal(got, want) {
			t.Fatalf("got %q\nwant %q", got, want)
		}
		for _, d := range r.Differences {
			if len(d.Values) != 3 || (d.Values[1] == nil) != (d.Values[2] == nil) || d.Values[1] != nil && *d.Values[1] != *d.Values[2] {
				t.Fatalf("%+v: two say the same", d)
			}
		}
	})
}

func text(r *Result) string {
	var lines []string
	for _, d := range r.Differences {
		line := d.Kind + " " + d.Name + " " + d.What
		for _, v := range d.Values {
			if v == nil {
				line += " | -"
			} else {
				line += " | " + *v
			}
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

// What differs is told so that one sees what to do.
func TestDifferencesAreNamed(t *testing.T) {
	a := newRegistry()
	a.brokers["b"] = codec.BrokerData{BrokerName: "b", Cluster: "c", Addrs: []codec.BrokerAddr{{ID: 0, Addr: "h:1"}}}
	queues := []codec.QueueData{{BrokerName: "b", ReadQueueNums: 4, WriteQueueNums: 4, Perm: 6}}
	a.routes["T"], a.routes["Gone"] = codec.TopicRouteData{Queues: queues}, codec.TopicRouteData{Queues: queues}
	a.kv["n"] = map[string]string{"k": "v"}
	b := a.clone()
	b.routes["T"] = codec.TopicRouteData{
		Queues:         []codec.QueueData{{BrokerName: "b", ReadQueueNums: 8, WriteQueueNums: 4, Perm: 4}, queues[0]},
		OrderTopicConf: codec.NullString{S: "b:4", Valid: true},
		FilterServers:  map[string][]string{"h:1": {"f2", "f1"}, "h:2": nil},
		Mappings:       []codec.TopicQueueMapping{{Key: "b", TotalQueues: 2, Epoch: 5, CurrIDMap: []codec.IDPair{{Logical: 0, Physical: 1}}}},
	}
	delete(b.routes, "Gone")
	b.kv["n"] = map[string]string{"k2": ""}
	r, err := Run(t.Context(), []Nameserver{a, b}, options(nil))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := text(r), strings.Join([]string{
		"kv n key k | v | -",
		"kv n key k2 | - | ",
		"route T filter servers of h:1 | - | f1, f2",
		"route T order | - | b:4",
		"route T queues on b (2) | - | read 8, write 4, perm R, flags 0",
		"route T static mapping on b | - | of 2, epoch 5, scope , from : 0→1",
		"topic Gone known | yes | -",
	}, "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if r.Brokers != 1 || r.Topics != 2 || r.Routes != 1 || r.KVTables != 1 {
		t.Errorf("%+v", r)
	}
}

// What differs once, since nameservers are asked one after the other, is no difference; what begins to differ meanwhile is looked at again.
func TestChangesMeanwhile(t *testing.T) {
	a := newRegistry()
	a.brokers["b"] = codec.BrokerData{BrokerName: "b", Cluster: "c", Addrs: []codec.BrokerAddr{{ID: 0, Addr: "h:1"}}}
	route := codec.TopicRouteData{Queues: []codec.QueueData{{BrokerName: "b", ReadQueueNums: 4}}}
	other := codec.TopicRouteData{Queues: []codec.QueueData{{BrokerName: "b", ReadQueueNums: 8}}}
	for _, tt := range []struct {
		name   string
		before func(b *registry)
		pauses []func(b *registry)
		want   string
	}{
		{"catches up", func(b *registry) { delete(b.routes, "T") }, []func(*registry){func(b *registry) { b.routes["T"] = route }}, ""},
		{"catches up with another route", func(b *registry) { delete(b.routes, "T") },
			[]func(*registry){func(b *registry) { b.routes["T"] = other }, func(*registry) {}}, "route T queues on b | read 4, write 0, perm 0, flags 0 | read 8, write 0, perm 0, flags 0"},
		{"another difference for a moment", func(b *registry) { b.kv["n"] = map[string]string{"k": "v"} },
			[]func(*registry){func(b *registry) { delete(b.routes, "T") }, func(b *registry) { b.routes["T"] = route }}, "kv n key k | - | v"},
		{"all is well at first", func(*registry) {}, nil, ""},
		{"another key of the same table each time", func(b *registry) { b.kv["n"] = map[string]string{"k1": "v"} }, []func(*registry){
			func(b *registry) { b.kv["n"] = map[string]string{"k2": "v"} },
			func(b *registry) { b.kv["n"] = map[string]string{"k3": "v"} },
			func(b *registry) { b.kv["n"] = map[string]string{} },
		}, ""},
		{"another address each time, then the same", func(b *registry) { b.address("h:2") }, []func(*registry){
			func(b *registry) { b.address("h:3") }, func(b *registry) { b.address("h:1") },
		}, ""},
		{"always another address", func(b *registry) { b.address("h:2") }, []func(*registry){
			func(b *registry) { b.address("h:3") }, func(b *registry) { b.address("h:4") }, func(b *registry) { b.address("h:5") },
		}, "broker b address of id 0 | h:1 | h:5\nroute T broker b: address of id 0 | h:1 | h:5"},
		{"never still", func(b *registry) { delete(b.routes, "T") }, []func(*registry){
			func(b *registry) { b.routes["T"] = route; b.routes["X1"] = route },
			func(b *registry) { delete(b.routes, "X1"); b.routes["X2"] = route },
			func(b *registry) { delete(b.routes, "X2"); b.routes["X3"] = route },
		}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := a.clone()
			a.routes["T"] = route
			b := a.clone()
			tt.before(b)
			pauses := 0
			r, err := Run(t.Context(), []Nameserver{a, b}, options(func(context.Context) error {
				tt.pauses[pauses](b)
				pauses++
				return nil
			}))
			if err != nil {
				t.Fatal(err)
			}
			if got := text(r); got != tt.want || pauses != len(tt.pauses) {
				t.Errorf("%d looks again, got %q, want %q", pauses, got, tt.want)
			}
		})
	}
}

func (r *registry) address(addr string) {
	r.brokers["b"] = codec.BrokerData{BrokerName: "b", Cluster: "c", Addrs: []codec.BrokerAddr{{ID: 0, Addr: addr}}}
}

// A registration that comes in while the routes of the first look are read, to one nameserver after the other, is looked at again at once.
func TestChangeWithinALook(t *testing.T) {
	a := newRegistry()
	a.brokers["b"] = codec.BrokerData{BrokerName: "b", Cluster: "c", Addrs: []codec.BrokerAddr{{ID: 0, Addr: "h:1"}}}
	a.routes["T"] = codec.TopicRouteData{Queues: []codec.QueueData{{BrokerName: "b", ReadQueueNums: 4}}}
	b := &behind{registry: a.clone(), late: codec.TopicRouteData{Queues: []codec.QueueData{{BrokerName: "b", ReadQueueNums: 2}}}}
	r, err := Run(t.Context(), []Nameserver{a, b}, options(func(context.Context) error { t.Error("looked again after a while"); return nil }))
	if err != nil || len(r.Differences) > 0 || !b.asked {
		t.Errorf("%+v, %v", r, err)
	}
}

// behind hears of a change after its first answer.
type behind struct {
	*registry
	late  codec.TopicRouteData
	asked bool
}

func (b *behind) Route(ctx context.Context, topic string) (*codec.TopicRouteData, error) {
	if !b.asked {
		b.asked = true
		route := b.late
		route.Brokers = []codec.BrokerData{b.brokers["b"]}
		return &route, nil
	}
	return b.registry.Route(ctx, topic)
}

// A nameserver that can't be asked, and a run that is ended, are no result.
func TestNoResult(t *testing.T) {
	gone := errors.New("host:1: gone")
	if r, err := Run(t.Context(), []Nameserver{newRegistry(), &registry{err: gone}}, options(nil)); !errors.Is(err, gone) || r != nil {
		t.Errorf("%+v, %v", r, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if r, err := Run(ctx, []Nameserver{newRegistry(), newRegistry()}, options(nil)); !errors.Is(err, context.Canceled) || r != nil {
		t.Errorf("%+v, %v", r, err)
	}
	a := newRegistry()
	a.routes["T"] = codec.TopicRouteData{}
	if r, err := Run(t.Context(), []Nameserver{a, newRegistry()}, options(func(context.Context) error { return gone })); !errors.Is(err, gone) || r != nil {
		t.Errorf("%+v, %v", r, err)
	}
}

// A thing with very many differences doesn't fill the memory.
func TestDifferencesOfOneThingAreBounded(t *testing.T) {
	a, b := newRegistry(), newRegistry()
	a.kv["n"] = map[string]string{}
	for i := range maxOfThing + 7 {
		a.kv["n"][fmt.Sprint(i)] = "v"
	}
	r, err := Run(t.Context(), []Nameserver{a, b}, options(nil))
	if err != nil || len(r.Differences) != maxOfThing || r.Omitted != 7 {
		t.Errorf("%d, %d omitted, %v", len(r.Differences), r.Omitted, err)
	}
}
