package namesrv

import (
	"context"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/waymark-mq/waymark/codec"
	"github.com/waymark-mq/waymark/core"
	"github.com/waymark-mq/waymark/namesrv/settings"
	life "github.com/waymark-mq/waymark/namesrv/verdict"
	"github.com/waymark-mq/waymark/remoting"
)

// probed is a broker's port: it answers what it is asked as long as it is awake.
type probed struct {
	listener net.Listener
	asleep   atomic.Bool
}

func listenProbed(t *testing.T) *probed {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &probed{listener: l}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go p.serve(c)
		}
	}()
	return p
}

func (p *probed) addr() string { return p.listener.Addr().String() }

func (p *probed) serve(c net.Conn) {
	defer c.Close()
	head := make([]byte, 4)
	for {
		if _, err := io.ReadFull(c, head); err != nil {
			return
		}
		n, err := codec.FrameLength(head, 1<<16)
		if err != nil {
			return
		}
		b := append(slices.Clone(head), make([]byte, n-4)...)
		if _, err := io.ReadFull(c, b[4:]); err != nil {
			return
		}
		f, err := codec.ParseFrame(b)
		if err != nil {
			return
		}
		var cmd codec.Command
		if cmd.Parse(f) != nil {
			return
		}
		if !p.asleep.Load() {
			_, _ = c.Write(codec.AppendFrame(nil, codec.SerializeJSON, &codec.Header{Flag: codec.FlagResponse, Opaque: cmd.Opaque}, nil))
		}
	}
}

// looking are settings of a server that asks brokers every second, and waits a moment for their answers.
func looking(c *settings.Settings) {
	c.ProbeIntervalMillis, c.ProbeTimeoutMillis, c.ProbeFailuresToSuspect = 1000, 20, 3
	c.ProbeRemoves, c.ProbeRemoveAfterMillis = true, 8000
}

// lookUntil goes from round to round, a tenth of a second of the server's time each, until it holds; each round's probes are waited for.
func (s *testServer) lookUntil(what string, holds func() bool) (rounds int) {
	s.t.Helper()
	for ; !holds(); rounds++ {
		if rounds > 600 {
			s.t.Fatalf("%s: not within a minute of the server's time", what)
		}
		s.look()
	}
	return rounds
}

func (s *testServer) look() {
	s.clock.now.Add(int64(lookoutRound))
	s.lookout.round(context.Background())
	eventually(s.t, "the probes' end", func() bool {
		s.lookout.mu.Lock()
		defer s.lookout.mu.Unlock()
		return s.lookout.under == 0
	})
	s.settleBarriers()
}

// settleBarriers waits until what a barrier held back has been applied.
func (s *testServer) settleBarriers() {
	done := make(chan struct{})
	s.net.Barrier(func() { s.net.Barrier(func() { close(done) }) })
	s.await(done, "the loops")
	s.barrier()
}

func (s *testServer) suspect(addr string) bool {
	state, ok := s.Probed(cluster, addr)
	if !ok {
		s.t.Fatalf("nothing is known of %s", addr)
	}
	return state.Suspect
}

func TestNobodyIsProbedByDefault(t *testing.T) {
	s := start(t)
	if s.lookout != nil {
		t.Error("there is a lookout")
	}
	if _, ok := s.Probed(cluster, "a:10911"); ok {
		t.Error("something is known from probes")
	}
}

// A broker that stops to answer becomes suspect, then goes; it comes back with its next registration.
func TestSilentBrokerIsSuspectAndGoes(t *testing.T) {
	s, p := start(t, looking), listenProbed(t)
	b := s.dial()
	b.register(broker("a").set("brokerAddr", p.addr()))
	s.lookUntil("an answer", func() bool {
		state, _ := s.Probed(cluster, p.addr())
		return state.Answers
	})
	p.asleep.Store(true)
	if n := s.lookUntil("suspicion", func() bool { return s.suspect(p.addr()) }); n > 60 {
		t.Errorf("suspect after %d rounds", n)
	}
	if _, ok := s.live(cluster, p.addr()); !ok {
		t.Fatal("gone as soon as it was suspect")
	}
	s.look() // tells it
	if l := s.logged("broker suspect"); len(l) != 1 || !strings.Contains(l[0], p.addr()) {
		t.Errorf("logged %v", l)
	}
	n := s.lookUntil("its removal", func() bool {
		_, ok := s.live(cluster, p.addr())
		return !ok
	})
	if n > 80 {
		t.Errorf("gone %d rounds later", n)
	}
	if l := s.logged("broker removed: it doesn't answer probes"); len(l) != 1 || !strings.Contains(l[0], p.addr()) {
		t.Errorf("logged %v", l)
	}
	if l := s.logged("timeout"); len(l) != 0 {
		t.Errorf("logged %v", l)
	}
	if got := s.metrics(); got.Lookout.Unanswered < 3 || got.Lookout.Answered == 0 {
		t.Errorf("counted %+v", got.Lookout)
	}
	p.asleep.Store(false)
	b.register(broker("a").set("brokerAddr", p.addr())) // on the same connection
	for range 150 {
		s.look()
	}
	if _, ok := s.live(cluster, p.addr()); !ok {
		t.Error("gone again")
	}
	kinds := []string{}
	for e := range s.LatestEvents() {
		kinds = append(kinds, e.Kind)
		if e.Kind == "unanswered" && !strings.Contains(e.Text, "doesn't answer probes") {
			t.Errorf("event %+v", e)
		}
	}
	if !slices.Contains(kinds, "suspected") || !slices.Contains(kinds, "unanswered") {
		t.Errorf("events %v", kinds)
	}
}

