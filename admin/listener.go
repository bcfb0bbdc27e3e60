package admin

import (
	"net"
	"sync"
)

// limitedListener accepts a connection only when fewer than a number are open; further ones wait in the kernel.
type limitedListener struct {
	net.Listener
	slots  chan struct{} // one token for each open connection
	closed chan struct{}
	once   sync.Once
}

func limitConns(ln net.Listener, most int) net.Listener {
	return &limitedListener{Listener: ln, slots: make(chan struct{}, most), closed: make(chan struct{})}
}

func (l *limitedListener) Accept() (net.Conn, error) {
	select {
	case l.slots <- struct{}{}:
	case <-l.closed:
		return nil, net.ErrClosed
	}
	c, err := l.Listener.Accept()
	if err != nil {
		<-l.slots
		return nil, err
	}
	return &limitedConn{Conn: c, free: sync.OnceFunc(func() { <-l.slots })}, nil
}

func (l *limitedListener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return l.Listener.Close()
}

type limitedConn struct {
	net.Conn
	free func()
}

func (c *limitedConn) Close() error {
	defer c.free()
	return c.Conn.Close()
}
