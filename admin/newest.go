package admin

import (
	"net"

	"github.com/waymark-mq/waymark/internal/newest"
)

// newestListener accepts every connection, and keeps the newest open.
type newestListener struct {
	net.Listener
	conns *newest.Conns
}

func keepNewest(ln net.Listener, most int) net.Listener {
	return &newestListener{Listener: ln, conns: newest.New(most)}
}

func (l *newestListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	kept, _ := l.conns.Keep(c)
	return kept, nil
}