// A container's brokers share a connection: one that dies takes no other with it.
func TestDeadBrokerTakesNoOtherWithIt(t *testing.T) {
	s, dead, live := start(t, looking), listenProbed(t), listenProbed(t)
	c := s.dial()
	c.register(broker("dead").set("brokerAddr", dead.addr()), broker("live").set("brokerAddr", live.addr()))
	for range 15 {
		s.look()
	}
	dead.asleep.Store(true)
	s.lookUntil("its removal", func() bool {
		_, ok := s.live(cluster, dead.addr())
		return !ok
	})
	for range 50 {
		s.look()
	}
	if _, ok := s.live(cluster, live.addr()); !ok {
		t.Error("the other broker of its connection is gone, too")
	}
}

// Who heartbeats stays, whether he was never reached, or is reached no more.
func TestBeatingBrokerStays(t *testing.T) {
	for name, answersFirst := range map[string]bool{"never reached": false, "reached no more": true} {
		t.Run(name, func(t *testing.T) {
			s, p := start(t, looking), listenProbed(t)
			p.asleep.Store(!answersFirst)
			b := s.dial()
			b.register(broker("a").set("brokerAddr", p.addr()))
			for range 15 {
				s.look()
			}
			p.asleep.Store(true)
			for range 600 {
				s.look()
				if s.clock.Now()%int64(5*time.Second) == 0 {
					b.want(broker("a").set("brokerAddr", p.addr()).heartbeat(), "0")
				}
			}
			if _, ok := s.live(cluster, p.addr()); !ok {
				t.Error("gone")
			}
		})
	}
}

// With probeRemoves off a suspect broker is shown, and stays.
func TestSuspectStaysUnlessProbesRemove(t *testing.T) {
	s, p := start(t, looking, func(c *settings.Settings) { c.ProbeRemoves = false }), listenProbed(t)
	s.dial().register(broker("a").set("brokerAddr", p.addr()))
	for range 15 {
		s.look()
	}
	p.asleep.Store(true)
	for range 300 {
		s.look()
	}
	if _, ok := s.live(cluster, p.addr()); !ok || !s.suspect(p.addr()) {
		t.Errorf("live %v, suspect %v", ok, s.suspect(p.addr()))
	}
	p.asleep.Store(false)
	s.lookUntil("trust", func() bool { return !s.suspect(p.addr()) })
	s.look() // tells it
	if l := s.logged("not suspect any more"); len(l) != 1 {
		t.Errorf("logged %v", l)
	}
}

// Every turn is an event, though a line tells of a broker once a minute.
func TestEveryTurnIsAnEvent(t *testing.T) {
	s := start(t)
	turn := life.Turn{Broker: life.Broker{ClusterName: cluster, BrokerName: "a", BrokerAddr: "10.0.0.1:1"}}
	for i := range 6 {
		turn.Suspect = i%2 == 0
		s.turned(&turn)
	}
	s.barrier()
	var kinds []string
	for e := range s.LatestEvents() {
		kinds = append(kinds, e.Kind)
	}
	if want := []string{"trusted", "suspected", "trusted", "suspected", "trusted", "suspected"}; !slices.Equal(kinds, want) {
		t.Errorf("events %v, want %v", kinds, want)
	}
	if l := s.logged("broker "); len(s.logged(textSuspected)) != 1 || len(s.logged(textTrusted)) != 1 {
		t.Errorf("logged %v", l)
	}
}

// Whoever registers an address that he doesn't come from has nobody connect to it: that is counted, shown, told once, and removes nobody.
func TestForeignAddressIsNotProbed(t *testing.T) {
	s, p := start(t, looking, func(c *settings.Settings) { c.ProxyProtocolTrusted = "127.0.0.1" }), listenProbed(t)
	b := s.proxied(inside)
	b.register(broker("a").set("brokerAddr", p.addr()))
	for range 100 {
		s.look()
	}
	state, _ := s.Probed(cluster, p.addr())
	if !state.Forbidden || state.Answers || state.Suspect || !strings.Contains(state.Why, "10.1.2.3") {
		t.Errorf("%+v", state)
	}
	if m := s.metrics().Lookout; m.Forbidden < 5 || m.Answered+m.Refused+m.Unanswered+m.Impossible > 0 {
		t.Errorf("counted %+v", m)
	}
	if l := s.logged("broker isn't probed"); len(l) != 1 || !strings.Contains(l[0], p.addr()) {
		t.Errorf("logged %v", l)
	}
	if _, ok := s.live(cluster, p.addr()); !ok {
		t.Error("gone")
	}
}

