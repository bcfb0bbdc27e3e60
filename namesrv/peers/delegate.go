package peers

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"github.com/hashicorp/memberlist"
)

// delegate is what memberlist calls, from goroutines of its own and holding its lock: nothing here waits or calls back.
type delegate struct{ *Group }

// NodeMeta is what memberlist carries for us.
func (d delegate) NodeMeta(limit int) []byte {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.self[:min(len(d.self), limit)]
}

// NotifyMsg takes a message of a peer.
func (d delegate) NotifyMsg(b []byte) { d.receive(b) }

// GetBroadcasts: nothing of ours is passed on by others.
func (delegate) GetBroadcasts(int, int) [][]byte { return nil }

// LocalState and MergeRemoteState: nothing of ours goes with memberlist's own exchange.
func (delegate) LocalState(bool) []byte        { return nil }
func (delegate) MergeRemoteState([]byte, bool) {}

var (
	errCrowd = errors.New("peers: too many nameservers")
	errName  = errors.New("peers: a nameserver's name is too long")
)

// NotifyAlive bounds who is taken in.
func (d delegate) NotifyAlive(n *memberlist.Node) error {
	if len(n.Name) > maxNameBytes {
		return errName
	}
	if n.Name == d.name {
		return nil
	}
	if _, _, err := parseSelf(n.Meta); err != nil {
		return fmt.Errorf("peers: %s says of itself what can't be read: %w", n.Name, err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if p := d.peers[n.Name]; p != nil && p.alive {
		return nil
	}
	alive := 0
	for _, p := range d.peers {
		if p.alive {
			alive++
		}
	}
	if alive >= maxMembers {
		return errCrowd
	}
	return nil
}

// NotifyJoin begins to talk to a nameserver.
func (d delegate) NotifyJoin(n *memberlist.Node) {
	if n.Name == d.name {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.ctx.Err() != nil {
		return
	}
	p := d.peers[n.Name]
	if p == nil {
		p = &peer{name: n.Name, queue: newQueue()}
		d.peers[n.Name] = p
	}
	p.alive, p.left, p.since = true, false, d.o.Now()
	d.learn(p, n)
	if p.stop == nil {
		ctx, stop := context.WithCancel(d.ctx)
		p.stop = stop
		d.ends.Go(func() { d.runTeller(ctx, p) })
	}
	select {
	case d.greet <- struct{}{}:
	default:
	}
	d.o.Logger.Info("peers: nameserver is there", "peer", p.name, "addr", n.FullAddress().Addr, "remoting", p.self.Remoting, "state", p.self.State)
}

// NotifyUpdate takes in what a nameserver says of itself.
func (d delegate) NotifyUpdate(n *memberlist.Node) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if p := d.peers[n.Name]; p != nil {
		before := p.self.State
		if d.learn(p, n); p.self.State != before {
			d.o.Logger.Info("peers: nameserver is in another state", "peer", p.name, "state", p.self.State)
		}
	}
}

// NotifyLeave ends talking to a nameserver. What is known of it is kept for a while.
func (d delegate) NotifyLeave(n *memberlist.Node) {
	d.mu.Lock()
	defer d.mu.Unlock()
	p := d.peers[n.Name]
	if p == nil {
		return
	}
	p.alive, p.left, p.since = false, p.self.State == Leaving, d.o.Now()
	if p.stop != nil {
		p.stop()
		p.stop = nil
	}
	d.forgetGone()
	if d.ctx.Err() == nil {
		level := slog.LevelWarn
		if p.left { // somebody has stopped it
			level = slog.LevelInfo
		}
		d.o.Logger.Log(d.ctx, level, "peers: nameserver is gone", "peer", p.name, "left", p.left)
	}
	d.lookForMissing()
}

// learn takes what memberlist carries for a peer. The caller holds mu.
func (g *Group) learn(p *peer, n *memberlist.Node) {
	p.node = *n
	p.node.Addr, p.node.Meta = slices.Clone(n.Addr), nil
	run, self, err := parseSelf(n.Meta)
	if err != nil { // of a later version: NotifyAlive refuses others
		return
	}
	if p.run != run {
		p.renew(run)
	}
	p.self = self
}

// forgetGone keeps no more than maxMembers nameservers that have gone, the latest. The caller holds mu.
func (g *Group) forgetGone() {
	gone, oldest := 0, (*peer)(nil)
	for _, p := range g.peers {
		if p.alive {
			continue
		}
		if gone++; oldest == nil || p.since < oldest.since {
			oldest = p
		}
	}
	if gone > maxMembers {
		delete(g.peers, oldest.name)
	}
}

func (g *Group) lookForMissing() {
	select {
	case g.missing <- struct{}{}:
	default:
	}
}
