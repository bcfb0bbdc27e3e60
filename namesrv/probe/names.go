package probe

import (
	"context"
	"errors"
	"net"
	"net/netip"
)

// mostLookups bounds the names that are looked up at a time.
const mostLookups = 16

// names looks brokers' names up. A resolver may take much longer than a probe, and what it has begun goes on though nobody waits for it: each
// lookup keeps its place until it has really ended, so that names which hang cost mostLookups goroutines and sockets, however many there are and however
// often they are probed. Brokers with addresses need no place.
type names struct {
	places chan struct{}
	// lookUp returns when nothing of the lookup goes on: its context is never cancelled, since the resolver would only leave it alone.
	lookUp func(ctx context.Context, host string) ([]netip.Addr, error)
}

func newNames() *names {
	return &names{places: make(chan struct{}, mostLookups), lookUp: func(ctx context.Context, host string) ([]netip.Addr, error) {
		return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	}}
}

var errUnresolved = errors.New("its name wasn't looked up in time")

// find returns a name's addresses. It waits, for a place too, until ctx ends.
func (n *names) find(ctx context.Context, host string) ([]netip.Addr, error) {
	select {
	case n.places <- struct{}{}:
	case <-ctx.Done():
		return nil, errUnresolved
	}
	type answer struct {
		addrs []netip.Addr
		err   error
	}
	found := make(chan answer, 1)
	go func() {
		defer func() { <-n.places }()
		addrs, err := n.lookUp(context.WithoutCancel(ctx), host)
		found <- answer{addrs, err}
	}()
	select {
	case a := <-found:
		return a.addrs, a.err
	case <-ctx.Done():
		return nil, errUnresolved
	}
}
