package core

import (
	"slices"
	"strings"
	"sync/atomic"
)

// brokerTable holds all broker groups and clusters of a snapshot. It is
// immutable but for the encoded answers it remembers.
type brokerTable struct {
	groups   []*Group // by index; nil where none is
	byName   []*Group // by broker name
	clusters []*cluster

	clusterInfo  encoded // answer to 106
	systemTopics encoded // answer to 304
}

// cluster is a cluster name and its broker names, sorted; immutable. A broker
// name that registered under two cluster names is in both.
type cluster struct {
	name    string
	brokers []string
}

// encoded is a list answer, encoded by its first reader. Several readers may encode at
// once; they store the same bytes.
type encoded struct{ body atomic.Pointer[[]byte] }

func (e *encoded) load() []byte {
	if b := e.body.Load(); b != nil {
		return *b
	}
	return nil
}

func (e *encoded) store(b []byte) []byte {
	e.body.Store(&b)
	return b
}

func (t *brokerTable) group(name string) *Group {
	i, ok := slices.BinarySearchFunc(t.byName, name, compareName)
	if !ok {
		return nil
	}
	return t.byName[i]
}

func compareName(g *Group, name string) int { return strings.Compare(g.Name, name) }

func (t *brokerTable) cluster(name string) *cluster {
	i, ok := t.findCluster(name)
	if !ok {
		return nil
	}
	return t.clusters[i]
}

func (t *brokerTable) findCluster(name string) (int, bool) {
	return slices.BinarySearchFunc(t.clusters, name, func(c *cluster, name string) int { return strings.Compare(c.name, name) })
}

// brokerDraft is the writer's copy of the broker table during one batch: the
// snapshot's until the first change, then cloned once and edited.
type brokerDraft struct {
	*brokerTable
	own     bool
	changed bool // what answers say of groups and clusters
}

func (d *brokerDraft) edit() *brokerTable {
	if !d.own {
		d.brokerTable = &brokerTable{
			groups:   slices.Clone(d.groups),
			byName:   slices.Clone(d.byName),
			clusters: slices.Clone(d.clusters),
		}
		d.own = true
	}
	return d.brokerTable
}

// freeze returns the table of the next snapshot. If no text has changed it keeps the encoded answers.
func (d *brokerDraft) freeze(old *brokerTable) *brokerTable {
	if d.own && !d.changed {
		d.clusterInfo.body.Store(old.clusterInfo.body.Load())
		d.systemTopics.body.Store(old.systemTopics.body.Load())
	}
	return d.brokerTable
}

// put stores a group that is new or has changed.
func (d *brokerDraft) put(g *Group) {
	d.changed = true
	t := d.edit()
	if g.index == len(t.groups) {
		t.groups = append(t.groups, g)
	}
	t.store(g)
}

// mark replaces a group by a copy, which says the same and is another.
func (d *brokerDraft) mark(g *Group) *Group {
	c := g.clone()
	d.edit().store(c)
	return c
}

func (t *brokerTable) store(g *Group) {
	t.groups[g.index] = g
	i, ok := slices.BinarySearchFunc(t.byName, g.Name, compareName)
	if ok {
		t.byName[i] = g
	} else {
		t.byName = slices.Insert(t.byName, i, g)
	}
}

// drop removes a group and takes its name out of every cluster.
func (d *brokerDraft) drop(g *Group) {
	d.changed = true
	t := d.edit()
	t.groups[g.index] = nil
	if i, ok := slices.BinarySearchFunc(t.byName, g.Name, compareName); ok {
		t.byName = slices.Delete(t.byName, i, i+1)
	}
	kept := make([]*cluster, 0, len(t.clusters))
	for _, c := range t.clusters {
		if i, ok := slices.BinarySearch(c.brokers, g.Name); ok {
			if len(c.brokers) == 1 {
				continue
			}
			c = &cluster{c.name, slices.Delete(slices.Clone(c.brokers), i, i+1)}
		}
		kept = append(kept, c)
	}
	t.clusters = kept
}

// join puts a broker name into a cluster.
func (d *brokerDraft) join(clusterName, brokerName string) {
	i, ok := d.findCluster(clusterName)
	if !ok {
		d.changed = true
		t := d.edit()
		t.clusters = slices.Insert(t.clusters, i, &cluster{clusterName, []string{brokerName}})
		return
	}
	c := d.clusters[i]
	j, ok := slices.BinarySearch(c.brokers, brokerName)
	if ok {
		return
	}
	d.changed = true
	d.edit().clusters[i] = &cluster{c.name, slices.Insert(slices.Clone(c.brokers), j, brokerName)}
}
