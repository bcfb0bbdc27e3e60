package api

import (
	"strconv"
	"time"

	"github.com/waymark-mq/waymark/codec"
	"github.com/waymark-mq/waymark/core"
	"github.com/waymark-mq/waymark/namesrv"
)

// brokerJSON is a broker name and its members.
type brokerJSON struct {
	Name         string         `json:"name"`
	Cluster      string         `json:"cluster"`
	Zone         *string        `json:"zone,omitempty"`
	ActingMaster bool           `json:"actingMaster"`
	Topics       int            `json:"topics"`
	TopicsByPerm map[string]int `json:"topicsByPerm,omitempty"`
	Members      []memberJSON   `json:"members"`
}

// memberJSON is one address of a broker name, and what it registered.
type memberJSON struct {
	ID             int64             `json:"id"`
	Address        string            `json:"address"`
	HAAddress      string            `json:"haAddress,omitempty"`
	Cluster        string            `json:"cluster,omitempty"`      // where it isn't the broker name's
	AddressDoubt   string            `json:"addressDoubt,omitempty"` // why clients may not reach it
	Silent         seconds           `json:"silentSeconds"`
	Suspect        bool              `json:"suspect,omitempty"`     // silent for longer than its timeout, held by the expiry guard
	Provisional    bool              `json:"provisional,omitempty"` // restored, and not registered since the start
	Timeout        seconds           `json:"timeoutSeconds"`
	Owner          *connJSON         `json:"owner,omitempty"`
	Registration   *registrationJSON `json:"registration,omitempty"`
	FilterServers  []string          `json:"filterServers,omitempty"`
	Probe          *probeJSON        `json:"probe,omitempty"`   // only if brokers are probed
	SilenceUnknown bool              `json:"unknown,omitempty"` // its registration has gone, the address not yet
}

// probeJSON is what probes and peers say of a broker.
type probeJSON struct {
	Answers  bool     `json:"answers"`                  // it has answered one from here, and hasn't shown life otherwise since it stopped to
	Answered *seconds `json:"lastAnswerSeconds"`        // ago; null: never
	Failures int      `json:"failures"`                 // since
	Failure  string   `json:"lastFailure,omitempty"`    // why the last probe wasn't answered
	Barred   string   `json:"notProbed,omitempty"`      // why it isn't probed at all
	Suspect  bool     `json:"suspect"`                  // so many that it is suspect
	Accusers []string `json:"accusers,omitempty"`       // peers that have something against it, and what
	Vouched  *seconds `json:"vouchedSeconds,omitempty"` // when a peer last saw it live, ago
}

func (r *request) probeOf(l *core.Live) *probeJSON {
	state, ok := r.src.Probed(l.ClusterName, l.BrokerAddr)
	if !ok {
		return nil
	}
	ago := func(at int64) *seconds {
		if at == 0 {
			return nil
		}
		s := seconds(time.Duration(max(r.src.Now()-at, 0)))
		return &s
	}
	p := &probeJSON{
		Answers: state.Answers, Answered: ago(state.Answered), Failures: state.Failures, Suspect: state.Suspect, Accusers: state.Accusers, Vouched: ago(state.Vouched),
	}
	if state.Forbidden {
		p.Barred = state.Why
	} else {
		p.Failure = state.Why
	}
	return p
}

// connJSON names a connection.
type connJSON struct {
	ID   uint64 `json:"id"`
	Peer string `json:"peer,omitempty"`
	Open bool   `json:"open"`
}

// registrationJSON is a registration as it was applied.
type registrationJSON struct {
	FirstAt     jsonTime        `json:"firstAt"`
	At          jsonTime        `json:"at"`
	Connection  uint64          `json:"connection"`
	Peer        string          `json:"peer"`
	DataVersion dataVersionJSON `json:"dataVersion"`
	Topics      int             `json:"topics"`
	Applied     int64           `json:"applied"`
	Recognised  int64           `json:"recognised"`
}

type dataVersionJSON struct {
	StateVersion int64 `json:"stateVersion"`
	Timestamp    int64 `json:"timestamp"`
	Counter      int64 `json:"counter"`
}

// nextName says where a list goes on: behind this name. It is nil on the last page.
type nextName struct {
	Next *string `json:"next,omitempty"`
}

