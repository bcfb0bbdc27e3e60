package verdict

import (
	"net/netip"
	"time"

	"github.com/waymark-mq/waymark/core"
)

// If as many of those that have answered before fail at once, it is likelier that the way out of here is broken than that they all are.
const leastIsolated, isolatedPercent = 3, 50

// longestHold bounds for how long that keeps a broker, counted from its last sign of life: one without a timeout of its own goes then anyway.
// One that is silent for longer doesn't count either, so that nobody keeps others by a long timeout and silence.
const longestHold = core.DefaultTimeoutMillis * time.Millisecond

// recovery is how long after this server was cut off the evidence of its probes doesn't count: those that had begun end, new ones are answered, and
// the peers speak.
const recovery = 2 * hearing

// holds reports whether this server may be the one that is cut off, or was a moment ago, so that a broker's silence proves nothing yet.
func (j *Judge) holds(c *brokerCase, now int64) bool {
	return now-c.sign() <= int64(longestHold) && now-j.isolatedAt <= int64(recovery)
}

// isolated reports whether this server seems to be cut off now.
func (j *Judge) isolated(now int64) bool {
	return j.peers > 0 && j.alive == 0 || j.failing() >= leastIsolated && j.look(now).isolated()
}

// failing is how many brokers fail that have answered before. It is asked first: in nearly all rounds it says that there is no need for a crowd, and
// for its maps.
func (j *Judge) failing() (n int) {
	for _, c := range j.order {
		if c.answersHere && c.failures > 0 {
			n++
		}
	}
	return n
}

// crowd is how many of the brokers that have answered from here fail, as registrations, as hosts and as sources. Registrations cost nothing:
// whoever may register could fill the table with brokers that fall silent at his word, and so keep dead ones. He has few addresses to answer
// probes from, and few to register from.
type crowd struct {
	brokers share
	hosts   map[netip.Prefix]share // by the address that answered
	sources map[netip.Prefix]share // by where the registration came from: brokers behind one gateway or proxy are one
}

// share is how many there are, and how many of them fail.
type share struct{ all, failing int }

func (s share) add(fails bool) share {
	s.all++
	if fails {
		s.failing++
	}
	return s
}

// most reports whether most fail.
func (s share) most() bool { return s.failing*100 > isolatedPercent*s.all }

func (j *Judge) look(now int64) *crowd {
	w := &crowd{hosts: map[netip.Prefix]share{}, sources: map[netip.Prefix]share{}}
	for _, c := range j.order {
		if !c.answersHere || now-c.sign() > int64(longestHold) {
			continue
		}
		fails := c.failures > 0
		host, source := network(c.at), network(c.origin())
		w.brokers = w.brokers.add(fails)
		w.hosts[host] = w.hosts[host].add(fails)
		w.sources[source] = w.sources[source].add(fails)
	}
	return w
}

// isolated: most hosts and most sources fail, or everybody does.
func (w *crowd) isolated() bool {
	if w.brokers.failing < leastIsolated {
		return false
	}
	hosts := failingOf(w.hosts)
	return w.brokers.failing == w.brokers.all || hosts.failing >= leastIsolated && hosts.most() && failingOf(w.sources).most()
}

// failingOf counts networks; one fails if most of its brokers do.
func failingOf(networks map[netip.Prefix]share) (s share) {
	for _, n := range networks {
		s = s.add(n.most())
	}
	return s
}

// network is whom an address belongs to: an IPv6 host has a whole /64. All unknown addresses are one.
func network(a netip.Addr) netip.Prefix {
	const hostBits = 64
	bits := a.BitLen()
	if a.Is6() {
		bits = hostBits
	}
	p, _ := a.Prefix(bits) // its error is that of the zero Addr
	return p
}
