package namesrv

import (
	"fmt"
	"runtime"
	"sync"
	"testing"

	"github.com/waymark-mq/waymark/codec"
)

// startParallel starts a server with several decoders, whatever the machine has.
func startParallel(t *testing.T) *testServer {
	t.Helper()
	was := runtime.GOMAXPROCS(8)
	t.Cleanup(func() { runtime.GOMAXPROCS(was) })
	return start(t)
}

// A registration takes long to decode, the end of its connection nothing: the end must still come last.
func TestEndNeverOvertakesRegistration(t *testing.T) {
	s := startParallel(t)
	const rounds = 40
	for i := range rounds {
		r := broker("a").having(append(many(i%3*2000, 4), named("Base", "Pad")...)...).counter(int64(i))
		p := s.pipe()
		session := p.Conn().Context.(*session)
		if _, err := p.Feed(r.request().frame(1)); err != nil {
			t.Fatal(err)
		}
		p.Close()
		eventually(t, "everything of the connection is applied", func() bool { return session.pending.Load() == 0 })
		if n := s.table.Load().Brokers(); n != 0 {
			t.Fatalf("round %d: %d brokers left", i, n)
		}
	}
	if got := len(s.logged("broker registered")); got != rounds {
		t.Errorf("%d registrations applied, want %d", got, rounds)
	}
}

// The same over sockets, from several brokers at once.
func TestEndNeverOvertakesRegistrationOverTCP(t *testing.T) {
	s := startParallel(t)
	var wg sync.WaitGroup
	for b := range 6 {
		r := broker(fmt.Sprintf("b%d", b)).having(append(many(b*400, 4), named("Base", "Pad")...)...).request()
		for range 15 {
			c := s.dial()
			wg.Add(1)
			go func() {
				defer wg.Done()
				_, _ = c.conn.Write(r.frame(1))
				c.close()
			}()
		}
	}
	wg.Wait()
	eventually(t, "connections end", func() bool { return s.net.ConnCount() == 0 })
	eventually(t, "no broker is left", func() bool { return s.writeBytes.Load() == 0 && s.table.Load().Brokers() == 0 })
	if len(s.logged("broker registered")) == 0 {
		t.Error("no registration was applied: the test shows nothing")
	}
}

// The end of a connection that a broker has left removes nothing.
func TestEndOfFormerConnection(t *testing.T) {
	s := startParallel(t)
	for round := range 20 {
		a, b := s.dial(), s.dial()
		a.register(broker("a").counter(int64(2 * round)))
		b.register(broker("a").counter(int64(2*round + 1)))
		s.end(a)
		b.wantRoute("Base", "a{0=a:10911} 4/4/6/0")
		s.end(b)
	}
	s.dial().wantRoute("Base", "none")
}

// A new broker's two-way 322 right behind its 103 must see the registration.
func TestQueryRightBehindRegistration(t *testing.T) {
	s := startParallel(t)
	for i := range 50 {
		c := s.dial()
		r := broker(fmt.Sprintf("b%d", i)).counter(int64(i)).having(append(many(i%2*1000, 4), named("Base", "Pad")...)...)
		opaque := c.send(r.request(), r.query())
		want := fmt.Sprintf(`0 {changed=false} {"counter":%d,"stateVersion":0,"timestamp":1700000000000}`, i)
		if got := c.wait(opaque).String(); got != want {
			t.Fatalf("round %d\n got %s\nwant %s", i, got, want)
		}
		if got := c.wait(opaque - 1).String(); got != "0 {}" {
			t.Fatalf("round %d: registration answered %s", i, got)
		}
	}
}

// Registrations of one connection take effect in the order sent, big or small.
func TestPipelinedRegistrationsInOrder(t *testing.T) {
	s := startParallel(t)
	for round := range 3 {
		c := s.dial()
		var requests []request
		const n = 20
		for i := range n {
			topics := named("Base", "Pad")
			if i%2 == 0 {
				topics = append(topics, many(1000, 4)...)
			}
			topics[0].queues = i + 1
			requests = append(requests, broker("a").counter(int64(100*round+i)).having(topics...).request())
		}
		last := c.send(requests...)
		for i := range n {
			if a := c.wait(last - int32(i)); a.code != 0 {
				t.Fatalf("registration: %s", a)
			}
		}
		c.wantRoute("Base", fmt.Sprintf("a{0=a:10911} %d/%d/6/0", n, n))
		c.want(broker("a").counter(int64(100*round+n-1)).query(),
			fmt.Sprintf(`0 {changed=false} {"counter":%d,"stateVersion":0,"timestamp":1700000000000}`, 100*round+n-1))
	}
}