// clusters lists cluster names; their brokers are asked for by brokers?cluster=.
func (r *request) clusters() error {
	limit, err := r.limit()
	if err != nil {
		return err
	}
	type clusterJSON struct {
		Name      string `json:"name"`
		Brokers   int    `json:"brokers"`
		Addresses int    `json:"addresses"`
	}
	s, last, rest := r.src.Snapshot(), "", nextName{}
	r.begin("clusters")
	for name, brokers := range s.Clusters(r.parameters.Get("after")) {
		if r.items == limit {
			rest.Next = &last
			break
		}
		c := clusterJSON{Name: name, Brokers: len(brokers)}
		for _, b := range brokers {
			if g, ok := s.Group(b); ok {
				c.Addresses += len(g.Addrs)
			}
		}
		r.item(c)
		last = name
	}
	r.end(rest)
	return nil
}

// brokers lists broker names with their members.
func (r *request) brokers() error {
	limit, err := r.limit()
	if err != nil {
		return err
	}
	s, cluster, last, rest := r.src.Snapshot(), r.parameters.Get("cluster"), "", nextName{}
	perms := s.TopicsByPerm()
	r.begin("brokers")
	for g := range s.Groups(r.parameters.Get("after")) {
		if r.ctx.Err() != nil {
			break
		}
		if r.parameters.Has("cluster") && !s.InCluster(cluster, g.Name) {
			continue
		}
		if r.items == limit {
			rest.Next = &last
			break
		}
		r.item(r.brokerOf(s, g, perms[g]))
		last = g.Name
	}
	r.end(rest)
	return nil
}

// broker shows one broker name.
func (r *request) broker() error {
	s := r.src.Snapshot()
	g, ok := s.Group(r.name)
	if !ok {
		why := r.brokerWhy(r.name)
		r.failWith(failure{404, "not_found", "no broker of this name"}, why)
		return nil
	}
	r.write(struct {
		brokerJSON
		Why brokerWhyJSON `json:"why"`
	}{r.brokerOf(s, g, s.TopicsByPerm()[g]), r.brokerWhy(g.Name)})
	return nil
}

func (r *request) brokerOf(s *core.Snapshot, g *core.Group, perms map[int32]int) brokerJSON {
	b := brokerJSON{
		Name: g.Name, Cluster: g.ClusterName, Zone: nullable(g.ZoneName), ActingMaster: g.ActingMaster,
		TopicsByPerm: make(map[string]int, len(perms)), Members: r.membersOf(s, g),
	}
	for perm, n := range perms {
		b.Topics += n
		b.TopicsByPerm[strconv.Itoa(int(perm))] = n
	}
	return b
}

func (r *request) membersOf(s *core.Snapshot, g *core.Group) []memberJSON {
	members := make([]memberJSON, 0, len(g.Addrs))
	for _, a := range g.Addrs {
		members = append(members, r.memberOf(s, g, a))
	}
	return members
}

func (r *request) memberOf(s *core.Snapshot, g *core.Group, a core.Address) memberJSON {
	m := memberJSON{ID: a.BrokerID, Address: a.Addr}
	l, ok := s.LiveOf(g, a.Addr)
	if !ok {
		m.SilenceUnknown = true
		return m
	}
	if !l.Provisional { // nobody knows where it registered from
		m.AddressDoubt = namesrv.AddressDoubt(l.BrokerAddr, l.From.Addr)
	}
	m.HAAddress, m.FilterServers, m.Timeout = l.HAServerAddr.S, l.FilterServers, seconds(l.TimeoutNanos)
	if l.ClusterName != g.ClusterName {
		m.Cluster = l.ClusterName
	}
	if l.Provisional { // it was an earlier process's
		m.Provisional = true
		m.Silent = seconds(time.Duration(max(r.src.Now()-l.Seen, 0)))
	}
	if last, alive := l.Cell.Last(); alive {
		m.Silent = seconds(time.Duration(max(r.src.Now()-last, 0)))
		_, m.Suspect = l.Cell.Suspect()
	}
	if owner := uint64(l.Cell.Owner()); owner != 0 {
		m.Owner = &connJSON{ID: owner}
		m.Owner.Peer, m.Owner.Open = r.src.PeerAddr(owner)
	}
	m.Probe = r.probeOf(l)
	m.Registration = &registrationJSON{
		FirstAt: fromMillis(l.FirstMillis), At: fromMillis(l.WallMillis),
		Connection: uint64(l.From.Conn), Peer: l.From.Addr,
		DataVersion: dataVersionJSON{l.DataVersion.StateVersion, l.DataVersion.Timestamp, l.DataVersion.Counter},
		Topics:      l.Topics, Applied: l.Applied, Recognised: l.Cell.RecognisedCount(),
	}
	return m
}

func nullable(s codec.NullString) *string {
	if !s.Valid {
		return nil
	}
	return &s.S
}
