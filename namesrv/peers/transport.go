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
)

const (
	// maxInbound bounds the TCP connections that are open at a time: of members each has one or two, for a moment.
	maxInbound = 64
	// inboundBytes is how much is read of one: what isn't authentic shows at its end alone.
	inboundBytes = 512 << 10
)

// gate is the way to the network. It lets memberlist have as many inbound connections at a time, and as much of each, as may be held at once.
type gate struct {
	memberlist.NodeAwareTransport
	port    int
	streams chan net.Conn
	open    atomic.Int64
	refused atomic.Uint64
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
	g.gate = newGate(t, port)
	at, err := advertised(g.o.Advertise, host, port)
	if err != nil {
		_ = g.gate.Shutdown()
		return nil, err
	}
	return at, nil
}

func newGate(t memberlist.NodeAwareTransport, port int) *gate {
	gt := &gate{NodeAwareTransport: t, port: port, streams: make(chan net.Conn), end: make(chan struct{})}
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
			if t.open.Load() >= maxInbound {
				t.refused.Add(1)
				_ = c.Close()
				continue
			}
			t.open.Add(1)
			select {
			case t.streams <- &inbound{Conn: c, left: inboundBytes, free: sync.OnceFunc(func() { t.open.Add(-1) })}:
			case <-t.end:
				_ = c.Close()
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
	free func()
}

func (c *inbound) Read(b []byte) (int, error) {
	if c.left <= 0 {
		return 0, errTooMuch
	}
	n, err := c.Conn.Read(b[:min(len(b), c.left)])
	c.left -= n
	return n, err
}

func (c *inbound) Close() error {
	defer c.free()
	return c.Conn.Close()
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
