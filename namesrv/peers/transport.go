package peers

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/hashicorp/memberlist"

	"github.com/waymark-mq/waymark/internal/newest"
)

const (
	// maxInbound bounds the TCP connections that are open at a time: of members each has one or two, for a moment. For one more the oldest goes: whoever
	// holds as many doesn't keep members out.
	maxInbound = 64
	// inboundBytes is how much is read of one: what isn't authentic shows at its end alone.
	inboundBytes = 512 << 10
)

// gate is the way to the network. It lets memberlist have as many inbound connections at a time, and as much of each, as may be held at once.
type gate struct {
	memberlist.NodeAwareTransport
	port    int
	log     memberLog
	streams chan net.Conn
	open    *newest.Conns
	full    atomic.Uint64 // so many were closed for others
	end     chan struct{}
	ended   sync.WaitGroup
	once    sync.Once
}

// open binds the address and returns the one that the others reach it at.
func (g *Group) open() (*net.TCPAddr, error) {
	host, port, err := splitAddr(g.o.Listen)
	if err != nil {
		return nil, err
	}
	t := g.o.transport
	if t == nil {
		listen := host
		if listen == "" {
			listen = "0.0.0.0"
		}
		ips, err := lookUp(context.Background(), listen)
		if err != nil || len(ips) == 0 {
			return nil, fmt.Errorf("peers: %s: %w", g.o.Listen, err)
		}
		host = ips[0].String()
		nt, err := memberlist.NewNetTransport(&memberlist.NetTransportConfig{BindAddrs: []string{host}, BindPort: port, Logger: g.log.logger()})
		if err != nil {
			return nil, fmt.Errorf("peers: %s can't be listened on: %w", g.o.Listen, err)
		}
		port = nt.GetAutoBindPort()
		t = nt
	}
	g.gate = newGate(t, port, g.log)
	at, err := advertised(g.o.Advertise, host, port)
	if err != nil {
		_ = g.gate.Shutdown()
		return nil, err
	}
	return at, nil
}

func newGate(t memberlist.NodeAwareTransport, port int, log memberLog) *gate {
	gt := &gate{
		NodeAwareTransport: t, port: port, log: log, open: newest.New(maxInbound), streams: make(chan net.Conn), end: make(chan struct{}),
	}
	gt.ended.Go(gt.admit)
	return gt
}

// StreamCh is where inbound connections come out.
func (t *gate) StreamCh() <-chan net.Conn { return t.streams }

// Shutdown ends the transport.
func (t *gate) Shutdown() error {
	err := t.NodeAwareTransport.Shutdown()
	t.once.Do(func() { close(t.end) })
	t.ended.Wait()
	return err
}

func (t *gate) admit() {
	in := t.NodeAwareTransport.StreamCh()
	for {
		select {
		case c := <-in:
			kept, full := t.open.Keep(c)
			if full {
				t.full.Add(1)
				t.log.limited("peers: too many connections; the oldest are closed", "most", maxInbound, "newest", c.RemoteAddr().String())
			}
			select {
			case t.streams <- &inbound{Conn: kept, left: inboundBytes}:
			case <-t.end:
				_ = kept.Close()
				return
			}
		case <-t.end:
			return
		}
	}
}

var errTooMuch = errors.New("peers: a connection brings more than a message")

// inbound is a connection of which so much is read.
type inbound struct {
	net.Conn
	left int // one goroutine reads
}

func (c *inbound) Read(b []byte) (int, error) {
	if c.left <= 0 {
		return 0, errTooMuch
	}
	n, err := c.Conn.Read(b[:min(len(b), c.left)])
	c.left -= n
	return n, err
}

func splitAddr(addr string) (host string, port int, err error) {
	host, text, err := net.SplitHostPort(addr)
	if err != nil {
		return "", 0, fmt.Errorf("peers: %q is no host:port", addr)
	}
	port, err = strconv.Atoi(text)
	if err != nil || port < 0 || port > 65535 {
		return "", 0, fmt.Errorf("peers: %q has no port from 0 to 65535", addr)
	}
	return host, port, nil
}
