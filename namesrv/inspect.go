package namesrv

import (
	"context"
	"iter"
	"time"

	"github.com/waymark-mq/waymark/codec"
	"github.com/waymark-mq/waymark/core"
	"github.com/waymark-mq/waymark/namesrv/settings"
	"github.com/waymark-mq/waymark/netpoll"
)

// What people look at who ask what the server is doing. All of it may be called from any goroutine, and none of it makes the
// writer or a query wait.

// Snapshot is the routing table as it is now.
func (s *Server) Snapshot() *core.Snapshot { return s.table.Load() }

// Now is Clock's time: what signs of life in a snapshot are measured in.
func (s *Server) Now() int64 { return s.clock.Now() }

// ConfigEntry is one setting.
type ConfigEntry struct {
	Key, Value string
	// NeedsRestart: another value works only when the server is started with it. Then Running is what it was started with, and works with.
	NeedsRestart bool
	Running      string
}

// Config yields the settings as GET_NAMESRV_CONFIG (319) lists them.
func (s *Server) Config() iter.Seq[ConfigEntry] {
	return func(yield func(ConfigEntry) bool) {
		for key, value := range s.settings.Load().Listed() {
			e := ConfigEntry{Key: key, Value: value}
			if e.NeedsRestart = settings.NeedsRestart(key); e.NeedsRestart {
				e.Running = s.startedWith.Load().Value(key)
			}
			if !yield(e) {
				return
			}
		}
	}
}

// Status is what a server is doing as a whole.
type Status struct {
	State       State
	Addr        string        // "" before the start
	Up          time.Duration // since New
	SnapshotAge time.Duration // since the last change of the table
	Connections int
	UnsentBytes int64
	Drain       DrainStatus
}

// Status tells what the server is doing.
func (s *Server) Status() Status {
	now := s.clock.Now()
	st := Status{
		State: s.State(), Up: time.Duration(now - s.started), SnapshotAge: time.Duration(now - s.counts.published.Load()),
		Drain: s.drain.status(),
	}
	if n := s.running(); n != nil {
		st.Addr, st.Connections, st.UnsentBytes = n.Addr().String(), n.ConnCount(), n.UnsentBytes()
	}
	return st
}

// running is the server's port once it is open, else nil.
func (s *Server) running() *netpoll.Server {
	if State(s.state.Load()) < Serving {
		return nil
	}
	return s.net
}

// ConnInfo is one connection.
type ConnInfo struct {
	ID       uint64
	Peer     string
	Via      string // the other end of the socket, if a PROXY header named the peer; else ""
	TLS      bool
	Loop     int // event loop, from 0
	Open     time.Duration
	Language codec.Language // of its first request
	Version  int32          // likewise
	// Identified is false before its first request: Language and Version say nothing then.
	Identified bool
	// Writer is true once it has asked for a change, or a broker's sign of life came on it.
	Writer        bool
	PendingWrites int // requests that aren't applied yet
	UnsentBytes   int64
}

// Connections returns the first limit connections behind an id, in order, and whether there are more. ctx bounds the wait for
// busy event loops.
func (s *Server) Connections(ctx context.Context, after uint64, limit int) (conns []ConnInfo, more bool, err error) {
	n := s.running()
	if n == nil {
		return nil, false, nil
	}
	ids, more := n.ConnIDs(after, limit)
	conns, err = netpoll.Collect(ctx, n, ids, s.describe)
	return conns, more, err
}

// Connection returns one connection; ok is false if it isn't open.
func (s *Server) Connection(ctx context.Context, id uint64) (c ConnInfo, ok bool, err error) {
	n := s.running()
	if n == nil {
		return c, false, nil
	}
	found, err := netpoll.Collect(ctx, n, []uint64{id}, s.describe)
	if err != nil || len(found) == 0 {
		return c, false, err
	}
	return found[0], true, nil
}

// describe tells of a connection, on its loop.
func (s *Server) describe(c *netpoll.Conn) ConnInfo {
	sess, p := c.Context.(*session), connOf(c)
	return ConnInfo{
		ID: c.ID(), Peer: p.From, Via: p.Via, TLS: c.TLS(), Loop: c.Loop(), Open: time.Duration(s.clock.Now() - sess.opened),
		Language: sess.client.language, Version: sess.client.version, Identified: sess.identified,
		Writer: sess.mayOwnBrokers(), PendingWrites: int(sess.pending.Load()), UnsentBytes: c.UnsentBytes(),
	}
}

// PeerAddr is the other end of a connection; open is false if it isn't there any more.
func (s *Server) PeerAddr(id uint64) (addr string, open bool) {
	n := s.running()
	if n == nil {
		return "", false
	}
	c, ok := n.Conn(id)
	if !ok {
		return "", false
	}
	return c.RemoteAddr(), true
}
