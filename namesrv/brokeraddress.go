package namesrv

import (
	"log/slog"
	"net"
	"net/netip"

	"github.com/waymark-mq/waymark/core"
	"github.com/waymark-mq/waymark/namesrv/access"
)

// noteAddress tells of a broker whose registration from peer (host:port) has an address that clients may not reach, as
// those in containers have. It is served as it was sent: only the broker's owner can know better. Any goroutine; once a
// minute at most for each address, and of all together as otherLines says.
func (l *eventLog) noteAddress(c *core.RegisterBroker, peer string) {
	level, doubt := doubtfulAddress(c.BrokerAddr, peer)
	if doubt == "" {
		return
	}
	l.limited(lineAddress, level, short(c.ClusterName)+" "+short(c.BrokerAddr), "broker registers an address that clients may not reach: "+doubt,
		slog.String("cluster", short(c.ClusterName)), slog.String("broker", short(c.BrokerName)), slog.Int64("id", c.BrokerID),
		slog.String("addr", short(c.BrokerAddr)), slog.String("peer", peer))
}

// AddressDoubt says why clients may not reach a broker at the address that it registered from peer (host:port); "" if nothing
// is doubtful.
func AddressDoubt(addr, peer string) string {
	_, doubt := doubtfulAddress(addr, peer)
	return doubt
}

// doubtfulAddress says what is doubtful about the address that a broker at peer (host:port) registers under; "" if
// nothing is. A broker on this machine may be meant for this machine alone.
func doubtfulAddress(addr, peer string) (slog.Level, string) {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return slog.LevelWarn, "it is no host:port"
	}
	from := access.Peer(peer)
	here := !from.IsValid() || from.IsLoopback()
	ip, err := netip.ParseAddr(host)
	switch {
	case err != nil && here:
		return 0, ""
	case err != nil:
		return slog.LevelWarn, "it is a name that each of them has to resolve"
	case ip.IsUnspecified():
		return slog.LevelWarn, "it is the unspecified one"
	case here:
		return 0, ""
	case ip.Unmap().IsLoopback():
		return slog.LevelWarn, "it is a loopback address of another machine"
	case ip.Unmap().WithZone("") != from:
		return slog.LevelInfo, "the broker connects from another one"
	}
	return 0, ""
}
