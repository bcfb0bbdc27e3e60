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
	i, ok := slices.BinarySearchFunc(t.clusters, name, compareCluster)
	if !ok {
		return nil
	}
	return t.clusters[i]
}

func compareCluster(c *cluster, name string) int { return strings.Compare(c.name, name) }
