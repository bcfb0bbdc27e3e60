package verdict

import (
	"net/netip"
	"testing"
	"time"
)

// silent has the brokers with these numbers fall silent, and all others answer.
func silent(numbers ...int) func(Broker) Outcome {
	return func(b Broker) Outcome {
		for _, i := range numbers {
			if nth(i) == b {
				return Silent
			}
		}
		return Answered
	}
}

// Brokers that somebody registers in order to have them fall silent keep no dead one. Number 0 dies in all of these.
func TestFakesKeepNoDeadBroker(t *testing.T) {
	v6 := func(last byte) netip.Addr { return netip.AddrFrom16([16]byte{0x20, 0x01, 0x0d, 0xb8, 15: last}) }
	for _, c := range []struct {
		name    string
		brokers int
		hosts   func(i int) netip.Addr
		sources func(i int) netip.Addr
		silent  []int
		want    int
	}{
		{"six of one host among three brokers", 9, func(i int) netip.Addr { return hostOf(min(i, 3)) }, nil, []int{0, 3, 4, 5, 6, 7, 8}, 7},
		{"likewise, of one IPv6 network", 9, func(i int) netip.Addr {
			if i < 3 {
				return hostOf(i)
			}
			return v6(byte(i))
		}, nil, []int{0, 3, 4, 5, 6, 7, 8}, 7},
		{"of many hosts, registered from one", 9, nil, func(i int) netip.Addr { return hostOf(min(i, 3)) }, []int{0, 3, 4, 5, 6, 7, 8}, 7},
		{"registered from anywhere, of one host", 9, func(i int) netip.Addr { return hostOf(min(i, 3)) }, hostOf, []int{0, 3, 4, 5, 6, 7, 8}, 7},
		{"most hosts, as registered from one gateway, are no fakes", 6, nil, func(int) netip.Addr { return hostOf(9) }, []int{0, 1, 2, 3}, 0},
		{"all of one host are gone, and it is the only one", 4, func(int) netip.Addr { return hostOf(9) }, nil, []int{0, 1, 2, 3}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, probing, 0)
			b.hosts, b.sources = c.hosts, c.sources
			for i := range c.brokers {
				b.register(i)
			}
			b.pass(3*time.Second, always(Answered))
			b.pass(15*time.Second, silent(c.silent...))
			b.wantDeclared(c.want, "")
		})
	}
}

// That most are silent at once keeps each for two minutes at the most, and who was silent for that long keeps nobody.
func TestIsolationEnds(t *testing.T) {
	b := newBench(t, probing, 6)
	b.pass(3*time.Second, always(Answered))
	b.pass(110*time.Second, silent(0, 1, 2, 3))
	b.wantDeclared(0, "")
	b.pass(15*time.Second, silent(0, 1, 2, 3))
	b.wantDeclared(4, "")
	b.acts = Actions{} // the table keeps them in this test: as with a timeout of a year
	b.pass(10*time.Second, silent(0, 1, 2, 3, 4))
	found := false
	for _, d := range b.acts.Declare {
		found = found || d.BrokerName == nth(4).BrokerName
	}
	if !found {
		t.Error("brokers that are long silent keep another")
	}
}

// If most brokers stop to answer at once it is this server that is cut off, unless a peer has seen the same; one or two may well die together.
func TestIsolatedServerRemovesNobody(t *testing.T) {
	for _, c := range []struct {
		name             string
		brokers, failing int
		accused          int // of the failing ones, by a peer
		alive            int // peers
		want             int
	}{
		{"one of one", 1, 1, 0, 2, 1},
		{"two of two", 2, 2, 0, 2, 2},
		{"three of six", 6, 3, 0, 2, 3},
		{"four of six", 6, 4, 0, 2, 0},
		{"four of six, a peer sees one of them", 6, 4, 1, 2, 1},
		{"one of six, but all peers are gone", 6, 1, 0, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, probing, c.brokers)
			b.judge.SetPeers(2, c.alive)
			b.pass(3*time.Second, always(Answered))
			fails := func(p Broker) Outcome {
				for i := range c.failing {
					if nth(i) == p {
						return Silent
					}
				}
				return Answered
			}
			for range 15 {
				for i := range c.accused {
					b.hear("ns2", Suspect, i, 10*time.Second)
				}
				b.pass(time.Second, fails)
			}
			b.wantDeclared(c.want, "")
		})
	}
}

// A server that was cut off asks again before it believes what probes came to meanwhile.
func TestIsolationHasEnded(t *testing.T) {
	for name, brokers := range map[string]int{"by its peers": 1, "by its brokers": leastIsolated} {
		b := newBench(t, probing, brokers)
		b.pass(2*time.Second, always(Answered))
		if brokers < leastIsolated {
			b.judge.SetPeers(2, 0)
		}
		b.pass(30*time.Second, always(Silent))
		b.judge.SetPeers(2, 1)
		healed := func(n Broker) Outcome { // the first is the last that answers again
			if n == nth(0) {
				return Silent
			}
			return Answered
		}
		b.pass(2*time.Second, healed)
		if len(b.acts.Declare) > 0 {
			t.Errorf("%s: declared dead %+v", name, b.acts.Declare)
		}
		b.pass(8*time.Second, healed) // it is dead after all
		b.wantDeclared(1, "")
	}
}