// What the table holds is recognised only while nothing of its connection waits.
func TestKnownRegistrationBehindAnother(t *testing.T) {
	s := startParallel(t)
	c := s.dial()
	r := broker("a")
	c.register(r)
	release := s.parkWriter()
	last := c.send(r.counter(2).request(), r.again().request())
	s.dial().wantRoute("Base", "a{0=a:10911} 4/4/6/0")
	eventually(t, "both wait", func() bool { return s.writeBytes.Load() > int64(2*len(r.encode())+2*requestOverhead) })
	release()
	c.wait(last)
	c.want(r.query(), `0 {changed=false} {"counter":1,"stateVersion":0,"timestamp":1700000000000}`)
}

func TestPipelinedChangesInOrder(t *testing.T) {
	big := broker("a").having(append(many(3000, 4), named("Base", "Pad")...)...)
	wipe := ask(codec.RequestWipeWritePermOfBroker, "brokerName", "a")
	const there = "a{0=a:10911} 4/4/6/0"
	for _, tt := range []struct {
		name     string
		requests []request
		last     string // answer
		route    string // of Base
	}{
		{"gone", []request{big.request(), big.unregister()}, "0", "none"},
		{"gone and back", []request{big.request(), big.unregister(), broker("a").request()}, "0 {}", there},
		{"gone, then asked", []request{big.request(), big.unregister(), big.query()}, "0 {changed=true}", "none"},
		{"wiped", []request{big.request(), wipe}, "0 {wipeTopicCount=3002}", "a{0=a:10911} 4/4/4/0"},
		{"wiped, same again", []request{big.request(), wipe, big.again().request()}, "0 {}", "a{0=a:10911} 4/4/4/0"},
		{"wiped, new version", []request{big.request(), wipe, big.counter(2).request()}, "0 {}", there},
		{"same again", []request{big.request(), big.again().request()}, "0 {}", there},
		{"topic deleted", []request{big.request(), ask(codec.RequestDeleteTopicInNamesrv, "topic", "Base")}, "0", "none"},
		{"topic deleted, same again",
			[]request{big.request(), ask(codec.RequestDeleteTopicInNamesrv, "topic", "Base"), big.again().request()}, "0 {}", there},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := startParallel(t)
			c := s.dial()
			if got := c.wait(c.send(tt.requests...)).String(); got != tt.last {
				t.Errorf("last answer %s, want %s", got, tt.last)
			}
			c.wantRoute("Base", tt.route)
		})
	}
}

// A peer that saw its answer sees the change in its next query on any connection.
func TestAnswerFollowsPublish(t *testing.T) {
	s := startParallel(t)
	writer := s.dial()
	readers := []*client{s.dial(), s.dial(), s.dial()}
	for i := range 100 {
		r := broker("a").counter(int64(i)).having(topicConfig{"Base", i + 1, 6, 0}, topicConfig{"Pad", 4, 6, 0})
		writer.register(r)
		for _, reader := range readers {
			reader.wantRoute("Base", fmt.Sprintf("a{0=a:10911} %d/%d/6/0", i+1, i+1))
		}
	}
}

// Many connections with queued work get their turns one by one.
func TestLaneIsWorkedOffInTurn(t *testing.T) {
	d := &decoders{}
	long, short := &session{}, &session{}
	var order []*session
	for range 3 {
		if long.lane.add(write{}) {
			d.ready = append(d.ready, long)
		}
	}
	if short.lane.add(write{}) {
		d.ready = append(d.ready, short)
	}
	d.start(1, func() func(*session, write) {
		return func(s *session, _ write) { order = append(order, s) }
	})
	d.stop()
	want := []*session{long, short, long, long}
	if fmt.Sprint(order) != fmt.Sprint(want) {
		t.Errorf("order %v, want the short lane second: %v", order, want)
	}
	if long.lane.busy || short.lane.busy {
		t.Error("a lane is still busy")
	}
}
