package namesrv

import (
	"context"

	"github.com/waymark-mq/waymark/namesrv/digest"
	"github.com/waymark-mq/waymark/namesrv/peers"
)

const (
	// mostDiffNames bounds each list of names of a difference.
	mostDiffNames = 100
	// mostDiffParts bounds the brokers, and the namespaces, that are looked into.
	mostDiffParts = 10
)

// PeerDiff is where another nameserver holds something else than this one does. Lists are bounded.
type PeerDiff struct {
	Clusters, Brokers, Namespaces digest.Difference
	// Topics of brokers that are on both sides and differ, and keys of such namespaces, of the first few. A broker of which no topic differs has other
	// addresses, another cluster, zone or acting master.
	Topics, Keys []PartDiff
}

// PartDiff is the difference within a broker or a namespace.
type PartDiff struct {
	Name string
	digest.Difference
}

// ErrNoPeer: there is no such nameserver, or it isn't reached.
var ErrNoPeer = peers.ErrNoPeer

// PeerDiff asks another nameserver what it holds, and compares. The two tables are of about the same time: a change under way may show.
func (s *Server) PeerDiff(ctx context.Context, name string) (d PeerDiff, err error) {
	g := s.group()
	if g == nil {
		return d, ErrNoPeer
	}
	c := comparison{g, s.peering.digests.Of(s.table.Load()), name}
	if d.Clusters, err = c.whole(ctx, peers.Clusters); err != nil {
		return d, err
	}
	if d.Brokers, err = c.whole(ctx, peers.Brokers); err != nil {
		return d, err
	}
	if d.Namespaces, err = c.whole(ctx, peers.Namespaces); err != nil {
		return d, err
	}
	if d.Topics, err = c.parts(ctx, peers.Topics, d.Brokers.Other); err != nil {
		return d, err
	}
	d.Keys, err = c.parts(ctx, peers.Keys, d.Namespaces.Other)
	return d, err
}

// comparison is one diff under way.
type comparison struct {
	group *peers.Group
	own   *digest.Table
	peer  string
}

func (c *comparison) whole(ctx context.Context, what peers.What) (digest.Difference, error) {
	return c.part(ctx, what, "")
}

func (c *comparison) part(ctx context.Context, what peers.What, of string) (d digest.Difference, err error) {
	there, _, err := c.group.List(ctx, c.peer, peers.Query{What: what, Of: of})
	if err != nil {
		return d, err
	}
	here, _ := c.own.List(what, of) // what isn't there any more is an empty list, here as there
	return digest.Diff(here, there, mostDiffNames), nil
}

func (c *comparison) parts(ctx context.Context, what peers.What, names []string) (parts []PartDiff, err error) {
	for _, name := range names[:min(len(names), mostDiffParts)] {
		d, err := c.part(ctx, what, name)
		if err != nil {
			return nil, err
		}
		parts = append(parts, PartDiff{name, d})
	}
	return parts, nil
}
