// Package diff compares what nameservers say: brokers, clusters, topics, routes and KV tables, asked by the remoting protocol alone, so
// that Apache's can be compared with ours.
//
// What differs is looked at again after a while, and only what differs twice in a row, in the same way, is reported: nameservers hear of a
// change one after the other, and may be asked in between. Of what changes all the time, what differs at each of maxLooks looks is. Routes are
// remembered as digests at first; only those that differ are held as they are, one topic at a time.
package diff

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/waymark-mq/waymark/codec"
	"github.com/waymark-mq/waymark/nsctl/ask"
)

// Nameserver is one that is compared; an *ask.Nameserver is one. Its methods are called from many goroutines, and name it in their errors.
type Nameserver interface {
	Clusters(ctx context.Context) (*codec.ClusterInfo, error)
	Topics(ctx context.Context) ([]string, error)
	Route(ctx context.Context, topic string) (*codec.TopicRouteData, error)
	KV(ctx context.Context, namespace string) (map[string]string, error)
}

// Options are how they are compared.
type Options struct {
	Namespaces []string // of KV: no request lists them
	InFlight   int      // queries under way at each nameserver
	// Pause returns after the time between two looks, or with the error of ctx.
	Pause func(ctx context.Context) error
}

// maxLooks bounds how often what differs is looked at because something else differs each time.
const maxLooks = 4

// maxOfThing bounds the differences that are told of one thing; the rest is counted.
const maxOfThing = 50

// Difference is one thing that nameservers don't say alike.
type Difference struct {
	Kind string // KindBroker and the others
	Name string
	What string // what of it
	// Values are what each nameserver says; nil: nothing.
	Values []*string
}

// Result is what came of it.
type Result struct {
	Differences      []Difference // sorted
	Omitted          int          // further ones, of things with too many
	Brokers, Topics  int          // names that any of them knows
	Routes, KVTables int          // compared
}

// Run compares two nameservers or more. An error means that it couldn't be told.
func Run(ctx context.Context, servers []Nameserver, o Options) (*Result, error) {
	c := &comparison{servers: servers, Options: o}
	before, err := c.lookAtAll(ctx)
	if err != nil {
		return nil, err
	}
	always := before // what differs at each look, in whatever way
	for look := 2; len(before) > 0; look++ {
		if err := o.Pause(ctx); err != nil {
			return nil, err
		}
		now, err := c.lookAgain(ctx, before)
		if err != nil {
			return nil, err
		}
		always = now.which(func(s subject, _ Difference) bool { return always.about(s) })
		twice := now.which(func(s subject, d Difference) bool { return before.about(s) && d.equal(before[s]) })
		switch {
		case len(twice) == len(now):
			return c.result(twice), nil
		case look == maxLooks:
			maps.Copy(twice, always)
			return c.result(twice), nil
		}
		before = now
	}
	return c.result(nil), nil
}

func (d Difference) equal(other Difference) bool {
	return slices.EqualFunc(d.Values, other.Values, func(a, b *string) bool {
		return (a == nil) == (b == nil) && (a == nil || *a == *b)
	})
}

// subject is what a difference is about.
type subject struct {
	thing
	what string
}

// findings are the differences of one look.
type findings map[subject]Difference

func (f findings) add(differences []Difference) {
	for _, d := range differences {
		f[subject{thing{d.Kind, d.Name}, d.What}] = d
	}
}

func (f findings) about(s subject) bool {
	_, ok := f[s]
	return ok
}

// which are those that are to be kept.
func (f findings) which(keep func(subject, Difference) bool) findings {
	kept := maps.Clone(f)
	maps.DeleteFunc(kept, func(s subject, d Difference) bool { return !keep(s, d) })
	return kept
}

// comparison is one run. Its methods are called by one goroutine.
type comparison struct {
	Options
	servers []Nameserver
	counts  Result
}

// tables are what one nameserver says of everything but routes.
type tables map[thing]facts

