package namesrv

import (
	"strings"
	"testing"
	"time"
)

// A heartbeat that was taken just before the tick keeps the broker for another whole timeout.
func TestExpiryAgainstHeartbeatJustTaken(t *testing.T) {
	for _, tt := range []struct {
		name string
		sign request
	}{
		{"904", broker("a").heartbeat()},
		{"322", broker("a").query()},
		{"322 that says changed", broker("a").counter(7).query()},
		{"103 unchanged", broker("a").again().request()},
		{"103 with a new version", broker("a").counter(2).request()},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := start(t)
			c := s.dial()
			c.register(broker("a").set("heartbeatTimeoutMillis", "10000"))
			s.advance(14_900 * time.Millisecond) // overdue, and the next tick removes it
			sign := tt.sign
			if sign.body != "" && strings.HasPrefix(tt.name, "103") {
				sign.fields = append(sign.fields, ask(0, "heartbeatTimeoutMillis", "10000").fields...)
			}
			if a := c.call(sign); a.code != 0 {
				t.Fatalf("sign of life: %s", a)
			}
			s.advance(10 * time.Second) // ticks at 15 and 20 s
			c.wantRoute("Base", "a{0=a:10911} 4/4/6/0")
			s.advance(200 * time.Millisecond) // tick at 25 s: silent for 10.1 s
			s.dial().wantRoute("Base", "none")
		})
	}
}

// One-way signs of life count too. A two-way request behind them shows that they were taken.
func TestOnewayHeartbeats(t *testing.T) {
	for _, tt := range []struct {
		name string
		sign request
	}{
		{"904", broker("a").heartbeat().oneway()},
		{"322", broker("a").query().oneway()},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := start(t)
			c := s.dial()
			c.register(broker("a").set("heartbeatTimeoutMillis", "10000"))
			for range 4 {
				s.advance(9 * time.Second)
				c.send(tt.sign)
				c.wantRoute("Base", "a{0=a:10911} 4/4/6/0")
			}
			if len(c.early) > 0 {
				t.Errorf("a one-way request was answered: %v", c.early)
			}
			s.advance(15 * time.Second)
			s.dial().wantRoute("Base", "none")
		})
	}
}

// What is refused for its checksum is no sign of life: its address may be as wrong as the rest.
func TestBadChecksumIsNoSignOfLife(t *testing.T) {
	s := start(t)
	c := s.dial()
	r := broker("a").set("heartbeatTimeoutMillis", "10000")
	c.register(r)
	s.advance(9 * time.Second)
	c.want(r.again().set("bodyCrc32", "7").request(), `1 "crc32 not match" {}`)
	c.want(r.counter(2).set("bodyCrc32", "7").request(), `1 "crc32 not match" {}`)
	s.advance(6 * time.Second)
	s.dial().wantRoute("Base", "none")
}

// A registration that waits for the writer has counted on arrival: the tick that
// comes behind a stalled step finds the broker alive.
func TestQueuedRegistrationCounts(t *testing.T) {
	s := start(t)
	c, other := s.dial(), s.dial()
	c.register(broker("a").set("heartbeatTimeoutMillis", "10000"))
	s.advance(10 * time.Second)
	release := s.parkWriter()
	s.clock.now.Add(int64(4 * time.Second))
	opaque := c.send(broker("a").counter(2).set("heartbeatTimeoutMillis", "10000").request())
	live, _ := s.live(cluster, "a:10911")
	eventually(t, "the registration's touch", func() bool { last, _ := live.Cell.Last(); return last == s.clock.Now() })
	release()
	s.advance(10 * time.Second)
	if a := c.wait(opaque); a.code != 0 {
		t.Errorf("registration: %s", a)
	}
	other.wantRoute("Base", "a{0=a:10911} 4/4/6/0")
}

func TestTimeouts(t *testing.T) {
	for _, tt := range []struct {
		name    string
		timeout string // "" absent
		stays   time.Duration
		clamped bool
	}{
		{"1,000", "1000", 0, false},
		{"10,000", "10000", 10 * time.Second, false},
		{"10,001", "10001", 10 * time.Second, false},
		{"absent", "", 120 * time.Second, false},
		{"no number", "10s", 120 * time.Second, false},
		{"0", "0", 0, true},
		{"-1", "-1", 0, true},
		{"2^62", "4611686018427387904", 5 * time.Minute, true},
		{"2^63", "9223372036854775808", 120 * time.Second, false}, // no int64: like absent
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := start(t)
			c := s.dial()
			r := broker("a")
			if tt.timeout != "" {
				r = r.set("heartbeatTimeoutMillis", tt.timeout)
			}
			c.register(r)
			s.advance(tt.stays)
			c.wantRoute("Base", "a{0=a:10911} 4/4/6/0")
			if got := len(s.logged("clamped")); got != map[bool]int{true: 1}[tt.clamped] {
				t.Errorf("%d lines about a clamped timeout", got)
			}
			if tt.stays > 120*time.Second {
				return // a year of ticks is too many
			}
			s.advance(5 * time.Second)
			s.dial().wantRoute("Base", "none")
			c.wantClosed()
		})
	}
}

