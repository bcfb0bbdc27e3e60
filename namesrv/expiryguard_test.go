package namesrv

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/waymark-mq/waymark/namesrv/settings"
)

// With expiryGuardPercent, brokers that fall silent at once stay, their connections
// too; each that ends its connection or sends a 104 goes, and all that is left when the time is over.
func TestExpiryGuard(t *testing.T) {
	s := start(t, func(c *settings.Settings) {
		c.ExpiryGuardPercent, c.ExpiryGuardMaxMillis = 50, 300_000
	})
	brokers := make([]*client, 5)
	for i := range brokers {
		brokers[i] = s.dial()
		brokers[i].register(broker(fmt.Sprint("b", i)).set("heartbeatTimeoutMillis", "120000"))
	}
	route := func(names ...string) (all string) {
		for i, name := range names {
			all += strings.Repeat("; ", min(i, 1)) + fmt.Sprintf("%s{0=%[1]s:10911} 4/4/6/0", name)
		}
		return all
	}
	s.advance(125 * time.Second)
	c := s.dial()
	c.wantRoute("Base", route("b0", "b1", "b2", "b3", "b4"))
	if l := s.logged("expiry held"); len(l) != 1 || !strings.Contains(l[0], "brokers=5 of=5") {
		t.Errorf("logged %v", l)
	}
	if live, ok := s.live(cluster, "b0:10911"); !ok {
		t.Error("b0 is gone")
	} else if until, ok := live.Cell.Suspect(); !ok || until != s.clock.Now()+int64(300*time.Second) {
		t.Errorf("b0 suspect %v until %d", ok, until)
	}

	s.end(brokers[0])
	c.want(broker("b1").unregister(), "0")
	brokers[2].want(broker("b2").heartbeat(), "0")
	c.wantRoute("Base", route("b2", "b3", "b4"))
	if live, ok := s.live(cluster, "b2:10911"); !ok {
		t.Error("b2 is gone")
	} else if _, suspect := live.Cell.Suspect(); suspect {
		t.Error("b2 is suspect, though it beats")
	}
	for range 3 {
		s.advance(90 * time.Second)
		brokers[2].want(broker("b2").heartbeat(), "0")
	}
	s.advance(40 * time.Second)
	s.dial().wantRoute("Base", route("b2"))
	brokers[3].wantClosed()
	brokers[4].wantClosed()
	if l := s.logged("expiry guard ended"); len(l) != 1 || !strings.Contains(l[0], "held=5 expired=2") {
		t.Errorf("logged %v", l)
	}
}

// Off, a share of any size goes; on, a share that isn't greater does.
func TestExpiryGuardLeavesTheRest(t *testing.T) {
	for _, tt := range []struct {
		percent int64
		silent  int // of 4
		stay    bool
	}{{0, 4, false}, {50, 2, false}, {50, 3, true}, {100, 4, false}, {1, 1, true}} {
		t.Run(fmt.Sprintf("%d%% of 4, %d silent", tt.percent, tt.silent), func(t *testing.T) {
			s := start(t, func(c *settings.Settings) { c.ExpiryGuardPercent = tt.percent })
			var all []registration
			c := s.dial()
			for i := range 4 {
				all = append(all, broker(fmt.Sprint("b", i)).set("heartbeatTimeoutMillis", "10000"))
				s.dial().register(all[i])
			}
			s.advance(6 * time.Second)
			for _, r := range all[tt.silent:] {
				c.want(r.heartbeat(), "0")
			}
			s.advance(9 * time.Second)
			want := 4 - tt.silent
			if tt.stay {
				want = 4
			}
			if n := s.table.Load().Brokers(); n != want {
				t.Errorf("%d brokers, want %d", n, want)
			}
		})
	}
}

// With the guard on, a connection isn't idle while it is a broker's; without, or of a client, it is.
func TestBrokersConnectionIsNotIdle(t *testing.T) {
	for _, percent := range []int64{0, 50} {
		s := start(t, func(c *settings.Settings) { c.ExpiryGuardPercent = percent })
		s.end(s.dial()) // its number is that of the pipes below
		s.dial().register(broker("a"), broker("b"))
		for _, tt := range []struct {
			peer     string
			request  request
			isBroker bool
		}{
			{"client", routeOf("Base"), false},
			{"stranger that beats", broker("nobody").heartbeat(), false},
			{"registrant", broker("c").request(), true},
			{"broker that came from another connection", broker("b").heartbeat(), true},
		} {
			p := s.pipe()
			if _, err := p.Feed(tt.request.frame(1)); err != nil {
				t.Fatal(err)
			}
			if got, want := s.mayIdle(p.Conn()), percent == 0 || !tt.isBroker; got != want {
				t.Errorf("%d%%, %s: may end for idleness %v, want %v", percent, tt.peer, got, want)
			}
		}
	}
}
