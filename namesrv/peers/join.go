package peers

import (
	"context"
	"math/rand/v2"
	"net"
	"strconv"
	"time"
)

// maxJoins bounds the addresses that names may resolve to.
const maxJoins = maxMembers

// runJoiner joins whoever of Options.Peers isn't there: at the start, whenever somebody has gone, and now and then. Names are looked up each time.
func (g *Group) runJoiner() {
	if len(g.o.Peers) == 0 {
		return
	}
	most := joinEvery
	if g.o.quick > 0 {
		most = 8 * g.beat
	}
	wait, warned := g.beat, false
	for {
		missing := g.joinMissing()
		if g.ctx.Err() != nil {
			return
		}
		switch {
		case len(missing) == 0:
			if warned {
				g.o.Logger.Info("peers: all are there")
			}
			wait, warned = most, false
		default:
			if !warned && wait > 4*g.beat { // it may be about to start
				warned = true
				g.o.Logger.Warn("peers: not reached; they are tried again and again", "peers", missing[:min(len(missing), 10)])
			}
			wait = min(2*wait, most)
		}
		t := time.NewTimer(wait/2 + rand.N(wait/2+1)) // not all at once
		select {
		case <-t.C:
		case <-g.missing:
			wait = g.beat
		case <-g.ctx.Done():
		}
		t.Stop()
	}
}

// joinMissing joins those that aren't there, and returns whom it couldn't.
func (g *Group) joinMissing() (missing []string) {
	addrs, unresolved := g.addresses()
	missing = unresolved
	for _, addr := range addrs {
		if g.ctx.Err() != nil {
			return nil
		}
		if g.isThere(addr) {
			continue
		}
		if _, err := g.list.Join([]string{addr}); err != nil {
			g.o.Logger.Debug("peers: not joined", "addr", addr, "error", err)
			missing = append(missing, addr)
		}
	}
	return missing
}

func (g *Group) isThere(addr string) bool {
	if addr == g.Addr() {
		return true
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, p := range g.peers {
		if p.alive && net.JoinHostPort(p.node.Addr.String(), strconv.Itoa(int(p.node.Port))) == addr {
			return true
		}
	}
	return false
}

// addresses are what Options.Peers stand for now.
func (g *Group) addresses() (addrs, unresolved []string) {
	seen := map[string]bool{}
	for _, name := range g.o.Peers {
		host, port, err := net.SplitHostPort(name)
		if err != nil {
			host, port = name, strconv.Itoa(g.gate.port)
		}
		ips, err := g.lookUp(host)
		if err != nil {
			g.o.Logger.Debug("peers: name not resolved", "name", name, "error", err)
			unresolved = append(unresolved, name)
			continue
		}
		for _, ip := range ips {
			if addr := net.JoinHostPort(ip.String(), port); !seen[addr] && len(addrs) < maxJoins {
				seen[addr] = true
				addrs = append(addrs, addr)
			}
		}
	}
	return addrs, unresolved
}

func (g *Group) lookUp(host string) ([]net.IP, error) {
	if ip := net.ParseIP(host); ip != nil {
		return []net.IP{ip}, nil
	}
	ctx, cancel := context.WithTimeout(g.ctx, streamTimeout)
	defer cancel()
	return g.o.resolve(ctx, host)
}

func lookUp(ctx context.Context, host string) ([]net.IP, error) {
	return net.DefaultResolver.LookupIP(ctx, "ip", host)
}
