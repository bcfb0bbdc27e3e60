package netpoll

import (
	"context"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/panjf2000/gnet/v2"
)

const (
	minAcceptPause = 10 * time.Millisecond
	maxAcceptPause = time.Second
	// settledAccept is how long accepting must go well before a shortage counts as over: near the limit it comes and goes
	// with every connection.
	settledAccept = 10 * time.Second
)

// acceptor takes connections from the listener and hands them to the loops in turn. gnet's own would end the engine when
// the process runs out of descriptors; this one waits for some.
type acceptor struct {
	server   *Server
	listener net.Listener
	maxOpen  int // connections, by the limit of descriptors
	lastID   uint64

	starts    sync.Once
	started   chan struct{}
	stopping  chan struct{}
	ended     sync.WaitGroup
	handovers chan handover // connections on their way to a loop

	accepted, refused, failed atomic.Uint64

	short      atomic.Bool   // out of descriptors
	room       chan struct{} // a connection ended while short
	pause      time.Duration
	shortSince time.Time // zero: not short, or the end of it was already told
	lastShort  time.Time
}

// handover is a connection on its way; the channel is gnet's and gets one result.
type handover struct {
	conn   *Conn
	result <-chan gnet.RegisteredResult
}

func newAcceptor(s *Server, ln net.Listener) *acceptor {
	maxOpen, maxHandovers := descriptorPlan()
	a := &acceptor{server: s, listener: ln, maxOpen: maxOpen, started: make(chan struct{}), stopping: make(chan struct{}),
		handovers: make(chan handover, maxHandovers), room: make(chan struct{}, 1), pause: minAcceptPause}
	a.ended.Add(2)
	go a.accept()
	go a.settleHandovers()
	return a
}

func (a *acceptor) start() { a.starts.Do(func() { close(a.started) }) }

// stop returns when nothing is on its way any more: every connection is on its loop or closed.
func (a *acceptor) stop() {
	close(a.stopping)
	_ = a.listener.Close()
	a.ended.Wait()
}

func (a *acceptor) isStopping() bool {
	select {
	case <-a.stopping:
		return true
	default:
		return false
	}
}

func (a *acceptor) accept() {
	defer a.ended.Done()
	defer close(a.handovers)
	select {
	case <-a.started:
	case <-a.stopping:
		return
	}
	for !a.isStopping() {
		if a.server.ConnCount() >= a.maxOpen {
			a.wait(errDescriptors)
			continue
		}
		conn, err := a.listener.Accept()
		switch {
		case err == nil:
			a.accepted.Add(1)
			a.settled()
			a.handOver(conn)
		case errors.Is(err, net.ErrClosed):
			return
		default:
			a.failed.Add(1)
			a.wait(err)
		}
		if a.short.Load() && err == nil { // the loop's copy of a descriptor could not be made
			a.wait(syscall.EMFILE)
		}
	}
}

// wait pauses accepting after err, until some time has passed or a connection has ended.
func (a *acceptor) wait(err error) {
	a.short.Store(true)
	now := time.Now()
	if a.shortSince.IsZero() {
		a.shortSince = now
		a.server.opts.Logger.Error("netpoll: accepting paused, open connections are still served", "err", err)
	}
	a.lastShort = now
	timer := time.NewTimer(a.pause)
	defer timer.Stop()
	a.pause = min(2*a.pause, maxAcceptPause)
	select {
	case <-timer.C:
	case <-a.room:
	case <-a.stopping:
	}
	a.short.Store(false)
}

// settled notes a success.
func (a *acceptor) settled() {
	if a.shortSince.IsZero() {
		return
	}
	a.pause = minAcceptPause
	if now := time.Now(); now.Sub(a.lastShort) >= settledAccept {
		a.server.opts.Logger.Info("netpoll: accepting resumed", "after", now.Sub(a.shortSince).Round(time.Millisecond))
		a.shortSince = time.Time{}
	}
}

// roomAgain tells a paused acceptor that a descriptor is free.
func (a *acceptor) roomAgain() {
	if a.short.Load() {
		select {
		case a.room <- struct{}{}:
		default:
		}
	}
}

// handOver gives conn to the next loop without waiting for it to arrive.
func (a *acceptor) handOver(conn net.Conn) {
	s := a.server
	if admit := s.opts.Admit; admit != nil && !admit(conn.RemoteAddr()) {
		s.unadmitted.Add(1)
		s.log.warn("not admitted", "netpoll: connection refused, too many new ones of its address", "peer", conn.RemoteAddr())
		_ = conn.Close()
		return
	}
	if limit := s.opts.MaxConns; limit > 0 && s.count.Load() >= int64(limit) {
		a.refused.Add(1)
		_ = conn.Close()
		s.log.warn("too many connections", "netpoll: connection refused, too many are open", "limit", limit)
		return
	}
	s.count.Add(1)
	a.lastID++
	c := &Conn{id: a.lastID, peer: takeAddress(conn), loop: s.loops[a.lastID%uint64(len(s.loops))]}
	result, err := c.loop.engine.Enroll(gnet.NewContext(context.Background(), c), conn)
	if err != nil {
		_ = conn.Close()
		a.lost(err)
		return
	}
	a.handovers <- handover{c, result}
}

// takeAddress returns the peer's address and takes the IPv6 zones out of conn's: gnet puts the memory of a zone's name into
// its buffer pool when the connection ends, although net shares that string with everybody.
func takeAddress(conn net.Conn) string {
	peer := conn.RemoteAddr().String()
	for _, addr := range [...]net.Addr{conn.RemoteAddr(), conn.LocalAddr()} {
		if tcp, ok := addr.(*net.TCPAddr); ok {
			tcp.Zone = ""
		}
	}
	return peer
}

// settleHandovers looks at the results in order. gnet reports no error when a loop could not take a connection, so what
// counts is whether it was opened.
func (a *acceptor) settleHandovers() {
	defer a.ended.Done()
	for h := range a.handovers {
		if r := <-h.result; r.Err != nil || !h.conn.handedOver {
			a.lost(r.Err)
		}
	}
}

// lost is a connection that never got to its loop.
func (a *acceptor) lost(err error) {
	a.failed.Add(1)
	if errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) {
		a.short.Store(true)
	}
	a.server.count.Add(-1)
	a.server.log.warn("handover", "netpoll: connection lost on its way to a loop", "err", err)
}
