package namesrv

import (
	"fmt"
	"testing"
	"time"

	"github.com/waymark-mq/waymark/namesrv/settings"
	"github.com/waymark-mq/waymark/netpoll"
)

// connOf is the server's side of a client's connection.
func (s *testServer) connOf(c *client) *netpoll.Conn {
	s.t.Helper()
	c.want(broker("nobody").heartbeat(), "0") // its loop has it
	for id := range uint64(1000) {
		if conn, ok := s.net.Conn(id); ok && conn.RemoteAddr() == c.conn.LocalAddr().String() {
			return conn
		}
	}
	s.t.Fatal("the server has no such connection")
	return nil
}

// dialOn dials until it gets a connection on that loop.
func (s *testServer) dialOn(loop int) (*client, *netpoll.Conn) {
	s.t.Helper()
	for range 100 {
		c := s.dial()
		if conn := s.connOf(c); conn.Loop() == loop {
			return c, conn
		}
	}
	s.t.Fatalf("no connection on loop %d", loop)
	return nil, nil
}

// sessionOf is a connection's session, read after its loop has made it.
func (s *testServer) sessionOf(conn *netpoll.Conn) *session {
	s.t.Helper()
	found := make(chan *session, 1)
	s.net.Barrier(func() { found <- conn.Context.(*session) })
	select {
	case sess := <-found:
		return sess
	case <-time.After(waitLimit):
		s.t.Fatal("the loops don't read")
		return nil
	}
}

// stopInRequest holds a loop up while it handles a request.
func stopInRequest(s *testServer, loop int) (release func()) {
	c, conn := s.dialOn(loop)
	sess := s.sessionOf(conn)
	sess.lane.mu.Lock()
	c.send(broker("nobody").unregister())
	eventually(s.t, "the loop is in the request", func() bool { return sess.pending.Load() == 1 })
	return sess.lane.mu.Unlock
}

// A scan that finds a loop behind waits for it: the heartbeat that is in the socket counts, and a
// silent broker goes all the same, once the loop is free.
func TestHeartbeatBehindAStalledLoop(t *testing.T) {
	for loops := 1; loops <= 2; loops++ {
		t.Run(fmt.Sprintf("%d loops", loops), func(t *testing.T) {
			s := start(t, func(c *settings.Settings) { c.EventLoops = loops })
			beating, conn := s.dialOn(0)
			silent, _ := s.dialOn(loops - 1)
			a := broker("a").set("heartbeatTimeoutMillis", "10000")
			beating.register(a)
			silent.register(broker("b").set("heartbeatTimeoutMillis", "10000").having(named("OfB", "Pad")...))
			release := stopInRequest(s, conn.Loop())
			beating.send(a.heartbeat())
			s.advanceBehind(21 * time.Second)
			if n := s.table.Load().Brokers(); n != 2 {
				t.Errorf("%d brokers while a loop is behind, want 2", n)
			}
			release()
			s.tick() // the scan that waited saw them as of its beginning; the next one is due
			s.tick()
			if _, ok := s.live(cluster, "b:10911"); ok {
				t.Error("the silent one stays")
			}
			silent.wantClosed()
			beating.wantRoute("Base", "a{0=a:10911} 4/4/6/0")
			beating.wantRoute("OfB", "none")
			s.advance(9 * time.Second)
			beating.wantRoute("Base", "a{0=a:10911} 4/4/6/0")
			s.advance(6 * time.Second)
			s.dial().wantRoute("Base", "none")
		})
	}
}

// advanceBehind is advance with ticks that are punctual, but whose scans no loop answers.
func (s *testServer) advanceBehind(d time.Duration) {
	s.t.Helper()
	for target := s.clock.now.Load() + int64(d); s.clock.next <= target; s.clock.next += int64(s.clock.interval) {
		s.clock.now.Store(s.clock.next)
		s.sendTick()
		s.barrier()
	}
}

// A process that stands still while a scan waits for its loops gets that time back too.
func TestFreezeDuringAScan(t *testing.T) {
	s := start(t, func(c *settings.Settings) { c.EventLoops = 1 })
	c, conn := s.dialOn(0)
	c.register(broker("a").set("heartbeatTimeoutMillis", "10000"))
	release := stopInRequest(s, conn.Loop())
	s.advanceBehind(6 * time.Second) // a scan has begun
	s.clock.now.Add(int64(20 * time.Minute))
	s.sendTick()
	s.barrier()
	release()
	for range 3 {
		s.tick()
	}
	c.wantRoute("Base", "a{0=a:10911} 4/4/6/0")
	s.advance(11 * time.Second)
	s.dial().wantRoute("Base", "none")
}
