package namesrv

import (
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"

	"github.com/waymark-mq/waymark/core"
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

// recoveredHolding is recovered for a request that holds its connection's order and so many bytes of the budget until *held is false.
func (s *Server) recoveredHolding(sess *session, a asked, bytes int64, held *bool) {
	r := recover()
	if r == nil {
		return
	}
	s.panicked(sess, a, r)
	if *held {
		s.release(sess, bytes)
	}
}

// survived, deferred, keeps a fault in what follows a request, which stands, from ending the process.
func (s *Server) survived(what string) {
	if r := recover(); r != nil {
		s.fault(r, what)
	}
}

// panicked ends the request of a fault r. sess is nil for what is no connection's.
func (s *Server) panicked(sess *session, a asked, r any) {
	s.answered(a, failedRequest)
	if sess == nil {
		s.fault(r, "fault in a command of the server's own")
		return
	}
	s.fault(r, "fault while handling a request; its connection ends", slog.Uint64("conn", sess.conn.ID()))
	sess.conn.CloseWith(errPanic)
}

// fault counts a fault r and tells of it. Any goroutine, within the function that recovered it.
func (s *Server) fault(r any, what string, attrs ...slog.Attr) {
	s.counts.panics.Add(1)
	// Each fault is a subject of its own, so that the stack of another one isn't lost.
	s.events.limited(lineFault, slog.LevelError, fmt.Sprint(r), what, append(attrs, slog.Any("panic", r), slog.Any("stack", stackNow{}))...)
}

// stackNow is the stack of whoever logs it.
type stackNow struct{}

func (stackNow) LogValue() slog.Value { return slog.StringValue(string(debug.Stack())) }

// mustStep steps the table. A fault in a step can't be survived: the writer's indexes may be half changed, and a table that goes on
// with them could be wrong for as long as it lives. What a new process has lost comes back with the brokers' next registrations.
func (w *writer) mustStep(now int64, commands []core.Command, changes []change) {
	defer func() {
		r := recover()
		if r == nil {
			return
		}
		w.counts.panics.Add(1)
		command, peer := w.table.Applying(), ""
		if command < len(changes) && changes[command].session != nil {
			peer = changes[command].session.conn.RemoteAddr()
		}
		w.logger.Error("fault in a step of the table: the process can't go on", "panic", r, "command", fmt.Sprintf("%T", commands[command]), "peer", peer, "stack", stackNow{})
		w.fatal(fmt.Errorf("namesrv: fault in a step of the table: %v", r))
	}()
	w.table.Step(now, commands, &w.out)
}
