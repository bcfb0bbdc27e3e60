package namesrv

import (
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
)

// errPanic is the reason for ending a connection whose request ran into a fault of ours.
var errPanic = errors.New("namesrv: fault while handling a request")

// recovered, deferred, keeps a fault in one connection's request from ending the
// process: that connection ends instead.
func (s *Server) recovered(sess *session, a asked) {
	if r := recover(); r != nil {
		s.panicked(sess, a, r)
	}
}

func (s *Server) panicked(sess *session, a asked, r any) {
	s.counts.panics.Add(1)
	s.answered(a, failedRequest)
	// Each fault is a kind of its own, so that the stack of another one isn't lost.
	s.events.limited(slog.LevelError, fmt.Sprint("panic ", r), "fault while handling a request; its connection ends",
		slog.Any("panic", r), slog.Uint64("conn", sess.conn.ID()), slog.Any("stack", stackNow{}))
	sess.conn.CloseWith(errPanic)
}

// stackNow is the stack of whoever logs it.
type stackNow struct{}

func (stackNow) LogValue() slog.Value { return slog.StringValue(string(debug.Stack())) }
