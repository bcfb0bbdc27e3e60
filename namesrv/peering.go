package namesrv

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"sync"

	"github.com/waymark-mq/waymark/internal/build"
	"github.com/waymark-mq/waymark/namesrv/digest"
	"github.com/waymark-mq/waymark/namesrv/peers"
	"github.com/waymark-mq/waymark/namesrv/settings"
	life "github.com/waymark-mq/waymark/namesrv/verdict"
)

// peering is what the server has to do with other nameservers. What it owns is made by Start and not changed after it.
type peering struct {
	group   *peers.Group // nil: off
	digests digest.Cache
	admin   string // address of the HTTP side, "" for none

	syncStop context.CancelFunc
	syncing  sync.WaitGroup
	leaving  sync.WaitGroup
}

// startPeering opens the address for other nameservers, if there is one, and with kvSync waits a while for their KV configuration.
func (s *Server) startPeering(c *settings.Settings) error {
	if key, what := c.Unmet(); key != "" {
		return fmt.Errorf("settings: %s: %s", key, what)
	}
	if c.PeerListenAddress == "" {
		return nil
	}
	keys, err := c.PeerKeys()
	if err != nil {
		return fmt.Errorf("settings: peerKey: %w", err)
	}
	s.peering.admin, _ = c.AdminAddr()
	g, err := peers.New(peers.Options{
		Listen: c.PeerListenAddress, Advertise: c.PeerAdvertiseAddress, Name: c.PeerName, Peers: c.PeerList(), Keys: keys,
		Logger: s.logger, Now: s.clock.Now, Self: s.self, Heard: s.lookout.heard,
		Digest: func() peers.Digest { return s.peering.digests.Of(s.table.Load()).Sum },
		List:   func(q peers.Query) peers.Page { return s.peering.digests.Of(s.table.Load()).Page(q) },
	})
	if err != nil {
		return err
	}
	s.peering.group = g
	s.logger.Info("peers: this nameserver among the others", "name", g.Name(), "addr", g.Addr(), "peers", c.Peers, "encrypted", len(keys) > 0)
	if a, err := netip.ParseAddrPort(g.Addr()); len(keys) == 0 && (err != nil || !a.Addr().IsLoopback()) {
		s.logger.Warn("peers: without peerKey whoever reaches this address may read what nameservers say to each other, and say anything", "addr", g.Addr())
	}
	if c.KVSync {
		s.startKVSync()
	}
	return nil
}

// tellPeers tells the others what this server has seen of brokers' lives. The lookout's, which begins after Start has opened the address.
func (s *Server) tellPeers(words []life.Word) { s.peering.group.Tell(words) }

// countPeers is how many others there are, and how many of them are reached. Likewise.
func (s *Server) countPeers() (known, alive int) { return s.peering.group.Reached() }

// stopPeering begins to leave the others, to whom nothing is news of brokers any more. The caller waits for leaving, once there is nothing else to do.
func (s *Server) stopPeering() {
	if s.peering.group == nil {
		return
	}
	if s.peering.syncStop != nil {
		s.peering.syncStop()
		s.peering.syncing.Wait()
	}
	s.peering.leaving.Go(s.peering.group.Close)
}

// self is what this server says of itself to the others. Any goroutine.
func (s *Server) self() peers.Self {
	self := peers.Self{State: peers.Starting, Admin: s.peering.admin, Version: build.Read().Version}
	if a := s.remoting(); a.IsValid() {
		self.Remoting = a.String()
	}
	switch s.State() {
	case Serving:
		self.State = peers.Ready
	case Draining:
		self.State = peers.Draining
	case Stopping:
		self.State = peers.Leaving
	}
	return self
}

// remoting is where clients reach this server: never an address that means "any". It is the zero value before the port is open.
func (s *Server) remoting() netip.AddrPort {
	n := s.running()
	if n == nil {
		return netip.AddrPort{}
	}
	bound, ok := n.Addr().(*net.TCPAddr)
	if !ok {
		return netip.AddrPort{}
	}
	at := bound.AddrPort()
	chosen := s.settings.Load().AdvertiseAddress
	if a, err := netip.ParseAddrPort(chosen); err == nil {
		return a
	}
	host := at.Addr().Unmap()
	if a, err := netip.ParseAddr(chosen); err == nil {
		host = a
	} else if host.IsUnspecified() {
		host = s.machineAddr()
	}
	return netip.AddrPortFrom(host, at.Port())
}

// machineAddr is the address that the other nameservers reach this machine at or, without them, its own.
func (s *Server) machineAddr() netip.Addr {
	if g := s.peering.group; g != nil {
		if a, err := netip.ParseAddrPort(g.Addr()); err == nil {
			return a.Addr().Unmap()
		}
	}
	a, _ := netip.AddrFromSlice(peers.MachineIP())
	return a.Unmap()
}

// ReadyAddresses are the nameservers that clients are to use, this one too, each as ip:port, sorted. Any goroutine.
func (s *Server) ReadyAddresses() []string {
	var ready []string
	add := func(self peers.Self) {
		// What another says of itself is told to clients only if it is an address.
		if a, err := netip.ParseAddrPort(self.Remoting); err == nil && self.State == peers.Ready && a.Port() != 0 && a.Addr().Zone() == "" {
			ready = append(ready, netip.AddrPortFrom(a.Addr().Unmap(), a.Port()).String())
		}
	}
	add(s.self())
	for _, m := range s.members() {
		if m.Alive {
			add(m.Self)
		}
	}
	slices.Sort(ready)
	return slices.Compact(ready)
}

func (s *Server) members() []peers.Member {
	if g := s.group(); g != nil {
		return g.Members()
	}
	return nil
}

// group is this server among the others, once it serves; nil without others. Any goroutine.
func (s *Server) group() *peers.Group {
	if s.running() == nil { // Start may be writing it
		return nil
	}
	return s.peering.group
}

// PeerList is what is known of the other nameservers.
type PeerList struct {
	On      bool   // peerListenAddress is set
	Name    string // this server's
	Addr    string
	Self    peers.Self
	Digest  peers.Digest // of this server's table now
	Members []peers.Member
	Counts  peers.Counts
}

// Peers tells of the other nameservers. Any goroutine, once started.
func (s *Server) Peers() PeerList {
	g := s.group()
	if g == nil {
		return PeerList{}
	}
	return PeerList{
		On: true, Name: g.Name(), Addr: g.Addr(), Self: s.self(), Digest: s.peering.digests.Of(s.table.Load()).Sum, Members: g.Members(), Counts: g.Counts(),
	}
}
