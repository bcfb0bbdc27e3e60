package peers

import (
	"bytes"
	"encoding/binary"
	"time"

	"github.com/hashicorp/memberlist"
)

// runBeacon tells each peer our time and what we hold, and memberlist when we say something else of ourselves.
func (g *Group) runBeacon() {
	t := time.NewTicker(g.beat)
	defer t.Stop()
	for n := 0; ; n++ {
		if g.o.Digest != nil && n%2 == 0 {
			g.hold(g.o.Digest())
		}
		g.renewSelf()
		g.sendBeacons()
		select {
		case <-t.C:
		case <-g.greet:
		case <-g.ctx.Done():
			return
		}
	}
}

// hold takes what this nameserver holds now, and compares it with what the others hold.
func (g *Group) hold(d Digest) {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := g.o.Now()
	g.ownNow = d
	g.own.hold(d.Routes, now, now-int64(settleTime))
	for _, p := range g.peers {
		g.compare(p, now)
	}
}

// compare looks whether a peer and this nameserver hold the same, or did at about the same time. The caller holds mu.
func (g *Group) compare(p *peer, now int64) {
	own, have := g.own.newest()
	if !p.comparable() || !have {
		return
	}
	ours, held := g.own.held(p.digest.Routes)
	theirs, holds := p.recent.held(own)
	if held || holds {
		p.agreed = max(p.agreed, ours, theirs)
		if p.differs {
			p.differs = false
			g.o.Logger.Info("peers: nameserver holds the same again", "peer", p.name)
		}
		return
	}
	if !p.differs && p.difference(now) > 0 {
		p.differs = true
		g.o.Logger.Warn("peers: nameserver holds other brokers, topics or queues", "peer", p.name,
			"brokers", p.digest.Brokers, "here", g.ownNow.Brokers, "topics", p.digest.Topics, "topicsHere", g.ownNow.Topics)
	}
}

// renewSelf has memberlist carry what we say of ourselves, if that is something else now.
func (g *Group) renewSelf() {
	self := appendSelf(nil, g.run, g.o.Self())
	g.mu.Lock()
	renew := g.ctx.Err() == nil && !bytes.Equal(self, g.self)
	if renew {
		g.self = self
	}
	g.mu.Unlock()
	if renew {
		_ = g.list.UpdateNode(time.Millisecond) // it is on its way; its error is that it hasn't arrived yet
	}
}

// sendBeacons sends one to each peer. What doesn't arrive is made good by the next.
func (g *Group) sendBeacons() {
	type message struct {
		to *memberlist.Node
		b  []byte
	}
	g.mu.Lock()
	messages := make([]message, 0, len(g.peers))
	for _, p := range g.peers {
		if !p.alive {
			continue
		}
		p.seq++
		now := g.o.Now()
		e := envelope{From: g.name, FromRun: g.run, ToRun: p.run, Seq: p.seq}
		node := p.node
		b := binary.AppendVarint(e.append(nil, kindBeacon), now)
		messages = append(messages, message{&node, g.ownNow.append(b)})
	}
	g.mu.Unlock()
	for _, m := range messages {
		if err := g.list.SendBestEffort(m.to, m.b); err != nil {
			g.o.Logger.Debug("peers: no beacon", "peer", m.to.Name, "error", err)
		}
	}
}

// hearBeacon takes a peer's time and digest. One that was overtaken by a later one is nothing.
func (g *Group) hearBeacon(r *reader, e envelope) {
	stamp := r.nanos()
	d := r.digest()
	if r.Err() != nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	p := g.sender(&e)
	if p == nil || stamp < p.stamp {
		return
	}
	now := g.o.Now()
	if !p.known {
		p.known, p.agreed = true, now
	}
	p.heard, p.stamp, p.digest = now, stamp, d
	p.recent.hold(d.Routes, now, now-int64(settleTime))
	g.compare(p, now)
}