// toldWords are what peers would have been told.
type toldWords struct {
	mu    sync.Mutex
	words []life.Word
}

func (t *toldWords) add(words []life.Word) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.words = append(t.words, words...)
}

// of are those about a broker name.
func (t *toldWords) of(brokerName string) []life.Word {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(t.words), func(w life.Word) bool { return w.BrokerName != brokerName })
}

// A peer's word has a broker asked at once, and with the broker's own silence it is enough; the peers are told of the end of a connection.
func TestWordsOfPeers(t *testing.T) {
	p := listenProbed(t)
	home := t.TempDir()
	c := settings.Default(settings.Env{HomeDir: home})
	c.PeerListenAddress, c.ProbeTimeoutMillis = "127.0.0.1:0", 2000
	s := newTestServer(t, home, Options{Settings: c})
	var told toldWords
	s.lookout.tell = told.add
	s.mustStart()

	s.dial().register(broker("a").set("brokerAddr", p.addr()))
	s.lookUntil("an answer", func() bool {
		state, _ := s.Probed(cluster, p.addr())
		return state.Answers
	})
	closed := life.Word{
		Kind: life.Closed, Broker: life.Broker{ClusterName: cluster, BrokerName: "a", BrokerAddr: p.addr()},
		Version: broker("a").dataVersion, Sign: s.clock.Now(),
	}
	s.lookout.heard("ns2", []life.Word{closed})
	for range 200 {
		s.look()
	}
	if _, ok := s.live(cluster, p.addr()); !ok {
		t.Fatal("a broker that answers is gone by a peer's word")
	}
	if words := told.of("a"); len(words) == 0 || words[0].Kind != life.Alive {
		t.Errorf("told %+v", words)
	}
	p.listener.Close()
	s.lookout.mu.Lock()
	for _, link := range s.lookout.links {
		link.Close()
	}
	s.lookout.mu.Unlock()
	closed.Sign = s.clock.Now()
	s.lookout.heard("ns2", []life.Word{closed})
	s.lookUntil("its removal", func() bool {
		_, ok := s.live(cluster, p.addr())
		return !ok
	})
	if l := s.logged("another nameserver saw its end"); len(l) != 1 || !strings.Contains(l[0], "saidBy=ns2") {
		t.Errorf("logged %v", l)
	}

	b := s.dial()
	b.register(broker("b"))
	s.end(b)
	s.look()
	if words := told.of("b"); len(words) != 1 || words[0].Kind != life.Closed {
		t.Errorf("told %+v", words)
	}
}

// That a broker which has gone may not be asked any more is told to nobody: while it was here, it was told.
func TestLostBrokerThatMayNotBeProbed(t *testing.T) {
	p := listenProbed(t)
	home := t.TempDir()
	c := settings.Default(settings.Env{HomeDir: home})
	c.PeerListenAddress, c.ProxyProtocolTrusted = "127.0.0.1:0", "127.0.0.1"
	s := newTestServer(t, home, Options{Settings: c})
	s.lookout.tell = func([]life.Word) {}
	s.mustStart()

	b := s.proxied(inside)
	b.register(broker("a").set("brokerAddr", p.addr()))
	s.end(b)
	s.lookUntil("it is looked for", func() bool { return s.metrics().Lookout.Forbidden > 1 }) // and the marker of the connection's end
	if l := s.logged("broker isn't probed"); len(l) != 0 {
		t.Errorf("logged %v", l)
	}
}

// Ends that nobody could be told of, because too many came at once, are counted.
func TestTooManyEndsAreCounted(t *testing.T) {
	home := t.TempDir()
	c := settings.Default(settings.Env{HomeDir: home})
	c.PeerListenAddress = "127.0.0.1:0"
	s := newTestServer(t, home, Options{Settings: c}) // not started: nobody takes them
	for range mostEnds + 3 {
		s.lookout.ended(&core.Event{Kind: core.EventExpired, Sign: 1})
	}
	if got := s.lookoutMetrics().Untold; got != 3 {
		t.Errorf("%d counted, want 3", got)
	}
}

// Links of brokers that are gone are closed, and all at the stop.
func TestLinksEnd(t *testing.T) {
	s, p := start(t, looking), listenProbed(t)
	b := s.dial()
	b.register(broker("a").set("brokerAddr", p.addr()))
	links := func() (n int) {
		s.lookout.mu.Lock()
		defer s.lookout.mu.Unlock()
		return len(s.lookout.links)
	}
	s.lookUntil("a link", func() bool { return links() == 1 })
	var link *remoting.Client
	for _, link = range s.lookout.links {
	}
	s.end(b)
	s.lookUntil("its end", func() bool { return links() == 0 })
	if err := link.Call(t.Context(), codec.Header{}, nil, nil); err == nil {
		t.Error("the link still works")
	}
}
