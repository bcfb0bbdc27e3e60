package namesrv

import (
	"bytes"
	"testing"
	"time"

	"github.com/waymark-mq/waymark/codec"
)

// A 5.x broker sends its whole table every 30 s with a new time in it, and so
// with a new checksum. It is recognised without being decoded.
func TestSameRegistrationIsRecognised(t *testing.T) {
	s := start(t)
	c := s.dial()
	r := broker("a")
	c.register(r)
	for i := range int64(5) {
		r = r.again()
		c.want(r.request(), "0 {}")
		if got := s.unchanged.Load(); got != i+1 {
			t.Fatalf("%d registrations recognised, want %d", got, i+1)
		}
	}
	c.wantRoute("Base", "a{0=a:10911} 4/4/6/0")
	c.want(r.query(), `0 {changed=false} {"counter":1,"stateVersion":0,"timestamp":1700000000000}`)
}

func TestRecognisedWithoutWhatSaysNothing(t *testing.T) {
	for _, tt := range []struct {
		name   string
		fields []string
	}{
		{"no checksum", []string{"bodyCrc32", "0"}},
		{"signed", []string{"AccessKey", "key", "Signature", "kCtA20XVewTfdQrdXlF2SYYho44="}},
		{"unknown field", []string{"nsd", "x"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := start(t)
			c := s.dial()
			c.register(broker("a"), broker("a").again().set(tt.fields...))
			if got := s.unchanged.Load(); got != 1 {
				t.Errorf("%d registrations recognised, want 1", got)
			}
		})
	}
}

func TestRecognisedRegistrationIsSignOfLife(t *testing.T) {
	s := start(t)
	c := s.dial()
	r := broker("a")
	c.register(r)
	s.advance(100 * time.Second)
	c.register(r.again())
	s.advance(100 * time.Second)
	c.wantRoute("Base", "a{0=a:10911} 4/4/6/0")
	if got := s.unchanged.Load(); got != 1 {
		t.Errorf("%d registrations recognised, want 1", got)
	}
	s.advance(25 * time.Second)
	s.dial().wantRoute("Base", "none")
}

func TestRecognisedRegistrationTakesOwnership(t *testing.T) {
	s := start(t)
	first, second := s.dial(), s.dial()
	r := broker("a")
	first.register(r)
	second.register(r.again())
	if got := s.unchanged.Load(); got != 1 {
		t.Errorf("%d registrations recognised, want 1", got)
	}
	s.end(first)
	second.wantRoute("Base", "a{0=a:10911} 4/4/6/0")
	s.end(second)
	s.dial().wantRoute("Base", "none")
}

// One-way registrations are recognised like others, and not answered.
func TestRecognisedOneway(t *testing.T) {
	s := start(t)
	c := s.dial()
	c.register(broker("a"))
	oneway := broker("a").again().request().oneway()
	c.send(oneway)
	c.register(broker("a").again().again())
	if got := s.unchanged.Load(); got != 2 {
		t.Errorf("%d registrations recognised, want 2", got)
	}
	if len(c.early) > 0 {
		t.Errorf("a one-way registration was answered: %v", c.early)
	}
}

