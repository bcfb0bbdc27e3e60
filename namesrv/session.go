package namesrv

import (
	"sync/atomic"
	"time"

	"github.com/waymark-mq/waymark/core"
	"github.com/waymark-mq/waymark/netpoll"
)

// session is what the server keeps for one connection.
//
// Concurrency contract
//
//	loop only:  touched, sweepAt, writes, kept, identified, client, route, beat, peer
//	immutable:  conn, opened
//	lane:       pushed by the loop, drained by one decoder at a time
//	pending:    write requests that are not applied yet: added by the loop, taken off by
//	            whoever finishes them; the loop reads it to keep the connection's order
//	answering:  the writer's, read by a drain on the loop
//	full:       set by the loop when it pauses, taken back by whoever resumes
type session struct {
	conn    *netpoll.Conn
	beat    *beatShape // nil until a heartbeat comes
	route   routeHint
	opened  int64                       // Clock's time
	touched map[*core.LiveCell]struct{} // brokers whose ownership this connection took by a sign of life (904, 322, a recognised 103)
	sweepAt int                         // size of touched at which to look who is still there
	writes  bool                        // the writer may know this connection
	kept    bool                        // it may be a broker's, and brokerKeepAliveSeconds was applied

	identified bool // by its first request: client says as what it is counted
	client     clientKind

	pending   atomic.Int32
	answering atomic.Int32 // answers that the writer makes of requests that aren't pending any more
	full      atomic.Bool  // paused because too much is pending
	lane      lane
	peer      *peer // nil until something asks
}

func (s *session) id() core.ConnID { return core.ConnID(s.conn.ID()) }

// asker is who asks on this connection. Any goroutine.
func (s *session) asker() core.Peer { return core.Peer{Conn: s.id(), Addr: s.conn.RemoteAddr()} }

// keepAlive has the kernel look after the other end of a connection that may be a broker's. Loop only; once.
func (s *Server) keepAlive(sess *session) {
	if sess.kept {
		return
	}
	sess.kept = true
	seconds := s.settings.Load().BrokerKeepAliveSeconds
	if seconds == 0 {
		return
	}
	if err := sess.conn.KeepAlive(time.Duration(seconds) * time.Second); err != nil {
		s.events.keepAliveFailed(err)
	}
}

// mayOwnBrokers reports whether a broker may be known by this connection. Loop only.
func (s *session) mayOwnBrokers() bool { return s.writes || len(s.touched) > 0 }

// took notes that a sign of life moved a broker's ownership to this connection.
func (s *session) took(cell *core.LiveCell) {
	if s.touched == nil {
		s.touched = map[*core.LiveCell]struct{}{}
		s.sweepAt = 64
	}
	s.touched[cell] = struct{}{}
	if len(s.touched) >= s.sweepAt {
		s.sweep()
	}
}

// sweep forgets the brokers that are gone or have moved on, so that a connection that
// beats for the same few for ever keeps no more than those.
func (s *session) sweep() {
	for cell := range s.touched {
		if _, alive := cell.Last(); !alive || cell.Owner() != s.id() {
			delete(s.touched, cell)
		}
	}
	s.sweepAt = max(64, 2*len(s.touched))
}

// maxPending is the number of write requests from which on a connection is paused until half
// of them are applied: what a peer can make wait is bounded, also in requests that no budget refuses.
const maxPending = 4096

// hold counts one more pending write request. Loop only.
func (s *session) hold() {
	if s.pending.Add(1) < maxPending || s.full.Swap(true) {
		return
	}
	s.conn.Pause()
	s.resumeIfDrained() // they may have been finished before full was set
}

// release ends one pending write request's hold. Any goroutine.
func (s *session) release() {
	s.pending.Add(-1)
	s.resumeIfDrained()
}

func (s *session) resumeIfDrained() {
	if s.full.Load() && s.pending.Load() <= maxPending/2 && s.full.CompareAndSwap(true, false) {
		s.conn.Resume()
	}
}
