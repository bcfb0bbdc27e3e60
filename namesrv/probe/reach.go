package probe

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"

	"github.com/waymark-mq/waymark/namesrv/access"
	"github.com/waymark-mq/waymark/namesrv/verdict"
)

var (
	errForbidden = errors.New("not probed")
	errNoAddress = errors.New("no address to probe")
)

// reach is which addresses are connected to. Whoever may register a broker names an address: without bounds this server would try any port that it
// reaches for him, and show what came of it.
type reach struct {
	allow access.List
	local func() []netip.Addr // this machine's addresses
}

// has reports whether a broker whose registration comes from origin may be probed at an address: its own, or one of the list. Where both ends are this
// machine's, it is its own too: a broker that connects over loopback may register any of them.
func (r *reach) has(at, origin netip.Addr) bool {
	switch {
	case at.IsUnspecified() || at.IsMulticast() || at == netip.AddrFrom4([4]byte{255, 255, 255, 255}):
		return false // no host's; the first would be this one
	case r.allow.Has(at):
		return true
	case !origin.IsValid():
		return false
	case at == origin:
		return true
	}
	return r.here(origin) && r.here(at)
}

func (r *reach) here(a netip.Addr) bool { return a.IsLoopback() || slices.Contains(r.local(), a) }

// localAddrs are the addresses of this machine; none if it doesn't tell.
func localAddrs() (own []netip.Addr) {
	all, _ := net.InterfaceAddrs()
	for _, a := range all {
		if p, err := netip.ParsePrefix(a.String()); err == nil {
			own = append(own, p.Addr().Unmap())
		}
	}
	return own
}

// addresses are those that a broker may be probed at. A name is looked up here, once, and what is connected to is what was checked: whoever owns
// the name can't have it mean something else in between.
func (p *Prober) addresses(ctx context.Context, t verdict.Target) ([]netip.AddrPort, error) {
	host, port, err := net.SplitHostPort(t.BrokerAddr)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errNoAddress, err)
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil || n == 0 {
		return nil, fmt.Errorf("%w: %q is no port", errNoAddress, port)
	}
	hosts := []netip.Addr{}
	if a, err := netip.ParseAddr(host); err == nil {
		hosts = append(hosts, a)
	} else if hosts, err = p.names.find(ctx, host); err != nil {
		return nil, fmt.Errorf("%w: %w", errNoAddress, err)
	}
	return p.permitted(hosts, uint16(n), t.Origin)
}

// mostAddresses bounds the addresses of one name that are tried.
const mostAddresses = 4

func (p *Prober) permitted(hosts []netip.Addr, port uint16, origin netip.Addr) (at []netip.AddrPort, err error) {
	for _, h := range hosts {
		if h = h.Unmap(); len(at) < mostAddresses && p.reach.has(h.WithZone(""), origin) {
			at = append(at, netip.AddrPortFrom(h, port))
		}
	}
	if len(at) > 0 {
		return at, nil
	}
	from := "nobody knows where"
	if origin.IsValid() {
		from = origin.String()
	}
	return nil, fmt.Errorf("%w: %v isn't in probeAllowList, and the registration comes from %s", errForbidden, hosts, from)
}
