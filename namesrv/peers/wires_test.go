package peers

import (
	"errors"
	"math/rand/v2"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/memberlist"
)

// wires are what connects the nameservers of a test: any of them can be cut, and all can be bad.
type wires struct {
	mu    sync.Mutex
	cut   map[way]bool
	deaf  map[way]bool // likewise, but for packets alone
	bad   mishaps
	dice  map[way]*rand.Rand
	known []string          // addresses in the order of their first packet or connection
	last  map[string][]byte // packet of each sender
}

// way is from one address to another.
type way struct{ from, to string }

// mishaps are what may happen, each with a probability, to a packet (lost, come twice, be late by up to longest, and so be overtaken) and to a connection
// (not be made, or break in the middle of what is sent). The order of what happens on a way is always the same.
type mishaps struct {
	lost, twice, late, broken float64
	longest                   time.Duration
	seed                      uint64
}

func newWires() *wires {
	return &wires{cut: map[way]bool{}, deaf: map[way]bool{}, dice: map[way]*rand.Rand{}, last: map[string][]byte{}}
}

// set cuts the wire between two, or mends it.
func (w *wires) set(a, b string, cut bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cut[way{a, b}], w.cut[way{b, a}] = cut, cut
}

// deafen loses all packets of one way. Connections are left.
func (w *wires) deafen(from, to string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.deaf[way{from, to}] = true
}

// chance draws for a way. With mu held.
func (w *wires) chance(at way, probability float64) bool {
	if probability == 0 {
		return false
	}
	return w.die(at).Float64() < probability
}

func (w *wires) die(at way) *rand.Rand {
	if w.dice[at] == nil {
		w.dice[at] = rand.New(rand.NewPCG(w.bad.seed, uint64(w.number(at.from)<<8|w.number(at.to))))
	}
	return w.dice[at]
}

func (w *wires) number(addr string) int {
	if i := slices.Index(w.known, addr); i >= 0 {
		return i
	}
	w.known = append(w.known, addr)
	return len(w.known) - 1
}

// packet is told of one, and says after which times it arrives: none if it is lost.
func (w *wires) packet(at way, b []byte) (delays []time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.last[at.from] = slices.Clone(b)
	if w.cut[at] || w.deaf[at] || w.chance(at, w.bad.lost) {
		return nil
	}
	copies := 1
	if w.chance(at, w.bad.twice) {
		copies = 2
	}
	for range copies {
		var delay time.Duration
		if w.chance(at, w.bad.late) {
			delay = 1 + time.Duration(w.die(at).Int64N(int64(w.bad.longest)))
		}
		delays = append(delays, delay)
	}
	return delays
}

// connection says whether one is made, and breaks.
func (w *wires) connection(at way) (made, breaks bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.cut[at] || w.cut[way{at.to, at.from}] || w.chance(at, w.bad.broken) {
		return false, false
	}
	return true, w.chance(at, w.bad.broken)
}

// sentBy is the last packet of an address; nil if there was none.
func (w *wires) sentBy(addr string) []byte {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.last[addr]
}

// wire is the network as one nameserver has it.
type wire struct {
	memberlist.NodeAwareTransport
	self string
	all  *wires
}

var errCut = errors.New("the wire is cut")

func (w *wire) WriteToAddress(b []byte, a memberlist.Address) (time.Time, error) {
	now := time.Now()
	for _, delay := range w.all.packet(way{w.self, a.Addr}, b) {
		if delay > 0 {
			late := slices.Clone(b)
			time.AfterFunc(delay, func() { _, _ = w.NodeAwareTransport.WriteToAddress(late, a) }) // the test may be over
			continue
		}
		if _, err := w.NodeAwareTransport.WriteToAddress(b, a); err != nil {
			return now, err
		}
	}
	return now, nil
}

func (w *wire) DialAddressTimeout(a memberlist.Address, timeout time.Duration) (net.Conn, error) {
	made, breaks := w.all.connection(way{w.self, a.Addr})
	if !made {
		return nil, errCut
	}
	c, err := w.NodeAwareTransport.DialAddressTimeout(a, timeout)
	if err == nil && breaks {
		c = breaking{c}
	}
	return c, err
}

// breaking is a connection that breaks in the middle of what is sent first.
type breaking struct{ net.Conn }

func (c breaking) Write(b []byte) (int, error) {
	n, _ := c.Conn.Write(b[:len(b)/2])
	_ = c.Conn.Close()
	return n, errCut
}