// lookAtAll compares everything.
func (c *comparison) lookAtAll(ctx context.Context) (findings, error) {
	all, err := c.tables(ctx)
	if err != nil {
		return nil, err
	}
	found := c.compareTables(all)
	topics := listedTwice(all)
	c.counts.Routes = len(topics)
	digests, err := c.digests(ctx, all, topics)
	if err != nil {
		return nil, err
	}
	var differ []string
	for i, topic := range topics {
		var first *digest
		for s := range c.servers {
			switch d := &digests[s][i]; {
			case all[s][thing{KindTopic, topic}] == nil:
			case first == nil:
				first = d
			case *d != *first:
				differ = append(differ, topic)
			}
		}
	}
	return found, c.addRoutes(ctx, found, all, slices.Compact(differ))
}

// lookAgain compares the tables, and the routes that differed or that can be compared since.
func (c *comparison) lookAgain(ctx context.Context, before findings) (findings, error) {
	all, err := c.tables(ctx)
	if err != nil {
		return nil, err
	}
	found := c.compareTables(all)
	differed := map[string]bool{}
	for s := range before {
		if s.kind == KindRoute || s.kind == KindTopic {
			differed[s.name] = true
		}
	}
	topics := slices.DeleteFunc(listedTwice(all), func(topic string) bool { return !differed[topic] })
	return found, c.addRoutes(ctx, found, all, topics)
}

// addRoutes asks for the routes of topics, at the same time where they are listed, and adds what differs of them.
func (c *comparison) addRoutes(ctx context.Context, found findings, all []tables, topics []string) error {
	differences := make([][]Difference, len(topics))
	err := each(ctx, len(topics), c.InFlight, func(ctx context.Context, i int) (err error) {
		differences[i], err = c.compareRoutes(ctx, all, topics[i])
		return err
	})
	for _, d := range differences {
		found.add(d)
	}
	return err
}

// tables asks all nameservers at the same time.
func (c *comparison) tables(ctx context.Context) ([]tables, error) {
	all := make([]tables, len(c.servers))
	return all, each(ctx, len(c.servers), len(c.servers), func(ctx context.Context, i int) (err error) {
		all[i], err = tablesOf(ctx, c.servers[i], c.Namespaces)
		return err
	})
}

func tablesOf(ctx context.Context, n Nameserver, namespaces []string) (tables, error) {
	info, err := n.Clusters(ctx)
	if err != nil {
		return nil, fmt.Errorf("clusters of %w", err)
	}
	all := tables(clusterFacts(info))
	topics, err := n.Topics(ctx)
	if err != nil {
		return nil, fmt.Errorf("topics of %w", err)
	}
	for _, topic := range topics {
		all[thing{KindTopic, topic}] = facts{}
	}
	for _, namespace := range namespaces {
		table, err := n.KV(ctx, namespace)
		if err != nil {
			return nil, fmt.Errorf("KV namespace %q of %w", namespace, err)
		}
		all[thing{KindKV, namespace}] = kvFacts(table)
	}
	return all, nil
}

// compareTables also counts.
func (c *comparison) compareTables(all []tables) findings {
	found, counts := findings{}, map[string]int{}
	seen := map[thing]bool{}
	for _, one := range all {
		for t := range one {
			if seen[t] {
				continue
			}
			seen[t] = true
			counts[t.kind]++
			said := make([]facts, len(all))
			for s := range all {
				said[s] = all[s][t]
			}
			found.add(compare(t, said))
		}
	}
	c.counts.Brokers, c.counts.Topics, c.counts.KVTables = counts[KindBroker], counts[KindTopic], counts[KindKV]
	return found
}

// listedTwice are the topics that two nameservers or more list.
func listedTwice(all []tables) (topics []string) {
	count := map[string]int{}
	for _, one := range all {
		for t := range one {
			if t.kind != KindTopic {
				continue
			}
			if count[t.name]++; count[t.name] == 2 {
				topics = append(topics, t.name)
			}
		}
	}
	return topics
}

