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

// get returns the answer, encoding it with the append function if nobody has yet.
func (e *encoded) get(encode func(dst []byte) []byte) []byte {
	if b := e.body.Load(); b != nil {
		return *b
	}
	b := encode(nil)
	e.body.Store(&b)
	return b
}

func (t *brokerTable) group(name string) *Group {
	i, ok := slices.BinarySearchFunc(t.byName, name, func(g *Group, name string) int { return strings.Compare(g.Name, name) })
	if !ok {
		return nil
	}
	return t.byName[i]
}

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

// brokerDraft is the writer's copy of the broker table during one batch: nil
// until the first change, then cloned once and edited.
type brokerDraft struct {
	*brokerTable
	own bool
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

// put stores a group under its index, replacing the one of the same name.
func (d *brokerDraft) put(g *Group) {
	t := d.edit()
	if g.index == len(t.groups) {
		t.groups = append(t.groups, g)
	} else {
		t.groups[g.index] = g
	}
	i, ok := slices.BinarySearchFunc(t.byName, g.Name, func(o *Group, name string) int { return strings.Compare(o.Name, name) })
	if ok {
		t.byName[i] = g
	} else {
		t.byName = slices.Insert(t.byName, i, g)
	}
}

// drop removes a group and takes its name out of every cluster.
func (d *brokerDraft) drop(g *Group) {
	t := d.edit()
	t.groups[g.index] = nil
	if i := slices.IndexFunc(t.byName, func(o *Group) bool { return o.Name == g.Name }); i >= 0 {
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
		t := d.edit()
		t.clusters = slices.Insert(t.clusters, i, &cluster{clusterName, []string{brokerName}})
		return
	}
	c := d.clusters[i]
	j, ok := slices.BinarySearch(c.brokers, brokerName)
	if ok {
		return
	}
	d.edit().clusters[i] = &cluster{c.name, slices.Insert(slices.Clone(c.brokers), j, brokerName)}
}
