package peers

import (
	"log/slog"
	"net"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/memberlist"

	"github.com/waymark-mq/waymark/namesrv/verdict"
)

const (
	quick    = 20 * time.Millisecond
	deadline = 30 * time.Second
)

// said are the words that one nameserver has heard.
type said struct {
	mu    sync.Mutex
	from  []string
	words []verdict.Word
}

func (s *said) hear(from string, words []verdict.Word) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, w := range words {
		s.from, s.words = append(s.from, from), append(s.words, w)
	}
}

func (s *said) get() ([]string, []verdict.Word) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.from...), append([]verdict.Word(nil), s.words...)
}

// fleet are nameservers of one test, each with a clock of its own.
type fleet struct {
	t     *testing.T
	wires *wires
	all   []*Group
	heard []*said
}

func newFleet(t *testing.T) *fleet {
	return &fleet{t: t, wires: newWires()}
}

// add starts a nameserver that joins the first, if there is one.
func (f *fleet) add(change func(*Options)) *Group {
	f.t.Helper()
	nt, err := memberlist.NewNetTransport(&memberlist.NetTransportConfig{BindAddrs: []string{"127.0.0.1"}, Logger: newMemberLog(slog.New(slog.DiscardHandler), func() int64 { return 0 }).logger()})
	if err != nil {
		f.t.Fatal(err)
	}
	addr := net.JoinHostPort("127.0.0.1", strconv.Itoa(nt.GetAutoBindPort()))
	s := &said{}
	began, ahead := time.Now(), int64(len(f.all)+1)*int64(time.Hour) // no two clocks agree
	o := Options{
		Listen: addr, Logger: slog.New(slog.DiscardHandler), Now: func() int64 { return int64(time.Since(began)) + ahead },
		Heard: s.hear, transport: &wire{nt, addr, f.wires}, quick: quick,
	}
	if len(f.all) > 0 {
		o.Peers = []string{f.all[0].Addr()}
	}
	if change != nil {
		change(&o)
	}
	g, err := New(o)
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(g.Close)
	f.all, f.heard = append(f.all, g), append(f.heard, s)
	return g
}

// until waits for something.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(deadline); !ok(); time.Sleep(quick / 4) {
		if time.Now().After(end) {
			t.Fatal("waited in vain: " + what)
		}
	}
}

// meet waits until each hears all others.
func (f *fleet) meet() {
	f.t.Helper()
	for _, g := range f.all {
		until(f.t, g.name+" hears the others", func() bool { return hearing(g) == len(f.all)-1 })
	}
}

// hearing is how many others a nameserver gets beacons of.
func hearing(g *Group) (n int) {
	for _, m := range g.Members() {
		if m.Alive && m.Heard >= 0 {
			n++
		}
	}
	return n
}

func aWord(name string, sign int64) verdict.Word {
	return verdict.Word{Kind: verdict.Closed, Broker: verdict.Broker{ClusterName: "c", BrokerName: name, BrokerAddr: "10.0.0.1:10911", BrokerID: 1}, Sign: sign}
}