// A header that changed with an equal body must take effect.
func TestHeaderChangedBodyEqual(t *testing.T) {
	for _, tt := range []struct {
		name          string
		first, second registration
		check         func(t *testing.T, s *testServer, c *client)
	}{
		{"zone", broker("a").set("__ZONE_NAME", "z1"), broker("a").set("__ZONE_NAME", "z2"), routeIs("a{0=a:10911} zone=z2 4/4/6/0")},
		{"zone left out", broker("a").set("__ZONE_NAME", "z1"), broker("a"), routeIs("a{0=a:10911} 4/4/6/0")},
		{"zone added", broker("a"), broker("a").set("__ZONE_NAME", "z1"), routeIs("a{0=a:10911} zone=z1 4/4/6/0")},
		{"acting on", broker("a"), broker("a").set("enableActingMaster", "true"), routeIs("a{0=a:10911} acting 4/4/6/0")},
		{"acting off", broker("a").set("enableActingMaster", "true"), broker("a"), routeIs("a{0=a:10911} 4/4/6/0")},
		{"acting left out", broker("a").set("enableActingMaster", "true"), broker("a").without("enableActingMaster"),
			routeIs("a{0=a:10911} 4/4/6/0")},
		{"id", broker("a"), broker("a").set("brokerId", "3"), routeIs("a{3=a:10911} 4/4/6/0")},
		{"id down", broker("a").set("brokerId", "3"), broker("a"), routeIs("a{0=a:10911} 4/4/6/0")},
		{"name", broker("a"), broker("a").set("brokerName", "b"), routeIs("b{0=a:10911} 4/4/6/0")},
		{"address", broker("a"), broker("a").set("brokerAddr", "a:20911"), routeIs("a{0=a:20911} 4/4/6/0")},
		{"HA address", broker("a"), broker("a").set("haServerAddr", "a:20912"), slaveIsTold("0 {haServerAddr=a:20912 masterAddr=a:10911}")},
		{"HA address left out", broker("a"), broker("a").without("haServerAddr"), slaveIsTold("0 {masterAddr=a:10911}")},
		{"timeout longer", broker("a").set("heartbeatTimeoutMillis", "10000"), broker("a").set("heartbeatTimeoutMillis", "60000"),
			livesFor(60 * time.Second)},
		{"timeout shorter", broker("a").set("heartbeatTimeoutMillis", "60000"), broker("a").set("heartbeatTimeoutMillis", "10000"),
			livesFor(10 * time.Second)},
		{"timeout left out", broker("a").set("heartbeatTimeoutMillis", "10000"), broker("a"), livesFor(120 * time.Second)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := start(t)
			c := s.dial()
			c.register(tt.first, tt.second.again())
			if got := s.unchanged.Load(); got != 0 {
				t.Errorf("%d registrations recognised, want 0", got)
			}
			tt.check(t, s, c)
		})
	}
}

func routeIs(want string) func(*testing.T, *testServer, *client) {
	return func(_ *testing.T, _ *testServer, c *client) { c.wantRoute("Base", want) }
}

func slaveIsTold(want string) func(*testing.T, *testServer, *client) {
	return func(_ *testing.T, _ *testServer, c *client) { c.want(broker("a").slave(1).request(), want) }
}

// livesFor checks that a broker that is silent from now on stays for exactly the timeout.
func livesFor(timeout time.Duration) func(*testing.T, *testServer, *client) {
	return func(_ *testing.T, s *testServer, c *client) {
		s.advance(timeout)
		c.wantRoute("Base", "a{0=a:10911} 4/4/6/0")
		s.advance(5 * time.Second)
		s.dial().wantRoute("Base", "none")
	}
}

// The version and the compressed flag decide how the same bytes are read.
func TestFormChangedBodyEqual(t *testing.T) {
	deflated := broker("a").set("compressed", "true").raw(deflated4(t))
	for _, tt := range []struct {
		name          string
		first, second registration
		want          string // the second's answer
	}{
		{"deflated, mappings expected", from(deflated, 407), from(deflated, 513), "1"},
		{"deflated, other 4.x release", from(deflated, 405), from(deflated, 407), "0"},
		{"JSON, marked deflated", broker("a"), broker("a").set("compressed", "true"), "1"},
		{"JSON, old form expected", broker("a"), from(broker("a"), 36), "0"},
		{"JSON, negative version", broker("a"), from(broker("a"), -1), "1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := start(t)
			c := s.dial()
			c.register(tt.first)
			if got := c.call(tt.second.request()).String(); got[:1] != tt.want {
				t.Errorf("got %s, want code %s", got, tt.want)
			}
			if got := s.unchanged.Load(); got != 0 {
				t.Errorf("%d registrations recognised, want 0", got)
			}
		})
	}
}

func from(r registration, version int32) registration { r.version = version; return r }

// Nothing but digits may differ where the time stood.
func TestBodyChangedInItsTime(t *testing.T) {
	s := start(t)
	c := s.dial()
	r := broker("a")
	c.register(r)
	body := []byte(r.encode())
	at := bytes.LastIndex(body, []byte("1700000000000"))
	body[at+3] = '-'
	if a := c.call(r.raw(string(body)).request()); a.code != codec.ResponseSystemError {
		t.Errorf("body with a broken number: %s, want code 1", a)
	}
	if got := s.unchanged.Load(); got != 0 {
		t.Errorf("%d registrations recognised, want 0", got)
	}
}

// A body of the same length whose table differs is not the same, whatever its version says.
func TestTableChangedVersionEqual(t *testing.T) {
	s := start(t)
	c := s.dial()
	c.register(broker("a"), broker("a").having(named("Base", "New")...))
	if got := s.unchanged.Load(); got != 0 {
		t.Errorf("%d registrations recognised, want 0", got)
	}
	c.wantRoute("New", "a{0=a:10911} 4/4/6/0")
	c.wantRoute("Pad", "a{0=a:10911} 4/4/6/0") // stays: nothing says it was deleted
}
