package netpoll

import (
	"context"
	"sync"
)

// counters of one loop, written and read on it.
type counters struct {
	opened, frames, writes, bytesIn, bytesOut, assembled, panics uint64
	tlsDone, tlsFailed, tlsRefused                               uint64
	closed                                                       [closeKinds]uint64
	tlsConns                                                     int
}

// Stats are sums over the loops since the start, but for those that are said to be of now. Bytes inside TLS are counted in the clear.
type Stats struct {
	Accepted  uint64 // connections taken from the kernel
	Refused   uint64 // of these, closed at once because of MaxConns
	Failed    uint64 // failed accepts and handovers
	Opened    uint64 // connections that got to their loop
	Frames    uint64 // whole frames given to the handler
	Writes    uint64 // writes of answers
	BytesIn   uint64
	BytesOut  uint64 // given to the sockets or their buffers
	Assembled uint64 // bytes copied into the memory of large frames
	Panics    uint64
	Closed    map[string]uint64 // ended connections by kind of reason; every kind is present

	Handshakes        uint64 // TLS handshakes that went well
	HandshakesFailed  uint64 // begun and not completed
	HandshakesRefused uint64 // closed at once because too many were under way

	// Of now.
	Conns                       int
	TLSConns                    int // of these, with a handshake behind them
	UnsentBytes, MaxUnsentBytes int64
	HeldBytes, MaxHeldBytes     int64 // input received and not handled
	Loops                       int
	Missing                     int // loops that didn't answer in time: they count as they were last seen
}

// lastSeen is what the loops counted when they last told. Any goroutine.
type lastSeen struct {
	mu    sync.Mutex
	loops []counters
}

// Stats collects the counters by running on every loop; ctx bounds the wait for a busy one, and its error is returned with what
// there is. After Close they are final.
func (s *Server) Stats(ctx context.Context) (Stats, error) {
	seen := make([]counters, len(s.loops))
	told, err := s.Visit(ctx, func(i int, _ LoopHandler) { seen[i] = s.loops[i].counts })
	st := Stats{
		Accepted: s.acceptor.accepted.Load(), Refused: s.acceptor.refused.Load(), Failed: s.acceptor.failed.Load(),
		Closed: make(map[string]uint64, closeKinds),
		Conns:  s.ConnCount(), UnsentBytes: s.UnsentBytes(), HeldBytes: s.heldBytes(), Loops: len(s.loops),
		MaxUnsentBytes: s.opts.MaxUnsentBytes, MaxHeldBytes: s.opts.MaxHeldBytes,
	}
	s.seen.mu.Lock()
	defer s.seen.mu.Unlock()
	if s.seen.loops == nil {
		s.seen.loops = make([]counters, len(s.loops))
	}
	for i := range s.loops {
		if told[i] {
			s.seen.loops[i] = seen[i]
		} else {
			st.Missing++
		}
		st.add(&s.seen.loops[i])
	}
	return st, err
}

// Visit runs visit on every loop, with the loop's index and handler, and reports which came to it before ctx ended; its error is
// ctx's if one didn't. A late loop runs it all the same, so that what it writes may be read only if the loop is reported. After
// Close the caller runs it.
func (s *Server) Visit(ctx context.Context, visit func(i int, h LoopHandler)) (visited []bool, err error) {
	visited = make([]bool, len(s.loops))
	came := make(chan int, len(s.loops))
	for i, l := range s.loops {
		l.post(func() {
			visit(i, l.handler)
			came <- i
		})
	}
	for range s.loops {
		select {
		case i := <-came:
			visited[i] = true
			continue
		case <-ctx.Done():
			return visited, ctx.Err()
		case <-s.done:
		}
		return s.visitEnded(visit)
	}
	return visited, nil
}

// visitEnded runs visit for loops that have ended, unless one was left behind in a handler that is stuck.
func (s *Server) visitEnded(visit func(i int, h LoopHandler)) ([]bool, error) {
	visited := make([]bool, len(s.loops))
	if s.closeErr != nil {
		return visited, s.closeErr
	}
	for i, l := range s.loops {
		visit(i, l.handler)
		visited[i] = true
	}
	return visited, nil
}

func (st *Stats) add(c *counters) {
	st.Opened += c.opened
	st.Frames += c.frames
	st.Writes += c.writes
	st.BytesIn += c.bytesIn
	st.BytesOut += c.bytesOut
	st.Assembled += c.assembled
	st.Panics += c.panics
	st.Handshakes += c.tlsDone
	st.HandshakesFailed += c.tlsFailed
	st.HandshakesRefused += c.tlsRefused
	st.TLSConns += c.tlsConns
	for kind, n := range c.closed {
		st.Closed[closeKindNames[kind]] += n
	}
}
