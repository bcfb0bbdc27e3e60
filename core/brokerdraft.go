package core

import (
	"maps"
	"slices"
	"strings"
)

// brokerDraft is the writer's side of the broker table: maps that are kept from batch to batch, and
// a draft of the next snapshot's table. What is sorted or encoded is made once, at the
// end of a batch, however many groups it changes.
type brokerDraft struct {
	byName     map[string]*Group
	clusters   map[string]map[string]struct{} // cluster name → broker names
	homes      map[string][]string            // broker name → the clusters that list it
	free       []int                          // indexes of groups
	left       []int                          // those of groups that are gone but stand in lists yet
	generation uint64                         // of the group last made

	// This batch's.
	table     *brokerTable
	own       bool                           // table.groups is a copy
	groups    map[string]struct{}            // broker names whose group is new, has changed or is gone
	members   map[string]map[string]struct{} // cluster name → broker names that came or went
	textsSame bool                           // only generations have changed
}

func newBrokerDraft() brokerDraft {
	return brokerDraft{byName: map[string]*Group{}, clusters: map[string]map[string]struct{}{}, homes: map[string][]string{}}
}

// begin starts a batch.
func (d *brokerDraft) begin(t *brokerTable) {
	d.table, d.own, d.textsSame = t, false, true
	d.groups, d.members = nil, nil
}

// group returns a broker name's group as the batch has it by now.
func (d *brokerDraft) group(name string) *Group { return d.byName[name] }

// slots is the number of addresses of all broker names.
func (d *brokerDraft) slots() (n int) {
	for _, g := range d.byName {
		n += len(g.Addrs)
	}
	return n
}

// at returns the group of an index in use; nil if it is gone and stands in lists yet.
func (d *brokerDraft) at(index int) *Group { return d.table.groups[index] }

// inCluster reports whether a cluster lists a broker name.
func (d *brokerDraft) inCluster(cluster, name string) bool {
	_, ok := d.clusters[cluster][name]
	return ok
}

func (d *brokerDraft) edit(name string) {
	if !d.own {
		d.table = &brokerTable{groups: slices.Clone(d.table.groups), byName: d.table.byName, clusters: d.table.clusters}
		d.own = true
		d.groups, d.members = map[string]struct{}{}, map[string]map[string]struct{}{}
	}
	d.groups[name] = struct{}{}
}

// put stores a group that is new (index -1) or has changed, and returns it.
func (d *brokerDraft) put(g *Group) *Group {
	d.edit(g.Name)
	d.textsSame = false
	if g.index < 0 {
		g.index = d.newIndex()
	}
	g.brokerData, g.queueHead = [2]string{}, "" // encoded at the end of the batch
	return d.store(g)
}

// mark replaces a group by a copy, which says the same and is another.
func (d *brokerDraft) mark(g *Group) *Group {
	d.edit(g.Name)
	return d.store(g.clone())
}

func (d *brokerDraft) store(g *Group) *Group {
	d.generation++
	g.generation = d.generation
	d.table.groups[g.index] = g
	d.byName[g.Name] = g
	return g
}

func (d *brokerDraft) newIndex() int {
	if n := len(d.free); n > 0 {
		i := d.free[n-1]
		d.free = d.free[:n-1]
		return i
	}
	d.table.groups = append(d.table.groups, nil)
	return len(d.table.groups) - 1
}

// drop removes a group and takes its name out of every cluster.
func (d *brokerDraft) drop(g *Group) {
	d.edit(g.Name)
	d.textsSame = false
	d.table.groups[g.index] = nil
	d.left = append(d.left, g.index)
	delete(d.byName, g.Name)
	for _, c := range d.homes[g.Name] {
		delete(d.clusters[c], g.Name)
		if len(d.clusters[c]) == 0 {
			delete(d.clusters, c)
		}
		d.memberChanged(c, g.Name)
	}
	delete(d.homes, g.Name)
}

// freeIndexes lets the indexes of groups that are gone be used again: no list names them any more.
func (d *brokerDraft) freeIndexes() {
	d.free = append(d.free, d.left...)
	d.left = d.left[:0]
}

// join puts a broker name, whose group is stored, into a cluster.
func (d *brokerDraft) join(cluster, name string) {
	if d.inCluster(cluster, name) {
		return
	}
	d.edit(name)
	d.textsSame = false
	if d.clusters[cluster] == nil {
		d.clusters[cluster] = map[string]struct{}{}
	}
	d.clusters[cluster][name] = struct{}{}
	d.homes[name] = append(d.homes[name], cluster)
	d.memberChanged(cluster, name)
}

func (d *brokerDraft) memberChanged(cluster, name string) {
	if d.members[cluster] == nil {
		d.members[cluster] = map[string]struct{}{}
	}
	d.members[cluster][name] = struct{}{}
}

// freeze returns the table of the next snapshot.
func (d *brokerDraft) freeze(old *brokerTable) *brokerTable {
	if !d.own {
		return old
	}
	t := d.table
	var changed []*Group
	for _, name := range slices.Sorted(maps.Keys(d.groups)) {
		if g := d.byName[name]; g != nil {
			if g.queueHead == "" {
				g.encode()
			}
			changed = append(changed, g)
		}
	}
	t.byName = merge(old.byName, changed, func(g *Group) string { return g.Name }, d.groups)
	t.clusters = d.freezeClusters(old)
	if d.textsSame {
		t.clusterInfo.body.Store(old.clusterInfo.body.Load())
		t.systemTopics.body.Store(old.systemTopics.body.Load())
	}
	return t
}

func (d *brokerDraft) freezeClusters(old *brokerTable) []*cluster {
	if len(d.members) == 0 {
		return old.clusters
	}
	var changed []*cluster
	for _, name := range slices.Sorted(maps.Keys(d.members)) {
		in := d.clusters[name]
		if in == nil {
			continue
		}
		var before, came []string
		if c := old.cluster(name); c != nil {
			before = c.brokers
		}
		for _, b := range slices.Sorted(maps.Keys(d.members[name])) {
			if _, ok := in[b]; ok {
				came = append(came, b)
			}
		}
		changed = append(changed, &cluster{name, merge(before, came, func(b string) string { return b }, d.members[name])})
	}
	return merge(old.clusters, changed, func(c *cluster) string { return c.name }, d.members)
}

// merge returns old without what touched names, and with changed in its place; all sorted by name.
// A few are put in place one by one, which only moves memory; many in one pass.
func merge[T, V any](old, changed []T, name func(T) string, touched map[string]V) []T {
	const few = 16
	if len(touched) <= few {
		return mergeFew(old, changed, name, touched)
	}
	out := make([]T, 0, len(old)+len(changed))
	for _, o := range old {
		for len(changed) > 0 && name(changed[0]) < name(o) {
			out, changed = append(out, changed[0]), changed[1:]
		}
		if _, ok := touched[name(o)]; !ok {
			out = append(out, o)
		}
	}
	return append(out, changed...)
}

func mergeFew[T, V any](old, changed []T, name func(T) string, touched map[string]V) []T {
	out := append(make([]T, 0, len(old)+len(changed)), old...)
	find := func(n string) (int, bool) {
		return slices.BinarySearchFunc(out, n, func(t T, n string) int { return strings.Compare(name(t), n) })
	}
	stays := map[string]bool{}
	for _, c := range changed {
		stays[name(c)] = true
		if i, ok := find(name(c)); ok {
			out[i] = c
		} else {
			out = slices.Insert(out, i, c)
		}
	}
	for n := range touched {
		if i, ok := find(n); ok && !stays[n] {
			out = slices.Delete(out, i, i+1)
		}
	}
	return out
}
