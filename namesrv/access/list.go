package access

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/waymark-mq/waymark/internal/excerpt"
)

// maxEntries bounds a list: it is gone through once for each connection.
const maxEntries = 1024

// List is a set of networks; the zero List has none. It isn't changed once made.
type List struct{ networks []netip.Prefix }

// ParseList reads addresses and networks (CIDR) of IPv4 and IPv6, separated by commas, semicolons or blanks; "" is the
// empty list. An IPv4 address in IPv6 form (::ffff:10.0.0.1) is the IPv4 address. Refused, because they would say something else
// than was meant: host names, zones, networks with bits behind their prefix.
func ParseList(text string) (List, error) {
	var l List
	for _, entry := range strings.FieldsFunc(text, isSeparator) {
		network, err := parseNetwork(entry)
		if err != nil {
			return List{}, err
		}
		if l.networks = append(l.networks, network); len(l.networks) > maxEntries {
			return List{}, fmt.Errorf("more than %d addresses and networks", maxEntries)
		}
	}
	return l, nil
}

func isSeparator(r rune) bool { return r == ',' || r == ';' || r <= ' ' }

func parseNetwork(entry string) (netip.Prefix, error) {
	if !strings.Contains(entry, "/") {
		addr, err := netip.ParseAddr(entry)
		switch {
		case err != nil:
			return netip.Prefix{}, fmt.Errorf("%s is no address", quote(entry))
		case addr.Zone() != "":
			return netip.Prefix{}, fmt.Errorf("%s has a zone, which is not compared: write %s", quote(entry), addr.WithZone(""))
		}
		addr = addr.Unmap()
		return netip.PrefixFrom(addr, addr.BitLen()), nil
	}
	p, err := netip.ParsePrefix(entry)
	if err != nil {
		return netip.Prefix{}, fmt.Errorf("%s is no network", quote(entry))
	}
	if p.Addr().Is4In6() {
		const mapped = 96
		if p.Bits() < mapped {
			return netip.Prefix{}, fmt.Errorf("%s is wider than the IPv4 addresses in IPv6 form: write 0.0.0.0/0 for all of IPv4", quote(entry))
		}
		p = netip.PrefixFrom(p.Addr().Unmap(), p.Bits()-mapped)
	}
	if whole := p.Masked(); whole != p {
		return netip.Prefix{}, fmt.Errorf("%s has bits behind its prefix: write %s for the network or %s for the address", quote(entry), whole, p.Addr())
	}
	return p, nil
}

// Empty reports whether no address is in the list.
func (l List) Empty() bool { return len(l.networks) == 0 }

// and is the list of what either has.
func (l List) and(other List) List { return List{slices.Concat(l.networks, other.networks)} }

// Has reports whether an address, as Peer returns it, is in the list.
func (l List) Has(addr netip.Addr) bool {
	for _, n := range l.networks {
		if n.Contains(addr) {
			return true
		}
	}
	return false
}

// quote shows as much of an entry as an error can bear.
func quote(entry string) string { return fmt.Sprintf("%q", excerpt.Of(entry, 64)) }

// Peer is the address in host:port as lists compare it: IPv4 in IPv6 form is IPv4, a zone is left out. Of what is no address
// it is the zero Addr, which no list has.
func Peer(hostPort string) netip.Addr {
	p, err := netip.ParseAddrPort(hostPort)
	if err != nil {
		return netip.Addr{}
	}
	return p.Addr().Unmap().WithZone("")
}
