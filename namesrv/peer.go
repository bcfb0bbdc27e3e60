package namesrv

import (
	"net/netip"
	"time"

	"github.com/waymark-mq/waymark/namesrv/access"
)

// peer is what the rules and limits of access need of a connection's other end. It is found out with the first request
// that needs it. The loop's own.
type peer struct {
	addr netip.Addr
	name string // addr as text, for remarks and logs

	rules    *access.Rules // whose verdicts are kept
	verdicts [access.Groups]access.Verdict

	told map[int32]int64 // by request code: when it was last told that something is against it
}

// peer returns the other end of the connection in hand.
func (l *loop) peer() *peer {
	s := l.session
	if s.peer == nil {
		from := s.conn.RemoteAddr()
		s.peer = &peer{addr: access.Peer(from), name: from}
		if s.peer.addr.IsValid() {
			s.peer.name = s.peer.addr.String()
		}
	}
	return s.peer
}

// judge is what the rules say to requests of a group; it is kept until there are other rules.
func (p *peer) judge(rules *access.Rules, g access.Group) access.Verdict {
	if p.rules != rules {
		p.rules = rules
		for g := range p.verdicts {
			p.verdicts[g] = rules.Judge(access.Group(g), p.addr)
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
