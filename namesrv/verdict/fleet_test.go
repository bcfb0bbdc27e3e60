package verdict

import (
	"math/rand/v2"
	"net/netip"
	"slices"
	"time"

	"github.com/waymark-mq/waymark/codec"
	"github.com/waymark-mq/waymark/core"
)

// fleet is a few nameservers and brokers on one clock, with a network that loses, delays and cuts. Nothing of it is real but
// the tables and the judges.
type fleet struct {
	rand    *rand.Rand
	now     int64
	servers []*testServer
	brokers []*testBroker
	loss    float64 // of probes, words and heartbeats
	// cut says what the way from a server to a broker, and back, is like; the zero value is fine.
	cut     map[[2]int]way
	parted  map[[2]int]bool // words between these two servers are lost
	twice   float64         // of words come again, later
	inWay   []delivery
	removed []removal
}

type way uint8

const (
	open     way = iota
	dropping     // packets vanish
	refusing     // and connections are refused: a firewall, or a rebooted host
)

type testServer struct {
	name        string
	table       *core.Table
	judge       *Judge
	pausedUntil int64
	held        []delivery // came while it stood still
	last        int64      // when it last ran
}

type testBroker struct {
	Broker
	conn        core.ConnID
	born        int64 // when it last started
	dead        way   // open: it lives
	pausedUntil int64
	beats       []int64 // when it next registers with each server
	version     codec.DataVersion
}

// connOf is the connection of the nth broker with each server.
func connOf(n int) core.ConnID { return core.ConnID(n + 1) }

// delivery is something on its way to a server.
type delivery struct {
	at  int64
	to  int
	run func(s *testServer)
}

// removal is a broker that a server took out of its routes.
type removal struct {
	server int
	broker Broker
	at     int64
	kind   core.EventKind
	// livedAt: the broker lived, and had for longer than what was under way against the one before it.
	livedAt bool
}

const simTick = int64(100 * time.Millisecond)

func newFleet(seed uint64, servers, brokers int, rules Rules) *fleet {
	f := &fleet{rand: rand.New(rand.NewPCG(seed, 1)), now: int64(time.Hour), cut: map[[2]int]way{}, parted: map[[2]int]bool{}}
	for i := range servers {
		s := &testServer{name: string(rune('A' + i)), table: core.NewTable(core.DefaultSettings(), nil), judge: NewJudge(rules), last: f.now}
		s.judge.SetPeers(servers-1, servers-1)
		f.servers = append(f.servers, s)
	}
	for i := range brokers {
		b := &testBroker{Broker: Broker{"c", string(rune('a' + i)), string(rune('a'+i)) + ":1", 0}, version: codec.DataVersion{Counter: 1}, conn: connOf(i)}
		for range servers {
			b.beats = append(b.beats, f.now+f.rand.Int64N(int64(time.Second))) // all at the start
		}
		f.brokers = append(f.brokers, b)
	}
	return f
}

func (f *fleet) lost() bool { return f.rand.Float64() < f.loss }

// send brings something to a server some time later, later than what is sent after it perhaps.
func (f *fleet) send(to int, run func(*testServer)) {
	f.inWay = append(f.inWay, delivery{f.now + int64(time.Millisecond) + f.rand.Int64N(int64(200*time.Millisecond)), to, run})
}

func (f *fleet) run(d time.Duration) {
	for end := f.now + int64(d); f.now < end; f.now += simTick {
		f.beat()
		f.deliver()
		for i, s := range f.servers {
			if s.pausedUntil > f.now {
				continue
			}
			if late := f.now - s.last; late > int64(500*time.Millisecond) {
				f.step(i, &core.Tick{LatenessNanos: late})
				s.judge.Froze(f.now, late)
			}
			s.last = f.now
			held := s.held
			s.held = nil
			for _, d := range held {
				d.run(s)
			}
			f.act(i)
		}
	}
}

func (f *fleet) deliver() {
	f.inWay = slices.DeleteFunc(f.inWay, func(d delivery) bool {
		if d.at > f.now {
			return false
		}
		if s := f.servers[d.to]; s.pausedUntil > f.now {
			s.held = append(s.held, d)
		} else {
			d.run(s)
		}
		return true
	})
}

