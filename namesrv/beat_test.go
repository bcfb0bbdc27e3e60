package namesrv

import (
	"testing"
	"time"
)

// Heartbeats are recognised as the same again; they go on to count for the broker that has the address
// now, though it was removed and came back under them.
func TestBeatsAcrossARemoval(t *testing.T) {
	s := start(t)
	b := broker("a").set("heartbeatTimeoutMillis", "10000")
	beating, other := s.dial(), s.dial()
	beats := func() {
		t.Helper()
		for range 3 {
			if a := beating.call(broker("a").heartbeat()); a.code != 0 {
				t.Fatalf("heartbeat: %s", a)
			}
		}
	}
	other.register(b)
	beats()
	other.call(b.unregister())
	beats() // of nobody
	other.wantRoute("Base", "none")
	other.register(b)
	for range 4 {
		beats()
		s.advance(9 * time.Second)
	}
	other.wantRoute("Base", "a{0=a:10911} 4/4/6/0")
	other.close()
	beats()
	beating.wantRoute("Base", "a{0=a:10911} 4/4/6/0")
	s.advance(20 * time.Second)
	s.dial().wantRoute("Base", "none")
}

// Several brokers on one connection beat in turn: none is taken for another.
func TestBeatsOfSeveralBrokers(t *testing.T) {
	s := start(t)
	c := s.dial()
	names := []string{"a", "b", "c"}
	for _, n := range names {
		c.register(broker(n).set("heartbeatTimeoutMillis", "10000").having(named("T"+n, "U"+n)...))
	}
	for i := range 8 {
		s.advance(4 * time.Second)
		for _, n := range names[:2+i%2] { // c beats every other time
			if a := c.call(broker(n).heartbeat()); a.code != 0 {
				t.Fatalf("heartbeat: %s", a)
			}
		}
	}
	for _, n := range names {
		c.wantRoute("T"+n, n+"{0="+n+":10911} 4/4/6/0")
	}
}
