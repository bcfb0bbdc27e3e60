package namesrv

import (
	"slices"
	"strings"
	"testing"

	"github.com/waymark-mq/waymark/codec"
	"github.com/waymark-mq/waymark/namesrv/settings"
	"github.com/waymark-mq/waymark/netpoll"
)

// parked is a server that isn't started, with one decoder, which holds its first
// request until release and then only notes whose requests it gets.
type parked struct {
	*testServer
	order []*session // after work
}

func park(t *testing.T) *parked {
	t.Helper()
	p := &parked{testServer: newTestServer(t, t.TempDir(), Options{Settings: settings.Default(settings.Env{HomeDir: t.TempDir()})})}
	return p
}

// work starts the decoder, has it stopped while feed brings requests, and waits until all are worked off.
func (p *parked) work(feed func()) {
	p.t.Helper()
	busy, released := make(chan struct{}), make(chan struct{})
	first := &session{}
	p.decoders.start(1, func() func(*session, write) {
		return func(s *session, _ write) {
			if s == first {
				close(busy)
				<-released
				return
			}
			p.order = append(p.order, s)
		}
	})
	first.lane.add(write{})
	p.decoders.hand(first)
	p.await(busy, "the decoder")
	feed()
	close(released)
	p.decoders.stop()
}

func (p *parked) feed(pipe *netpoll.Pipe, r request) *session {
	p.t.Helper()
	if answers, err := pipe.Feed(r.frame(1)); err != nil || len(answers) > 0 {
		p.t.Fatalf("answers %q, end %v", answers, err)
	}
	return pipe.Conn().Context.(*session)
}

// A deflated body of that size may inflate to many megabytes.
func slowRegistration(name string) request {
	return broker(name).set("compressed", "true").raw("\x78\x9c" + strings.Repeat("d", 80<<10)).request()
}

// Quick requests go before slow ones of other connections that came earlier, but every
// slowTurn of them a slow one has its turn.
func TestQuickRequestsOvertakeSlowOnes(t *testing.T) {
	p := park(t)
	var slow, quick []*session
	p.work(func() {
		for range 3 {
			slow = append(slow, p.feed(p.pipe(), slowRegistration("slow")))
		}
		for range 2*slowTurn + 5 {
			quick = append(quick, p.feed(p.pipe(), broker("quick").request()))
		}
	})
	want := slices.Concat(quick[:slowTurn], slow[:1], quick[slowTurn:2*slowTurn], slow[1:2], quick[2*slowTurn:], slow[2:])
	if !slices.Equal(p.order, want) {
		t.Errorf("order %v", p.names(slow, quick))
	}
}

// names writes the order as s0 q0 q1 …
func (p *parked) names(slow, quick []*session) (names []string) {
	for _, s := range p.order {
		kind, of := "s", slow
		if slices.Contains(quick, s) {
			kind, of = "q", quick
		}
		names = append(names, kind+string(rune('0'+slices.Index(of, s))))
	}
	return names
}

// With several slow requests of one connection waiting, that of another comes between them.
func TestQuickRequestWaitsForOneSlowOne(t *testing.T) {
	p := park(t)
	var slow, quick *session
	p.work(func() {
		pipe := p.pipe()
		for range 4 {
			slow = p.feed(pipe, slowRegistration("slow"))
		}
		quick = p.feed(p.pipe(), broker("quick").request())
	})
	if want := []*session{quick, slow, slow, slow, slow}; !slices.Equal(p.order, want) {
		t.Errorf("the quick one came at %d", slices.Index(p.order, quick))
	}
}

func TestWhatIsSlowToDecode(t *testing.T) {
	for _, tt := range []struct {
		name string
		body string
		slow bool
	}{
		{"none", "", false},
		{"plain and small", strings.Repeat("{", slowBytes), false},
		{"plain and large", strings.Repeat("{", slowBytes+1), true},
		{"deflated and small", "\x78" + strings.Repeat("d", slowBytes/64-1), false},
		{"deflated", "\x78" + strings.Repeat("d", slowBytes/64), true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := park(t)
			p.work(func() {
				if got := p.feed(p.pipe(), broker("a").raw(tt.body).request()).lane.slow(); got != tt.slow {
					t.Errorf("slow %v, want %v", got, tt.slow)
				}
			})
		})
	}
}

// A waiting unregistration holds its names, whatever body came with it.
func TestUnregistrationHoldsItsNamesOnly(t *testing.T) {
	p := park(t)
	const n = 5
	p.work(func() {
		pipe := p.pipe()
		var sess *session
		for range n {
			sess = p.feed(pipe, broker("a").unregister().with(strings.Repeat("b", 1<<20)))
		}
		names := len("a") + len("a:10911") + len(cluster)
		if got, want := p.writeBytes.Load(), int64(n*(requestOverhead+names)); got != want {
			t.Errorf("%d bytes count as queued, want %d", got, want)
		}
		for i := range sess.lane.items {
			if w := &sess.lane.items[i]; w.frame != nil || w.decoded.command == nil {
				t.Errorf("request %d waits as its frame: %v", i, w.frame)
			}
		}
	})
	if len(p.order) != n {
		t.Errorf("%d unregistrations worked off, want %d", len(p.order), n)
	}
}

// The budget that refuses registrations refuses no unregistration.
func TestUnregistrationIsNeverRefused(t *testing.T) {
	s := start(t)
	c := s.dial()
	c.register(broker("a"))
	s.writeBytes.Add(2 * mostWrites)
	defer s.writeBytes.Add(-2 * mostWrites)
	c.wantCode(broker("b").request(), codec.ResponseSystemBusy)
	c.want(broker("a").unregister(), "0")
	s.dial().wantRoute("Base", "none")
}
