package netpoll

import (
	"context"
)

// counters of one loop, written and read on it.
type counters struct {
	opened, frames, writes, bytesIn, bytesOut, assembled, panics uint64
	tlsDone, tlsFailed, tlsRefused                               uint64
	closed                                                       [closeKinds]uint64
	tlsConns                                                     int
}

// Stats are sums over the loops since the start, but for the last five. Bytes inside TLS are counted in the clear.
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

	Conns       int
	TLSConns    int // of these, with a handshake behind them
	UnsentBytes int64
	HeldBytes   int64 // input received and not handled
	Loops       int
}

// Stats collects the counters by running on every loop; ctx bounds the wait for a busy one. After Close they are final.
func (s *Server) Stats(ctx context.Context) (Stats, error) {
	st := Stats{
		Accepted: s.acceptor.accepted.Load(), Refused: s.acceptor.refused.Load(), Failed: s.acceptor.failed.Load(),
		Closed: make(map[string]uint64, closeKinds),
		Conns:  s.ConnCount(), UnsentBytes: s.UnsentBytes(), HeldBytes: s.heldBytes(), Loops: len(s.loops),
	}
	answers := make(chan counters, len(s.loops))
	for _, l := range s.loops {
		l.post(func() { answers <- l.counts })
	}
	for range s.loops {
		select {
		case c := <-answers:
			st.add(&c)
			continue
		case <-ctx.Done():
			return st, ctx.Err()
		case <-s.done:
		}
		return s.finalStats(st)
	}
	return st, nil
}

// finalStats reads the loops' memory directly: they have ended.
func (s *Server) finalStats(st Stats) (Stats, error) {
	if s.closeErr != nil {
		return st, s.closeErr
	}
	final := Stats{Accepted: st.Accepted, Refused: st.Refused, Failed: st.Failed, Loops: st.Loops,
		Closed: make(map[string]uint64, closeKinds)}
	for _, l := range s.loops {
		final.add(&l.counts)
	}
	return final, nil
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
