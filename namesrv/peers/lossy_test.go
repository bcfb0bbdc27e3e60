package peers

import (
	"bytes"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/waymark-mq/waymark/namesrv/verdict"
)

// badWires are those of a poor network.
var badWires = mishaps{lost: 0.05, twice: 0.05, late: 0.2, broken: 0.05, longest: 2 * quick, seed: 11}

// losses counts log lines that say of somebody that he is gone.
type losses struct{ n atomic.Int64 }

func (l *losses) Write(line []byte) (int, error) {
	if bytes.Contains(line, []byte("nameserver is gone")) {
		l.n.Add(1)
	}
	return len(line), nil
}

// lossy are nameservers with a key on bad wires.
type lossy struct {
	*fleet
	given   losses // up by somebody
	digests []atomic.Uint64
	told    []map[string]int64 // of each teller's words: when they were told at the latest, in each hearer's time
}

const lossyServers = 5

func newLossy(t *testing.T) *lossy {
	l := &lossy{fleet: newFleet(t), digests: make([]atomic.Uint64, lossyServers)}
	l.wires.bad = badWires
	for i := range lossyServers {
		l.add(func(o *Options) {
			o.Keys, o.quick = [][]byte{bytes.Repeat([]byte("k"), 32)}, 10*quick // it is memberlist's patience, too
			o.Digest = func() Digest { return Digest{Routes: l.digests[i].Load()} }
			o.Logger = slog.New(slog.NewTextHandler(&l.given, nil))
		})
		l.told = append(l.told, map[string]int64{})
	}
	l.meet()
	return l
}

// tell has a server say a word, which lived until now.
func (l *lossy) tell(teller int, name string) {
	g := l.all[teller]
	w := aWord(name, g.o.Now())
	for hearer, other := range l.all {
		l.told[hearer][name] = other.o.Now()
	}
	g.Tell([]verdict.Word{w})
}

// missing are words that a server hasn't heard, of all others.
func (l *lossy) missing(hearer int) (names []string) {
	_, words := l.heard[hearer].get()
	there := map[string]bool{}
	for _, w := range words {
		there[w.BrokerName] = true
	}
	own := fmt.Sprint("b", hearer, "-")
	for name := range l.told[hearer] {
		if !there[name] && !strings.HasPrefix(name, own) {
			names = append(names, name)
		}
	}
	return names
}

// TestLossyNetwork: five nameservers whose packets get lost, come twice and overtake each other, and whose connections fail and break, while somebody
// without the key sends them packets. Each hears every word of all others, once, with a sign of life that isn't too late; in the end all know of one
// another what they hold; what isn't encrypted with their key is counted and does nothing.
func TestLossyNetwork(t *testing.T) {
	const rounds = 40
	l := newLossy(t)
	forged := forgedPackets(t)
	for round := range rounds {
		for i := range l.all {
			l.digests[i].Store(uint64(1000*round + i))
			l.tell(i, fmt.Sprint("b", i, "-", round))
			send(t, l.all[i].Addr(), forged[round%len(forged)])
		}
		time.Sleep(quick) // for more than one message
	}
	for i := range l.digests {
		l.digests[i].Store(7)
	}
	again := l.untilHeard()
	for i, g := range l.all {
		_, words := l.heard[i].get()
		if want := rounds * (lossyServers - 1); len(words) != want && !again {
			t.Errorf("%s has heard %d words, want %d", g.Name(), len(words), want)
		}
		for _, w := range words {
			if latest, ok := l.told[i][w.BrokerName]; !ok || w.Sign > latest {
				t.Errorf("%s has heard %+v, told at %d", g.Name(), w, latest)
			}
		}
		until(t, "digests that agree", func() bool { return agreeing(g, 7) == lossyServers-1 })
		until(t, "repeated messages", func() bool { return g.Counts().Repeated > 0 })
		until(t, "forged packets", func() bool { return g.Counts().Unreadable == rounds })
		if c := g.Counts(); c.Malformed+c.Unknown+c.Flooded+c.Full > 0 || c.Late > 0 && !again {
			t.Errorf("%s: %+v", g.Name(), c)
		}
		if n := len(g.Members()); n != lossyServers-1 {
			t.Errorf("%s knows %d others", g.Name(), n)
		}
	}
}

// untilHeard waits for all words. Who was given up meanwhile, which a busy machine may bring about, is told nothing: what is missing is told again then,
// once a second.
func (l *lossy) untilHeard() (again bool) {
	l.t.Helper()
	last := time.Now()
	until(l.t, "words", func() bool {
		missing := map[string]bool{}
		for i := range l.all {
			for _, name := range l.missing(i) {
				missing[name] = true
			}
		}
		if len(missing) > 0 && l.given.n.Load() > 0 && time.Since(last) > time.Second {
			last, again = time.Now(), true
			for name := range missing {
				l.tell(int(name[1]-'0'), name)
			}
		}
		return len(missing) == 0
	})
	return again
}

// agreeing counts the others of which a digest is known.
func agreeing(g *Group, digest uint64) (n int) {
	for _, m := range g.Members() {
		if m.Alive && m.Comparable && m.Digest.Routes == digest {
			n++
		}
	}
	return n
}

// forgedPackets are a packet under another key, one that isn't encrypted, and one that is cut short.
func forgedPackets(t *testing.T) (packets [][]byte) {
	t.Helper()
	for _, keys := range [][][]byte{{bytes.Repeat([]byte("x"), 32)}, nil} {
		f := newFleet(t)
		for range 2 {
			f.add(func(o *Options) { o.Keys = keys })
		}
		f.meet()
		packets = append(packets, f.wires.sentBy(f.all[0].Addr()))
	}
	return append(packets, slices.Clone(packets[0][:20]))
}

func send(t *testing.T, addr string, packet []byte) {
	t.Helper()
	c, err := net.Dial("udp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	if _, err := c.Write(packet); err != nil {
		t.Fatal(err)
	}
}

// TestWordsWaitForWhoIsGone: words that a peer couldn't be told before it was given up are told once it is back, if they aren't too old by then.
func TestWordsWaitForWhoIsGone(t *testing.T) {
	f := newFleet(t)
	for range 2 {
		f.add(func(o *Options) { // a clock that is slow: the machine may be, too
			began, now := o.Now(), o.Now
			o.Now = func() int64 { return began + (now()-began)/1000 }
		})
	}
	f.meet()
	teller, hearer := f.all[0], f.all[1]
	f.wires.set(teller.Addr(), hearer.Addr(), true)
	teller.Tell([]verdict.Word{aWord("a", teller.o.Now())})
	until(t, "given up", func() bool { return alive(teller) == 0 })
	f.wires.set(teller.Addr(), hearer.Addr(), false)
	until(t, "the word", func() bool { _, w := f.heard[1].get(); return len(w) == 1 })
}
