package namesrv

import (
	"context"
	"errors"

	"github.com/waymark-mq/waymark/netpoll"
)

var (
	errLoopStuck   = errors.New("namesrv: an event loop makes no progress")
	errWriterStuck = errors.New("namesrv: the writer makes no progress")
)

// Alive reports whether every event loop and the writer come to something asked of them before ctx ends; the error says who
// doesn't. A server that starts or stops counts as alive. Any goroutine.
func (s *Server) Alive(ctx context.Context) error {
	if state := s.State(); state == Starting || state == Stopping {
		return nil
	}
	came := make(chan struct{})
	s.pass(change{command: nothing, then: func() { close(came) }}, s.clock.Now())
	if _, err := s.net.Visit(ctx, func(int, netpoll.LoopHandler) {}); err != nil {
		return errLoopStuck
	}
	select {
	case <-came:
		return nil
	case <-s.writerDone: // stopped meanwhile
		return nil
	case <-ctx.Done():
		return errWriterStuck
	}
}
