package namesrv

import (
	"context"
	"time"

	"github.com/waymark-mq/waymark/codec"
	"github.com/waymark-mq/waymark/namesrv/access"
	"github.com/waymark-mq/waymark/namesrv/audit"
	"github.com/waymark-mq/waymark/namesrv/settings"
)

// openAudit opens the audit file, if there is to be one.
func (s *Server) openAudit(c *settings.Settings) (err error) {
	if c.AuditLogPath == "" {
		return nil
	}
	s.audit, err = audit.Open(audit.Options{
		Path: c.AuditLogPath, MaxMegabytes: c.AuditLogMaxMegabytes, MaxBackups: c.AuditLogMaxBackups, Now: s.wall,
		Failed: func(err error, _ int) { s.events.fileFailed("audit file not written; lines are lost", err) },
	})
	if err == nil {
		s.table.TellEdits()
	}
	return err
}

// auditFlushTime bounds the wait for the disk at the end.
const auditFlushTime = 5 * time.Second

func (s *Server) closeAudit() {
	ctx, cancel := context.WithTimeout(context.Background(), auditFlushTime)
	defer cancel()
	if err := s.audit.Close(ctx); err != nil {
		s.logger.Error("audit file not closed", "error", err)
	}
}

// The records of refused, of observed and of failed requests are bounded, so that a flood of them can't push the others out of the files
// that are kept: of each a thousand at once, then one a second.
const (
	mostRefusals  = 1000
	refusalPeriod = time.Second
)

func newRefusals(now func() int64) map[audit.Event]*sharedBurst {
	bursts := map[audit.Event]*sharedBurst{}
	for _, event := range []audit.Event{audit.Refused, audit.Observed, audit.Failed} {
		bursts[event] = &sharedBurst{burst: newBurst(now, mostRefusals, refusalPeriod)}
	}
	return bursts
}

func (s *Server) writeRefusal(r *audit.Record) {
	if s.audit == nil {
		return
	}
	skipped, ok := s.refusals[r.Event].allow()
	if !ok {
		return
	}
	r.Skipped = skipped
	s.audit.Write(r)
}

// writeAgainst writes down a request that a rule is against. Loop only.
func (l *loop) writeAgainst(event audit.Event, v access.Verdict) {
	d := newDeed(l.session.conn, &l.cmd)
	d.Event, d.By = event, v.By
	if v.Refused {
		code := codec.ResponseNoPermission
		d.Result = &code
	}
	l.writeRefusal(&d.Record)
}

// failed tells of an operator's request that has changed nothing, for the reason in the reply. Any goroutine; d may be nil.
func (s *Server) failed(d *deed, r *reply) {
	if d == nil || !access.GroupOf(d.Code).Operators() {
		return
	}
	d.Before, d.After = nil, nil
	d.Event, d.Result, d.Remark = audit.Failed, &r.code, audit.Text(r.remark)
	s.events.failed(d)
	s.writeRefusal(&d.Record)
}

// declined tells of an operator's request that is answered without a look at what it asks for, since too much waits or the server is about
// to stop. Without an audit file it is told of once a minute for each connection and code, which costs no more. Loop only.
func (l *loop) declined(r *reply) {
	if access.GroupOf(l.cmd.Code).Operators() && (l.audit != nil || l.peer().due(l.cmd.Code, l.now)) {
		l.failed(newDeed(l.session.conn, &l.cmd), r)
	}
}
