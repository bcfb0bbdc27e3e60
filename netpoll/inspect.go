package netpoll

import (
	"context"
	"slices"
	"syscall"
)

// ConnIDs returns the first limit ids behind after of the connections that are open, in order, and whether there are more. It goes
// through all connections, but holds no more than twice the ids it returns. Any goroutine.
func (s *Server) ConnIDs(after uint64, limit int) (ids []uint64, more bool) {
	trim := func() {
		slices.Sort(ids)
		ids = ids[:min(len(ids), limit+1)]
	}
	s.conns.Range(func(id uint64, _ *Conn) bool {
		if id > after {
			ids = append(ids, id)
		}
		if len(ids) >= 2*(limit+1) {
			trim()
		}
		return true
	})
	trim()
	if len(ids) > limit {
		return ids[:limit], true
	}
	return ids, false
}

// Collect calls fn for those of the connections that are open, each on its loop, and returns what fn returned, in any order.
// It ends early with ctx's error, or with ErrServerClosed once the loops have ended. Any goroutine but a loop's.
func Collect[T any](ctx context.Context, s *Server, ids []uint64, fn func(*Conn) T) ([]T, error) {
	byLoop := map[*loop][]*Conn{}
	for _, id := range ids {
		if c, ok := s.Conn(id); ok {
			byLoop[c.loop] = append(byLoop[c.loop], c)
		}
	}
	parts := make(chan []T, len(byLoop))
	for l, conns := range byLoop {
		l.post(func() {
			var part []T
			defer func() { parts <- part }() // whatever fn does
			for _, c := range conns {
				if !c.gone.Load() {
					part = append(part, fn(c))
				}
			}
		})
	}
	var all []T
	for range byLoop {
		select {
		case part := <-parts:
			all = append(all, part...)
		case <-ctx.Done():
			return all, ctx.Err()
		case <-s.done:
			return all, ErrServerClosed
		}
	}
	return all, nil
}

// UnsentBytes is the number of answer bytes that the socket has not taken, up to 50 ms old. Any goroutine.
func (c *Conn) UnsentBytes() int64 { return c.unsent.Load() + c.queued.Load() }

// EndQuiet ends the connection unless something is under way on it: input that came and isn't handled, half a TLS record included, an answer that is being
// made or hasn't left. It reports whether it has ended. On its loop, outside of Frame.
func (c *Conn) EndQuiet(reason error) bool {
	if c.gone.Load() {
		return true
	}
	c.loop.lookUnsent(c)
	if c.UnsentBytes() > 0 || c.paused > 0 || c.inbound() > 0 || c.inRecord() || c.inputWaits() {
		return false
	}
	c.loop.end(c, reason)
	return true
}

// inputWaits reports whether the socket has bytes that the loop hasn't read.
func (c *Conn) inputWaits() bool {
	if c.sock == nil {
		return false
	}
	var b [1]byte
	n, _, err := syscall.Recvfrom(c.sock.Fd(), b[:], syscall.MSG_PEEK)
	return err == nil && n > 0
}
