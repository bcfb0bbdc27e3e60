package namesrv

import (
	"net/netip"
	"time"

	"github.com/waymark-mq/waymark/namesrv/access"
	"github.com/waymark-mq/waymark/netpoll"
)

// peer is what the rules and limits of access need of a connection's other end. It is found out with the first request
// that needs it. The loop's own.
type peer struct {
	origin        // what a PROXY header says, if there was one
	via    origin // the other end of the socket, if that is another

	rules    *access.Rules // whose verdicts are kept
	verdicts [access.Groups]verdict

	told map[int32]int64 // by request code: when it was last told that something is against it
}

// origin is an address, and its text for remarks and logs.
type origin struct {
	addr netip.Addr
	name string
}

// verdict is what the rules say, and of which address.
type verdict struct {
	access.Verdict
	from string
}

func originOf(hostPort string) origin {
	o := origin{access.Peer(hostPort), hostPort}
	if o.addr.IsValid() {
		o.name = o.addr.String()
	}
	return o
}

// peer returns the other end of the connection in hand.
func (l *loop) peer() *peer {
	s := l.session
	if s.peer == nil {
		s.peer = newPeer(s.conn, l.settings.Load().ProxyProtocolTrusted != "")
	}
	return s.peer
}

// newPeer looks at both ends of a connection behind a proxy, unless the proxies are known (proxyProtocolTrusted): then
// what they say is enough.
func newPeer(c *netpoll.Conn, proxiesKnown bool) *peer {
	p := &peer{origin: originOf(c.RemoteAddr())}
	if socket := c.SocketAddr(); socket != c.RemoteAddr() && !proxiesKnown {
		p.via = originOf(socket)
	}
	return p
}

// claimed reports whether only a PROXY header that anybody may send says where the peer is.
func (p *peer) claimed() bool { return p.via.name != "" }

// judge is what the rules say to requests of a group; it is kept until there are other rules. Where everybody can send a PROXY
// header that names an allowed address, the other end of the socket must be allowed, too.
func (p *peer) judge(rules *access.Rules, g access.Group) verdict {
	if p.rules != rules {
		p.rules = rules
		for g := range p.verdicts {
			v := verdict{rules.Judge(access.Group(g), p.addr), p.name}
			if p.via.name != "" {
				if w := rules.Judge(access.Group(g), p.via.addr); w.Refused && !v.Refused || v.By == "" {
					v = verdict{w, p.via.name}
				}
			}
			p.verdicts[g] = v
		}
	}
	return p.verdicts[g]
}

// mayBeat reports whether the rules are known to have nothing against a broker's requests. p may be nil.
func (p *peer) mayBeat(rules *access.Rules) bool {
	return p != nil && p.rules == rules && p.verdicts[access.Broker].By == ""
}

// due reports whether a minute has passed since it was last true for this connection and code, so that what comes
// with every request isn't told with each, nor a lock taken for it.
func (p *peer) due(code int32, now int64) bool {
	last, known := p.told[code]
	if known && now-last < int64(time.Minute) {
		return false
	}
	if p.told == nil {
		p.told = map[int32]int64{}
	}
	p.told[code] = now
	return true
}
