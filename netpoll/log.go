package netpoll

import (
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"

	"github.com/waymark-mq/waymark/internal/linelimit"
)

const (
	logEvery     = 10 * time.Second
	rubbishEvery = time.Minute // of ends that anybody who reaches the port can cause at will
)

// limitedLog writes one line of a kind at once and then at most one in a while, with the number left out.
type limitedLog struct {
	to    *slog.Logger
	kinds *linelimit.Kinds
}

func newLimitedLog(to *slog.Logger, now func() int64) *limitedLog {
	return &limitedLog{to: to, kinds: linelimit.New(now)}
}

// warn writes at most one line of the kind in ten seconds.
func (l *limitedLog) warn(kind, text string, args ...any) { l.warnEvery(logEvery, kind, text, args...) }

func (l *limitedLog) warnEvery(every time.Duration, kind, text string, args ...any) {
	if skipped, _, ok := l.kinds.Allow(kind, every); ok {
		if skipped > 0 {
			args = append(args, "skipped", skipped)
		}
		l.to.Warn(text, args...)
	}
}

// logClose tells of ends that an operator should hear of; ordinary ones are counted only.
func (s *Server) logClose(c *Conn, reason error) {
	switch kind := kindOf(reason); kind {
	case closedByPeer, closedByUs, closedByStop, closedIdle, closedSocket, closedPanic, closedDrained:
	case closedForeign:
		f, _ := errors.AsType[*ForeignError](reason)
		s.log.warnEvery(rubbishEvery, "foreign "+f.Protocol, "netpoll: connection closed, the peer speaks another protocol",
			"peer", c.RemoteAddr(), "protocol", f.Protocol, "meant", f.Meant)
	case closedTLS, closedProxy, closedBadFrame, closedProxyUntrusted, closedPlaintext, closedTLSHandshake, closedTLSTimeout, closedTLSBusy, closedTLSRecord:
		s.log.warnEvery(rubbishEvery, closeKindNames[kind], "netpoll: connection closed", "peer", c.RemoteAddr(), "reason", reason)
	default:
		s.log.warn(closeKindNames[kind], "netpoll: connection closed", "peer", c.RemoteAddr(), "reason", reason)
	}
}

// logPanic writes the stack at the first panic of a kind (its text), then one line from time to time.
func (s *Server) logPanic(c *Conn, r any) {
	kind := fmt.Sprintf("panic %T %.100v", r, r)
	skipped, first, ok := s.log.kinds.Allow(kind, logEvery)
	if !ok {
		return
	}
	args := []any{"panic", fmt.Sprintf("%.1000v", r)}
	if c != nil {
		args = append(args, "peer", c.RemoteAddr())
	}
	if first {
		args = append(args, "stack", string(debug.Stack()))
	} else {
		args = append(args, "skipped", skipped)
	}
	s.opts.Logger.Error("netpoll: handler panicked", args...)
}

// logFreeze says, once for all loops, that the process stood still.
func (s *Server) logFreeze(late time.Duration) {
	s.log.warn("freeze", "netpoll: the process stood still, deadlines moved", "by", late.Round(time.Millisecond))
}
