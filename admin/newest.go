package admin

import (
	"container/list"
	"net"
	"sync"
)

// newestListener accepts every connection; beyond a number that are open, the oldest is closed. It is for peers that ask once, at once: whoever has
// seen so many come after it only keeps others out.
type newestListener struct {
	net.Listener
	most int

	mu   sync.Mutex
	open list.List // of *newestConn, in the order in which they came
}

func keepNewest(ln net.Listener, most int) net.Listener {
	return &newestListener{Listener: ln, most: most}
}

func (l *newestListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	kept := &newestConn{Conn: c, of: l}
	if oldest := l.add(kept); oldest != nil {
		_ = oldest.Close()
	}
	return kept, nil
}

// add returns the connection that is to go for it; nil if none has to.
func (l *newestListener) add(c *newestConn) *newestConn {
	l.mu.Lock()
	defer l.mu.Unlock()
	c.place = l.open.PushBack(c)
	if l.open.Len() <= l.most {
		return nil
	}
	return l.open.Front().Value.(*newestConn)
}

type newestConn struct {
	net.Conn
	of    *newestListener
	place *list.Element
}

func (c *newestConn) Close() error {
	c.of.mu.Lock()
	c.of.open.Remove(c.place) // nothing, the second time
	c.of.mu.Unlock()
	return c.Conn.Close()
}
