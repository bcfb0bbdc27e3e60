package namesrv

import (
	"testing"
	"time"

	"github.com/waymark-mq/waymark/namesrv/settings"
	"github.com/waymark-mq/waymark/netpoll"
)

// slowEnd is the end of a connection, asked for by another goroutine, that stops its loop until release.
type slowEnd struct {
	s    *testServer
	conn *netpoll.Conn
	sess *session
}

func (s *testServer) prepareEnd(loop int) *slowEnd {
	s.t.Helper()
	c, conn := s.dialOn(loop)
	c.want(broker("nobody").unregister(), "0") // the writer knows it now
	e := &slowEnd{s, conn, s.sessionOf(conn)}
	e.sess.lane.mu.Lock()
	return e
}

func (e *slowEnd) begin()   { e.conn.CloseWith(errExpired) }
func (e *slowEnd) release() { e.sess.lane.mu.Unlock() }
func (e *slowEnd) wait() {
	e.s.t.Helper()
	eventually(e.s.t, "the loop ends the connection", func() bool { return e.sess.pending.Load() == 1 })
}

// A loop that works off one task after the other hasn't looked at its sockets in between, and no
// scan may take it for one that has.
func TestHeartbeatBehindAStalledLoopsTasks(t *testing.T) {
	s := start(t, func(c *settings.Settings) { c.EventLoops = 1 })
	c := s.dial()
	a := broker("a").set("heartbeatTimeoutMillis", "10000")
	c.register(a)
	first, second, third := s.prepareEnd(0), s.prepareEnd(0), s.prepareEnd(0)
	first.begin()
	first.wait()
	c.send(a.heartbeat())
	s.advanceBehind(21 * time.Second)
	second.begin()
	first.release()
	second.wait()
	third.begin()
	second.release()
	third.wait()
	s.barrier()
	if _, ok := s.live(cluster, a.addr()); !ok {
		t.Error("a was removed with its heartbeat unread")
	}
	third.release()
	c.wantRoute("Base", "a{0=a:10911} 4/4/6/0")
}