// beat has brokers register, every 30 s with each server.
func (f *fleet) beat() {
	for bi, b := range f.brokers {
		if b.dead != open || b.pausedUntil > f.now {
			continue
		}
		for si := range b.beats {
			if b.beats[si] > f.now {
				continue
			}
			b.beats[si] = f.now + int64(30*time.Second)
			if f.cut[[2]int{si, bi}] != open || f.lost() {
				continue
			}
			f.send(si, func(*testServer) { f.step(si, b.registration()) })
		}
	}
}

func (b *testBroker) registration() *core.RegisterBroker {
	return &core.RegisterBroker{
		ClusterName: b.ClusterName, BrokerName: b.BrokerName, BrokerAddr: b.BrokerAddr, Conn: b.conn, PeerAddr: netip.AddrPortFrom(hostOf(int(b.conn)), 1).String(),
		Body: &codec.RegisterBody{DataVersion: b.version, Topics: []codec.TopicConfig{{Name: "t", Perm: 6}, {Name: "u", Perm: 6}}},
	}
}

// step applies a command to a server's table and hands what happened to its judge.
func (f *fleet) step(i int, c core.Command) {
	s := f.servers[i]
	var out core.Outcome
	s.table.Step(f.now, []core.Command{c}, &out)
	for _, e := range out.Effects {
		if e, ok := e.(*core.Event); ok {
			s.judge.Left(f.now, e)
			switch e.Kind {
			case core.EventExpired, core.EventClosed, core.EventUnregistered, core.EventUnanswered, core.EventToldDead:
				broker := f.brokers[slices.IndexFunc(f.brokers, func(b *testBroker) bool { return b.BrokerName == e.BrokerName })]
				f.removed = append(f.removed, removal{i, broker.Broker, f.now, e.Kind, broker.dead == open && f.now-broker.born > int64(3*time.Second)})
			}
		}
	}
	s.judge.Know(f.now, s.table.Load())
}

// act does what a server's judge wants.
func (f *fleet) act(i int) {
	s := f.servers[i]
	var a Actions
	if f.now%int64(5*time.Second) == 0 {
		f.step(i, &core.Tick{})
	}
	s.judge.Know(f.now, s.table.Load())
	s.judge.SetPeers(len(f.servers)-1, f.reached(i))
	s.judge.Due(f.now, 1000, &a)
	for _, t := range a.Probe {
		f.probe(i, t.Broker)
	}
	for _, d := range a.Declare {
		f.step(i, d)
	}
	for _, w := range a.Tell {
		for to := range f.servers {
			if to == i || f.parted[[2]int{min(i, to), max(i, to)}] {
				continue
			}
			for again := 0; again == 0 || f.rand.Float64() < f.twice; again++ {
				if !f.lost() {
					f.send(to, func(r *testServer) {
						heard := w
						r.judge.Heard(f.now, s.name, &heard)
					})
				}
			}
		}
	}
}

// reached is of how many others a server has had beacons lately (peers.Group.Reached).
func (f *fleet) reached(i int) (n int) {
	const silent = int64(3 * time.Second)
	for o, other := range f.servers {
		if o != i && f.now-other.last <= silent && !f.parted[[2]int{min(i, o), max(i, o)}] {
			n++
		}
	}
	return n
}

// probeTimeout is when a probe without an answer has failed.
const probeTimeout = int64(time.Second)

func (f *fleet) probe(i int, b Broker) {
	bi := slices.IndexFunc(f.brokers, func(t *testBroker) bool { return t.Broker == b })
	t := f.brokers[bi]
	condition := max(t.dead, f.cut[[2]int{i, bi}])
	done := func(after int64, o Outcome) {
		f.inWay = append(f.inWay, delivery{f.now + after, i, func(s *testServer) { s.judge.Probed(f.now, b, Result{Outcome: o, At: hostOf(bi)}) }})
	}
	switch {
	case condition == refusing:
		done(2e6, Rejected)
	case condition == dropping || t.pausedUntil > f.now+probeTimeout || f.lost():
		done(probeTimeout, Silent)
	default:
		done(max(2e6, t.pausedUntil-f.now), Answered)
	}
}

// has reports whether a server has a broker in its routes.
func (f *fleet) has(server, broker int) bool {
	_, ok := f.servers[server].table.Load().Group(f.brokers[broker].BrokerName)
	return ok
}
