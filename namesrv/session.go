package namesrv

import (
	"sync"
	"sync/atomic"

	"github.com/valyala/bytebufferpool"

	"github.com/waymark-mq/waymark/core"
	"github.com/waymark-mq/waymark/netpoll"
)

// session is what the server keeps for one connection.
//
// Concurrency contract
//
//	loop only:  touched, writes
//	lane:       pushed by the loop, drained by one decoder at a time
//	pending:    write requests that are not applied yet: added by the loop, taken off by
//	            whoever finishes them; the loop reads it to keep the connection's order
type session struct {
	conn    *netpoll.Conn
	touched map[*core.LiveCell]struct{} // brokers whose ownership this connection took by a heartbeat
	writes  bool                        // the writer may know this connection
	pending atomic.Int32
	lane    lane
}

func (s *session) id() core.ConnID { return core.ConnID(s.conn.ID()) }

// took notes that a heartbeat moved a broker's ownership to this connection.
func (s *session) took(cell *core.LiveCell) {
	if s.touched == nil {
		s.touched = map[*core.LiveCell]struct{}{}
	}
	s.touched[cell] = struct{}{}
}

// lane holds a connection's write requests in the order they came. The end of
// the connection is the last of them, so it can't overtake its own registration.
type lane struct {
	mu    sync.Mutex
	items []write
	busy  bool // handed to the decoders, or held by one
}

// write is one request of the write lane, or the end of the connection (frame nil).
type write struct {
	frame   *bytebufferpool.ByteBuffer // the whole frame, copied; goes back to its pool when decoded
	memo    *core.RegisterMemo
	touched []*core.LiveCell
}

func (w *write) bytes() int64 {
	if w.frame == nil {
		return 0
	}
	return int64(w.frame.Len())
}

// add appends a request and reports whether the lane has to be handed to the decoders.
func (l *lane) add(w write) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.items = append(l.items, w)
	if l.busy {
		return false
	}
	l.busy = true
	return true
}

// first takes the oldest request; ok is false, and the lane free again, if there is none.
func (l *lane) first() (w write, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.items) == 0 {
		l.items, l.busy = nil, false
		return write{}, false
	}
	w, l.items[0] = l.items[0], write{}
	l.items = l.items[1:]
	return w, true
}
