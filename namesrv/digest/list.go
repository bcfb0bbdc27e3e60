package digest

import (
	"cmp"
	"slices"

	"github.com/cespare/xxhash/v2"

	"github.com/waymark-mq/waymark/core"
	"github.com/waymark-mq/waymark/namesrv/peers"
)

// List returns the whole of a list, by name; ok is false for an unknown broker or namespace, or an unknown list.
func (t *Table) List(what peers.What, of string) (entries []peers.Entry, ok bool) {
	s := t.Snapshot
	switch what {
	case peers.Brokers:
		return t.Brokers, true
	case peers.Clusters:
		return t.clusters(), true
	case peers.Topics:
		g, known := s.Group(of)
		if !known {
			return nil, false
		}
		entries = topicsOf(s, g)
	case peers.Namespaces:
		names, _ := s.KVNamespaces()
		for _, name := range names {
			entries = append(entries, peers.Entry{Name: name, Digest: namespace(name, s.KVEntries(name))})
		}
	case peers.Entries, peers.Keys:
		values := s.KVEntries(of)
		if values == nil {
			return nil, false
		}
		for key, value := range values {
			e := peers.Entry{Name: key, Digest: entry(key, value)}
			if what == peers.Entries {
				e.Value = value
			}
			entries = append(entries, e)
		}
	default:
		return nil, false
	}
	slices.SortFunc(entries, byName)
	return entries, true
}

// topicsOf lists a broker's topics, and those that it has a static mapping of without queues.
func topicsOf(s *core.Snapshot, g *core.Group) (entries []peers.Entry) {
	mapped := map[string]uint64{}
	for m := range s.StaticMappings() {
		if m.BrokerName == g.Name {
			mapped[m.Topic] = mapping(m)
		}
	}
	for name, q := range s.TopicsOf(g) {
		entries = append(entries, peers.Entry{Name: name, Digest: mixed(xxhash.Sum64String(name)*queues(q) + mapped[name])})
		delete(mapped, name)
	}
	for name, digest := range mapped {
		entries = append(entries, peers.Entry{Name: name, Digest: digest})
	}
	return entries
}

func byName(a, b peers.Entry) int { return cmp.Compare(a.Name, b.Name) }

// clusters sums up the brokers of each cluster.
func (t *Table) clusters() (entries []peers.Entry) {
	sums := map[string]uint64{}
	for i, g := 0, t.Brokers; i < len(g); i++ {
		if group, ok := t.Snapshot.Group(g[i].Name); ok {
			sums[group.ClusterName] += g[i].Digest
		}
	}
	for name, sum := range sums {
		entries = append(entries, peers.Entry{Name: name, Digest: mixed(sum)})
	}
	slices.SortFunc(entries, byName)
	return entries
}

// Page answers what another nameserver asks.
func (t *Table) Page(q peers.Query) peers.Page {
	all, ok := t.List(q.What, q.Of)
	if !ok {
		return peers.Page{}
	}
	if q.Behind {
		i, found := slices.BinarySearchFunc(all, peers.Entry{Name: q.After}, byName)
		if found {
			i++
		}
		all = all[i:]
	}
	n := peers.Cut(len(all), func(i int) int { return len(all[i].Name) + len(all[i].Value) })
	return peers.Page{Entries: all[:n], More: n < len(all), Known: true}
}

// Difference is where two lists differ.
type Difference struct {
	OnlyHere, OnlyThere, Other []string // by name; Other is on both sides, with other content
	More                       int      // names left out, of all three
}

// None reports whether nothing differs.
func (d *Difference) None() bool { return len(d.OnlyHere)+len(d.OnlyThere)+len(d.Other)+d.More == 0 }

// Diff compares two lists by name, and names so many differences of each kind at most.
func Diff(here, there []peers.Entry, most int) (d Difference) {
	add := func(to *[]string, name string) {
		if len(*to) < most {
			*to = append(*to, name)
			return
		}
		d.More++
	}
	for len(here) > 0 || len(there) > 0 {
		switch {
		case len(there) == 0 || (len(here) > 0 && here[0].Name < there[0].Name):
			add(&d.OnlyHere, here[0].Name)
			here = here[1:]
		case len(here) == 0 || there[0].Name < here[0].Name:
			add(&d.OnlyThere, there[0].Name)
			there = there[1:]
		default:
			if here[0].Digest != there[0].Digest {
				add(&d.Other, here[0].Name)
			}
			here, there = here[1:], there[1:]
		}
	}
	return d
}
