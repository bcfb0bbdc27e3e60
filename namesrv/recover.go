package namesrv

import (
	"errors"
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
	s.answered(a, failedRequest)
	if more, ok := s.events.limit.allow("panic"); ok {
		s.logger.Error("fault while handling a request; its connection ends", "panic", r, "conn", sess.conn.ID(), "notLogged", more, "stack", string(debug.Stack()))
	}
	sess.conn.CloseWith(errPanic)
}
