package netpoll

import (
	"context"
	"fmt"
	"net"
	"os"
	"syscall"
	"time"

	"github.com/panjf2000/gnet/v2"
)

// engineEvents is what gnet calls. A connection's context is its *Conn, or its loop's *anchor.
type engineEvents struct{ gnet.BuiltinEventEngine }

func (*engineEvents) OnOpen(g gnet.Conn) ([]byte, gnet.Action) {
	switch c := g.Context().(type) {
	case *Conn:
		c.sock, c.io, c.handedOver = g, g, true
		c.loop.opened(c)
	case *anchor:
		c.engine = g.EventLoop()
	}
	return nil, gnet.None
}

func (*engineEvents) OnTraffic(g gnet.Conn) gnet.Action {
	switch c := g.Context().(type) {
	case *Conn:
		c.loop.traffic(c)
	case *anchor:
		c.answer(g)
	}
	return gnet.None
}

func (*engineEvents) OnClose(g gnet.Conn, err error) gnet.Action {
	if c, ok := g.Context().(*Conn); ok {
		c.loop.stamp()
		c.loop.closed(c, err)
	}
	return gnet.None
}

// startEngine starts as many gnet loops as s.loops and pairs them.
func (s *Server) startEngine() (err error) {
	s.engine, err = gnet.NewClient(&engineEvents{},
		gnet.WithNumEventLoop(len(s.loops)), gnet.WithLogger(engineLog{s.log}))
	if err != nil {
		return err
	}
	if err = s.engine.Start(); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = s.engine.Stop()
			s.closeAnchors()
		}
	}()
	seen := make(map[gnet.EventLoop]bool)
	for _, l := range s.loops {
		mine, theirs, err := socketPair()
		if err != nil {
			return err
		}
		// Kept open: gnet gives a connection to the loop with the fewest, so each loop gets one.
		a := &anchor{mine: mine}
		l.anchor = a
		if _, err = s.engine.EnrollContext(theirs, a); err != nil {
			return err
		}
		l.engine = a.engine
		seen[l.engine] = true
	}
	if len(seen) != len(s.loops) {
		return fmt.Errorf("%d loops answered for %d", len(seen), len(s.loops))
	}
	return nil
}

func (s *Server) closeAnchors() {
	for _, l := range s.loops {
		if l.anchor != nil {
			_ = l.anchor.mine.Close()
		}
	}
}

func socketPair() (mine *os.File, theirs net.Conn, err error) {
	syscall.ForkLock.RLock()
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err == nil {
		syscall.CloseOnExec(fds[0])
		syscall.CloseOnExec(fds[1])
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return nil, nil, os.NewSyscallError("socketpair", err)
	}
	mine = os.NewFile(uintptr(fds[0]), "anchor")
	other := os.NewFile(uintptr(fds[1]), "anchor")
	defer other.Close()
	if theirs, err = net.FileConn(other); err != nil {
		_ = mine.Close()
	}
	return mine, theirs, err
}

// stopEngine ends the loops, which closes what is still open, after the last goroutine has left them.
func (s *Server) stopEngine(ctx context.Context) error {
	for _, l := range s.loops {
		l.post(func() {
			s.conns.Range(func(_ uint64, c *Conn) bool {
				if c.loop == l {
					l.end(c, ErrServerClosed)
				}
				return true
			})
		})
	}
	ended := make(chan error, 1)
	go func() {
		s.stopped.Store(true)
		for _, l := range s.loops {
			for l.users.Load() > 0 {
				time.Sleep(100 * time.Microsecond)
			}
		}
		err := s.engine.Stop()
		s.closeAnchors()
		for _, l := range s.loops {
			l.ticker.timer.Stop()
		}
		s.handshakes.ended.Wait() // their connections are gone, so they are about to
		ended <- err
	}()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	select { // it was about to end
	case err := <-ended:
		return err
	case <-time.After(time.Second):
		return fmt.Errorf("netpoll: event loops did not end: %w", ctx.Err())
	}
}

// engineLog passes gnet's lines on; what it calls information is about itself.
type engineLog struct{ log *limitedLog }

func (e engineLog) Debugf(string, ...any) {}
func (e engineLog) Infof(string, ...any)  {}
func (e engineLog) Warnf(f string, a ...any) {
	e.log.to.Debug("netpoll: engine: " + fmt.Sprintf(f, a...))
}
func (e engineLog) Errorf(f string, a ...any) {
	e.log.warn("engine", "netpoll: engine: "+fmt.Sprintf(f, a...))
}
func (e engineLog) Fatalf(f string, a ...any) { e.Errorf(f, a...) }
