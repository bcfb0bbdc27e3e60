package peers

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"slices"
	"sync/atomic"
	"testing"
)

// TestNameOfSeveral: a name stands for all its addresses, with its own port or that of Listen, and what two names share counts once; one that
// doesn't resolve costs the others nothing.
func TestNameOfSeveral(t *testing.T) {
	of := map[string][]net.IP{
		"headless.example": {net.IPv4(10, 0, 0, 1), net.IPv4(10, 0, 0, 2), net.ParseIP("fd00::3")},
		"again.example":    {net.IPv4(10, 0, 0, 2), net.IPv4(10, 0, 0, 4)},
	}
	g := &Group{
		o: Options{
			Peers:  []string{"headless.example", "nowhere.example", "again.example:7946", "10.0.0.5:1"},
			Logger: slog.New(slog.DiscardHandler),
			resolve: func(_ context.Context, host string) ([]net.IP, error) {
				if ips, ok := of[host]; ok {
					return ips, nil
				}
				return nil, errors.New("no such host")
			},
		},
		gate: &gate{port: 7946}, ctx: t.Context(),
	}
	addrs, unresolved := g.addresses()
	if want := []string{"10.0.0.1:7946", "10.0.0.2:7946", "[fd00::3]:7946", "10.0.0.4:7946", "10.0.0.5:1"}; !slices.Equal(addrs, want) {
		t.Errorf("addresses %q, want %q", addrs, want)
	}
	if want := []string{"nowhere.example"}; !slices.Equal(unresolved, want) {
		t.Errorf("unresolved %q, want %q", unresolved, want)
	}
}

// TestNameIsLookedUpAgain: whoever a name stands for later is joined then.
func TestNameIsLookedUpAgain(t *testing.T) {
	f := newFleet(t)
	first := f.add(nil)
	_, port, err := net.SplitHostPort(first.Addr())
	if err != nil {
		t.Fatal(err)
	}
	var asked atomic.Int64
	second := f.add(func(o *Options) {
		o.Peers = []string{"headless.example:" + port}
		o.resolve = func(context.Context, string) ([]net.IP, error) {
			if asked.Add(1) < 3 {
				return nil, errors.New("no such host yet")
			}
			return []net.IP{net.IPv4(127, 0, 0, 1)}, nil
		}
	})
	f.meet()
	if n := asked.Load(); n < 3 || hearing(second) != 1 {
		t.Errorf("looked up %d times, hears %d", n, hearing(second))
	}
}
