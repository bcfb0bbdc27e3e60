// Package newest bounds how many connections are open: beyond a number, the oldest is closed. It is for peers that say at once what they have
// come for: whoever has seen so many come after it only keeps others out.
package newest

import (
	"container/list"
	"net"
	"sync"
)

// Conns are the connections that are open. Its methods are for any goroutine.
type Conns struct {
	most int

	mu   sync.Mutex
	open list.List // of *conn, in the order in which they came
}

// New returns one that keeps so many open.
func New(most int) *Conns { return &Conns{most: most} }

// Keep takes in a connection, which is to be used, and closed, as kept. It reports whether the oldest was closed for it.
func (s *Conns) Keep(c net.Conn) (kept net.Conn, full bool) {
	n := &conn{Conn: c, of: s}
	oldest := s.add(n)
	if oldest != nil {
		_ = oldest.Close()
	}
	return n, oldest != nil
}

// add returns the connection that is to go for it; nil if none has to.
func (s *Conns) add(c *conn) *conn {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.place = s.open.PushBack(c)
	if s.open.Len() <= s.most {
		return nil
	}
	return s.open.Remove(s.open.Front()).(*conn)
}

type conn struct {
	net.Conn
	of    *Conns
	place *list.Element
}

// Close frees its place.
func (c *conn) Close() error {
	c.of.mu.Lock()
	c.of.open.Remove(c.place) // nothing if it had to go, or the second time
	c.of.mu.Unlock()
	return c.Conn.Close()
}
