package namesrv

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/waymark-mq/waymark/namesrv/peers"
	"github.com/waymark-mq/waymark/namesrv/settings"
	"github.com/waymark-mq/waymark/namesrv/storage"
)

// amongPeers makes a server one of several, joined through those given.
func amongPeers(others ...*testServer) func(*settings.Settings) {
	return func(c *settings.Settings) {
		c.PeerListenAddress = "127.0.0.1:0"
		var addrs []string
		for _, o := range others {
			addrs = append(addrs, o.Peers().Addr)
		}
		c.Peers = strings.Join(addrs, ";")
	}
}

// ready reports whether a server knows so many others that are ready and have said what they hold.
func (s *testServer) ready(n int) bool {
	ready := 0
	for _, m := range s.Peers().Members {
		if m.Alive && m.State == peers.Ready && m.Comparable {
			ready++
		}
	}
	return ready == n
}

// TestPeersAgree: servers that the same brokers registered with hold the same; what one alone has is found, by broker and topic, and KV by key.
func TestPeersAgree(t *testing.T) {
	a := start(t, amongPeers())
	b := start(t, amongPeers(a))
	eventually(t, "both ready", func() bool { return a.ready(1) && b.ready(1) })
	for _, s := range []*testServer{a, b} {
		c := s.dial()
		c.register(broker("b1"))
		c.register(broker("b2"))
	}
	eventually(t, "the same digest", func() bool { return a.Peers().Members[0].Digest == a.Peers().Digest && a.Peers().Digest.Brokers == 2 })
	diff := func() PeerDiff {
		ctx, cancel := context.WithTimeout(t.Context(), waitLimit)
		defer cancel()
		d, err := a.PeerDiff(ctx, b.Peers().Name)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	if d := diff(); !d.Brokers.None() || !d.Namespaces.None() || !d.Clusters.None() || len(d.Topics)+len(d.Keys) > 0 {
		t.Errorf("%+v", d)
	}
	c := a.dial()
	c.register(broker("b3"))
	c.want(ask(205, "brokerName", "b1"), "0 {wipeTopicCount=2}")
	c.want(ask(100, "namespace", "N", "key", "k", "value", "v"), "0")
	d := diff()
	if !slices.Equal(d.Brokers.OnlyHere, []string{"b3"}) || !slices.Equal(d.Brokers.Other, []string{"b1"}) || len(d.Topics) != 1 || d.Topics[0].None() || !slices.Equal(d.Namespaces.OnlyHere, []string{"N"}) {
		t.Errorf("%+v", d)
	}
	if m := a.Peers().Members[0]; m.Differs != 0 {
		t.Errorf("differs for %v: the clock stands still", m.Differs)
	}
	if _, err := a.PeerDiff(t.Context(), "nobody"); err == nil {
		t.Error("nobody was asked")
	}
}

// TestKVSync: a server without a KV namespace takes it over before it serves, durably; what it has is never touched, and what differs stays so.
func TestKVSync(t *testing.T) {
	home := t.TempDir()
	first := start(t, amongPeers())
	c := first.dial()
	for _, kv := range [][3]string{{"N", "a", "1"}, {"N", "b", "2"}, {"OWN", "a", "theirs"}, {"OWN", "c", "3"}} {
		c.want(ask(100, "namespace", kv[0], "key", kv[1], "value", kv[2]), "0")
	}
	eventually(t, "the first is ready", func() bool { return first.Peers().Self.State == peers.Ready })
	if err := os.MkdirAll(home+"/namesrv", 0o755); err != nil {
		t.Fatal(err)
	}
	own := storage.AppendKV(nil, storage.KV{"OWN": {"a": "ours"}})
	if err := os.WriteFile(home+"/namesrv/kvConfig.json", own, 0o600); err != nil {
		t.Fatal(err)
	}
	second := startIn(t, home, amongPeers(first), func(c *settings.Settings) { c.KVSync = true })
	second.barrier()
	s := second.Snapshot()
	for _, want := range [][3]string{{"N", "a", "1"}, {"N", "b", "2"}, {"OWN", "a", "ours"}, {"OWN", "c", ""}} {
		if v, _ := s.KV(want[0], want[1]); v != want[2] {
			t.Errorf("%s %s is %q, want %q", want[0], want[1], v, want[2])
		}
	}
	if lines := second.logged("KV namespaces taken over"); len(lines) != 1 {
		t.Errorf("lines %q", lines)
	}
	kv, _, err := storage.LoadKV(storage.KVFile(second.kvPath()))
	if err != nil || kv["N"]["b"] != "2" || kv["OWN"]["a"] != "ours" || len(kv["OWN"]) != 1 {
		t.Errorf("on disk: %v, %v", kv, err)
	}
	page := second.Events(0, 10, func(e *Event) bool { return e.Kind == "kv_put" })
	if len(page.Events) != 2 || page.Events[0].Peer != first.Peers().Name {
		t.Errorf("events %+v", page.Events)
	}
	eventually(t, "the difference shows", func() bool { m := second.Peers().Members; return len(m) == 1 && m[0].KVDiffers })
}

// TestWorthWaiting: a start waits for a nameserver that may tell its KV configuration, not for others that wait as well.
func TestWorthWaiting(t *testing.T) {
	member := func(state peers.State, alive bool) peers.Member {
		return peers.Member{Alive: alive, Self: peers.Self{State: state}}
	}
	for name, tt := range map[string]struct {
		others []peers.Member
		want   time.Duration // how long
	}{
		"nobody is reached yet": {nil, syncPatience},
		"one is ready":          {[]peers.Member{member(peers.Starting, true), member(peers.Ready, true)}, syncPatience},
		"the ready one leaves":  {[]peers.Member{member(peers.Starting, true), member(peers.Leaving, true)}, syncTogether},
		"all start":             {[]peers.Member{member(peers.Starting, true), member(peers.Ready, false)}, syncTogether},
	} {
		for waited := time.Duration(0); waited <= syncPatience; waited += syncPause {
			if got := worthWaiting(waited, tt.others); got != (waited < tt.want) {
				t.Errorf("%s: after %v %v", name, waited, got)
			}
		}
	}
}

// TestStopTellsPeers: who stops has told the others once Stop returns, though brokers and clients were there until the end.
func TestStopTellsPeers(t *testing.T) {
	a := start(t, amongPeers())
	b := start(t, amongPeers(a))
	eventually(t, "both ready", func() bool { return a.ready(1) && b.ready(1) })
	b.dial().register(broker("b1"))
	b.stop()
	eventually(t, "it has left", func() bool { m := a.Peers().Members[0]; return !m.Alive && m.Left })
	if c := a.Peers().Counts; c.Heard != 0 {
		t.Errorf("%d words of a stop", c.Heard)
	}
}

// TestAddresses: who is ready is told, this server too, as clients can reach it; not who drains.
func TestAddresses(t *testing.T) {
	a := start(t, amongPeers())
	b := start(t, amongPeers(a), func(c *settings.Settings) { c.AdvertiseAddress = "10.1.2.3" })
	port := b.Addr()[strings.LastIndexByte(b.Addr(), ':'):]
	want := []string{"10.1.2.3" + port, a.Addr()}
	eventually(t, "both", func() bool { return slices.Equal(a.ReadyAddresses(), want) && slices.Equal(b.ReadyAddresses(), want) })
	b.Drain("test")
	eventually(t, "one drains", func() bool {
		return slices.Equal(a.ReadyAddresses(), want[1:]) && slices.Equal(b.ReadyAddresses(), want[1:])
	})
	alone := start(t, func(c *settings.Settings) { c.AdvertiseAddress = "10.9.9.9:1" })
	if got := alone.ReadyAddresses(); !slices.Equal(got, []string{"10.9.9.9:1"}) {
		t.Errorf("alone: %q", got)
	}
	alone.Drain("test")
	if got := alone.ReadyAddresses(); len(got) != 0 {
		t.Errorf("it drains: %q", got)
	}
}

// TestPeersNeedAddress: peers without an address of one's own is a mistake; an address that is taken stops the start.
func TestPeersNeedAddress(t *testing.T) {
	for _, change := range []func(*settings.Settings){
		func(c *settings.Settings) { c.Peers = "127.0.0.1:7946" },
		func(c *settings.Settings) { c.PeerListenAddress = start(t).Addr() },
	} {
		c := settings.Default(settings.Env{HomeDir: t.TempDir()})
		change(c)
		s := newTestServer(t, t.TempDir(), Options{Settings: c})
		if err := s.Start(); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("start: %v", err)
		}
	}
}
