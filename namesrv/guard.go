package namesrv

import (
	"net"
	"strings"
	"sync/atomic"

	"github.com/waymark-mq/waymark/codec"
	"github.com/waymark-mq/waymark/namesrv/access"
	"github.com/waymark-mq/waymark/namesrv/audit"
	"github.com/waymark-mq/waymark/namesrv/ratelimit"
	"github.com/waymark-mq/waymark/namesrv/settings"
)

// guard is what keeps peers from doing what they may not, or not so often. All of it is off unless set.
//
// Concurrency contract: New sets all of it, before loops and the acceptor read it; rules may be replaced later. Nil is off.
type guard struct {
	rules       atomic.Pointer[access.Rules]
	misses      *ratelimit.Limiter // of each address
	connections *ratelimit.Limiter // of each address
}

// set makes rules and limits those of c.
func (g *guard) set(c *settings.Settings) error {
	g.misses = ratelimit.New(c.MaxMissesPerSecondPerAddress)
	g.connections = ratelimit.New(c.MaxNewConnectionsPerSecondPerAddress)
	return g.setRules(c)
}

// setRules makes the rules those of c.
func (g *guard) setRules(c *settings.Settings) error {
	rules, err := c.Access()
	if err == nil {
		g.rules.Store(rules)
	}
	return err
}

// guardCounts count what the guard was against. Any goroutine.
type guardCounts struct {
	refused, observed [access.Groups]atomic.Uint64
	misses            atomic.Uint64
}

// AccessStats are counts since the start.
type AccessStats struct {
	// Requests that were answered NO_PERMISSION (16), or dropped if one-way, because of adminAllowList, readOnly or brokerAllowList. 217 counts
	// as an operator's.
	RefusedAdmin, RefusedBroker uint64
	// Requests that would have been but for the mode observe.
	ObservedAdmin, ObservedBroker uint64
	// ConnectionsLimited were closed at once because of maxNewConnectionsPerSecondPerAddress.
	ConnectionsLimited uint64
	// MissesLimited were answered SYSTEM_BUSY (2) because of maxMissesPerSecondPerAddress.
	MissesLimited uint64
	// Lines of the audit file that were written, and that were lost because the disk was slow or full.
	AuditWritten, AuditLost uint64
}

// AccessStats returns the counts so far. Any goroutine, once the server is started.
func (s *Server) AccessStats() AccessStats {
	lines := s.audit.Stats()
	return AccessStats{
		RefusedAdmin: operators(&s.guarded.refused), RefusedBroker: s.guarded.refused[access.Broker].Load(),
		ObservedAdmin: operators(&s.guarded.observed), ObservedBroker: s.guarded.observed[access.Broker].Load(),
		ConnectionsLimited: s.net.Unadmitted(), MissesLimited: s.guarded.misses.Load(),
		AuditWritten: lines.Written, AuditLost: lines.Lost,
	}
}

func operators(counts *[access.Groups]atomic.Uint64) uint64 {
	return counts[access.Admin].Load() + counts[access.Both].Load()
}

// refuses reports whether the rules are against carrying out the request in hand, and tells of it. rules are on.
func (l *loop) refuses(rules *access.Rules) (v verdict, refused bool) {
	g := access.GroupOf(l.cmd.Code)
	if g == access.Read {
		return v, false
	}
	if v = l.peer().judge(rules, g); v.By == "" {
		return v, false
	}
	event, counts := audit.Observed, &l.guarded.observed
	if v.Refused {
		event, counts = audit.Refused, &l.guarded.refused
	}
	counts[g].Add(1)
	// Brokers' requests come all the time: the audit file has one a minute of each connection and code.
	due := l.peer().due(l.cmd.Code, l.now)
	if due {
		l.events.against(l.cmd.Code, v)
	}
	if v.Refused && l.cmd.Code == codec.RequestRegisterBroker {
		l.counts.rejected.Add(1)
		if due {
			l.tellRejected(l.session.conn, &l.cmd, rejectedAccess, remarkNoPermission+v.from+": "+v.By)
		}
	}
	if l.audit != nil && (due || g.Operators()) {
		l.writeAgainst(event, v.Verdict)
	}
	return v, v.Refused
}

// noPermission answers a request that is refused. Its connection stays.
func (l *loop) noPermission(dst []byte, v verdict) []byte {
	return l.fail(dst, codec.ResponseNoPermission, remarkNoPermission+v.from+": "+v.By)
}

// tooManyMisses reports whether the peer's share of queries without an answer is used up. Where everybody can send a PROXY header
// that names a fresh address each time, the other end of the socket has to have its share left, too.
func (l *loop) tooManyMisses(limit *ratelimit.Limiter) bool {
	p := l.peer()
	spent := ""
	switch {
	case !limit.Allow(p.addr, l.now):
		spent = p.name
	case p.via.name != "" && !limit.Allow(p.via.addr, l.now):
		spent = p.via.name
	default:
		return false
	}
	l.guarded.misses.Add(1)
	if p.due(codec.RequestGetRouteInfoByTopic, l.now) {
		l.events.tooManyMisses(spent, limit.PerSecond())
	}
	return true
}

// admissions decide on a new connection by the address of its socket, and again when a PROXY header names another. A proxy that is
// known (proxyProtocolTrusted; known is nil without) isn't counted, but whom it names; where everybody may send a header, the socket's
// address alone is: a header would bring a fresh one each time.
func (s *Server) admissions(known func(peer string) bool) (admit func(net.Addr) bool, named func(source string) bool) {
	allow := func(peer string) bool { return s.guard.connections.Allow(access.Peer(peer), s.clock.Now()) }
	if known == nil {
		return func(from net.Addr) bool { return allow(from.String()) }, nil
	}
	admit = func(from net.Addr) bool {
		peer := from.String()
		return known(peer) || allow(peer)
	}
	return admit, allow // others' headers aren't believed
}

// warnIfOpen says, at the start, what everybody may do, which with Apache is everything, if others than this machine and
// its private network can reach the port.
func (s *Server) warnIfOpen(bound net.Addr) {
	tcp, ok := bound.(*net.TCPAddr)
	if !ok || tcp.IP.IsLoopback() || tcp.IP.IsPrivate() || tcp.IP.IsLinkLocalUnicast() {
		return
	}
	var may, see []string
	rules := s.guard.rules.Load()
	if !rules.Guarded(access.Broker) {
		may, see = append(may, "register and remove brokers"), append(see, "brokerAllowList")
	}
	if !rules.Guarded(access.Admin) {
		may, see = append(may, "change topics, permissions, KV and settings"), append(see, "adminAllowList", "readOnly")
	}
	if len(may) > 0 {
		s.logger.Warn("everybody who reaches this port may "+strings.Join(may, ", and ")+": see "+strings.Join(see, ", ")+" in SETTINGS.md", "address", bound)
	}
}