// One line in the log for a clamped timeout, not one for each registration.
func TestClampedTimeoutIsLoggedOnce(t *testing.T) {
	s := start(t)
	c := s.dial()
	r := broker("a").set("heartbeatTimeoutMillis", "0")
	c.register(r, r.again(), r.counter(2), r.counter(3))
	if got := len(s.logged("clamped")); got != 1 {
		t.Errorf("%d lines, want 1", got)
	}
}

// The process stood still: nobody is expired for it, and one line says so.
func TestFrozenProcessExpiresNobody(t *testing.T) {
	s := start(t)
	c := s.dial()
	c.register(broker("a").set("heartbeatTimeoutMillis", "10000"))
	s.advance(6 * time.Second)
	s.freeze(20 * time.Minute)
	c.wantRoute("Base", "a{0=a:10911} 4/4/6/0")
	if got := len(s.logged("stood still")); got != 1 {
		t.Errorf("%d lines say that the process stood still, want 1", got)
	}
	s.advance(10 * time.Second) // it was silent for 6 s before, and is now for more than its 10
	s.dial().wantRoute("Base", "none")
}

// An expired broker's connection is closed, and what else it carried goes with it.
func TestExpiryClosesConnection(t *testing.T) {
	s := start(t)
	c, other := s.dial(), s.dial()
	c.register(broker("a").set("heartbeatTimeoutMillis", "10000"), broker("b").having(named("OfB", "Pad")...))
	s.advance(15 * time.Second)
	c.wantClosed()
	other.wantRoute("Base", "none")
	eventually(t, "b goes with the connection", func() bool { return s.table.Load().Brokers() == 0 })
	if got := len(s.logged("broker removed: silent")); got != 1 {
		t.Errorf("%d lines about an expired broker, want 1", got)
	}
	if got := len(s.logged("broker removed: its connection ended")); got != 1 {
		t.Errorf("%d lines about a broker whose connection ended, want 1: b", got)
	}
}

func TestHeartbeatMovesOwnership(t *testing.T) {
	a := broker("a").set("heartbeatTimeoutMillis", "60000")
	for _, tt := range []struct {
		name string
		sign request
	}{
		{"904", a.heartbeat()},
		{"904 one-way", a.heartbeat().oneway()},
		{"322", a.query()},
		{"322 one-way", a.query().oneway()},
		{"103", a.again().request()},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := start(t)
			first, second := s.dial(), s.dial()
			first.register(a)
			second.send(tt.sign)
			second.wantRoute("Base", "a{0=a:10911} 4/4/6/0") // the sign is taken
			s.end(first)
			second.wantRoute("Base", "a{0=a:10911} 4/4/6/0")
			// And back again.
			third := s.dial()
			third.send(tt.sign)
			third.send(tt.sign)
			third.wantRoute("Base", "a{0=a:10911} 4/4/6/0")
			second.send(tt.sign)
			second.wantRoute("Base", "a{0=a:10911} 4/4/6/0")
			s.end(third)
			second.wantRoute("Base", "a{0=a:10911} 4/4/6/0")
			s.end(second)
			s.dial().wantRoute("Base", "none")
		})
	}
}

// A two-way 322 that had to wait for its connection's registrations moves the ownership as well.
func TestQueuedQueryMovesOwnership(t *testing.T) {
	s := start(t)
	first, second := s.dial(), s.dial()
	first.register(broker("a"))
	second.wait(second.send(broker("b").having(append(many(2000, 4), named("Base", "Pad")...)...).request(), broker("a").query()))
	s.end(first)
	second.wantRoute("Pad", "a{0=a:10911} 4/4/6/0; b{0=b:10911} 4/4/6/0")
}

// All brokers of a container's connection go at its end; those that beat elsewhere stay.
func TestSeveralBrokersOnOneConnection(t *testing.T) {
	s := start(t)
	container, other := s.dial(), s.dial()
	container.register(broker("a"), broker("b"), broker("c"), broker("a").slave(1))
	other.want(broker("b").heartbeat(), "0")
	s.end(container)
	other.wantRoute("Base", "b{0=b:10911} 4/4/6/0")
	if got := len(s.logged("broker removed: its connection ended")); got != 4 { // and the marker
		t.Errorf("%d lines about brokers whose connection ended, want 4: a, its slave, c and the marker", got)
	}
	s.end(other)
	s.dial().wantRoute("Base", "none")
}

// A broker that only beats after the nameserver's restart learns that it is unknown from 322 alone.
func TestStranger(t *testing.T) {
	s := start(t)
	c := s.dial()
	a := broker("a")
	c.want(a.heartbeat(), "0")
	c.want(ask(106), `0 {"brokerAddrTable":{},"clusterAddrTable":{}}`)
	c.want(a.counter(7).query(), "0 {changed=true}")
	c.register(a.counter(7))
	const stored = `{"counter":7,"stateVersion":0,"timestamp":1700000000000}`
	c.want(a.counter(7).query(), "0 {changed=false} "+stored)
	c.want(a.counter(8).query(), "0 {changed=true} "+stored)
	c.want(a.set("clusterName", "Other").counter(7).query(), "0 {changed=true}") // the key is cluster and address
}