// digests asks each nameserver for the routes of those topics that it lists.
func (c *comparison) digests(ctx context.Context, all []tables, topics []string) ([][]digest, error) {
	digests := make([][]digest, len(c.servers))
	return digests, each(ctx, len(c.servers), len(c.servers), func(ctx context.Context, s int) error {
		digests[s] = make([]digest, len(topics))
		return each(ctx, len(topics), c.InFlight, func(ctx context.Context, i int) error {
			if all[s][thing{KindTopic, topics[i]}] == nil {
				return nil
			}
			f, err := routeOf(ctx, c.servers[s], topics[i])
			digests[s][i] = f.digest()
			return err
		})
	})
}

// compareRoutes compares one topic's routes where it is listed.
func (c *comparison) compareRoutes(ctx context.Context, all []tables, topic string) ([]Difference, error) {
	said := make([]facts, len(c.servers))
	err := each(ctx, len(c.servers), len(c.servers), func(ctx context.Context, s int) (err error) {
		if all[s][thing{KindTopic, topic}] != nil {
			said[s], err = routeOf(ctx, c.servers[s], topic)
		}
		return err
	})
	return compare(thing{KindRoute, topic}, said), err
}

// routeOf is a topic's route as facts; without a route there are none, which isn't nil.
func routeOf(ctx context.Context, n Nameserver, topic string) (facts, error) {
	route, err := n.Route(ctx, topic)
	switch {
	case errors.Is(err, ask.ErrNoRoute):
		return facts{}, nil
	case err != nil:
		return nil, fmt.Errorf("route of %q of %w", topic, err)
	}
	return routeFacts(route), nil
}

// compare returns what of a thing isn't said alike. Who has nil doesn't know the thing: that is one difference, and the others are
// compared with one another. A topic's route is none of those that don't list it, which is a difference of the list.
func compare(t thing, said []facts) (differences []Difference) {
	done := map[string]bool{}
	for _, f := range said {
		for what := range f {
			if done[what] {
				continue
			}
			done[what] = true
			if values, alike := valuesOf(what, said); !alike {
				differences = append(differences, Difference{t.kind, t.name, what, values})
			}
		}
	}
	if values, all := knownTo(said); !all && t.kind != KindRoute {
		differences = append(differences, Difference{t.kind, t.name, Known, values})
	}
	return differences
}

// knownTo says who has facts at all.
func knownTo(said []facts) (values []*string, all bool) {
	yes := "yes"
	values, all = make([]*string, len(said)), true
	for s, f := range said {
		if f != nil {
			values[s] = &yes
		}
		all = all && f != nil
	}
	return values, all
}

// valuesOf are what each says of one thing, and whether those that know it say the same.
func valuesOf(what string, said []facts) (values []*string, alike bool) {
	values, alike = make([]*string, len(said)), true
	first := true
	var of *string // what the first says
	for s, f := range said {
		if f == nil {
			continue
		}
		if v, ok := f[what]; ok {
			values[s] = &v
		}
		if first {
			first, of = false, values[s]
		}
		alike = alike && (of == nil) == (values[s] == nil) && (of == nil || *of == *values[s])
	}
	return values, alike
}

// result puts findings in order.
func (c *comparison) result(found findings) *Result {
	r := c.counts
	of := map[thing]int{}
	for _, s := range slices.SortedFunc(maps.Keys(found), subject.compare) {
		if of[s.thing]++; of[s.thing] > maxOfThing {
			r.Omitted++
		} else {
			r.Differences = append(r.Differences, found[s])
		}
	}
	return &r
}

// compare puts first that a thing isn't known.
func (a subject) compare(b subject) int {
	unknown := func(s subject) int {
		if s.what == Known {
			return 0
		}
		return 1
	}
	return cmp.Or(a.thing.compare(b.thing), cmp.Compare(unknown(a), unknown(b)), cmp.Compare(a.what, b.what))
}

// each calls do for 0 to n-1, limit at a time, until one fails.
func each(ctx context.Context, n, limit int, do func(ctx context.Context, i int) error) error {
	g, within := errgroup.WithContext(ctx)
	g.SetLimit(limit)
	for i := range n {
		if within.Err() != nil {
			break
		}
		g.Go(func() error { return do(within, i) })
	}
	return cmp.Or(g.Wait(), ctx.Err())
}
