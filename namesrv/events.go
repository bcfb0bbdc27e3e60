package namesrv

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/waymark-mq/waymark/codec"
	"github.com/waymark-mq/waymark/core"
	"github.com/waymark-mq/waymark/internal/excerpt"
	"github.com/waymark-mq/waymark/namesrv/access"
)

// eventLog writes what happens to brokers, one line an event, and what else peers, the disk or faults of ours bring about. What repeats
// with every registration is written at debug level or once in a while. Each kind of line has an allowance of its own: no peer can
// keep one from being written by bringing about others.
type eventLog struct {
	logger *slog.Logger
	events [core.EventKinds]*allowance // by core.EventKind
	kinds  [lineKinds]*allowance
}

// lineKind is a kind of line that is no event of the table.
type lineKind int

const (
	lineDone      lineKind = iota // an operator's request that was carried out
	lineFailed                    // one that has failed
	lineAccess                    // a request that a rule of access is against
	lineMisses                    // too many queries of topics without a route
	lineRejected                  // a registration that doesn't come to the table
	lineAddress                   // a doubtful address of a broker
	lineOrderConf                 // an order configuration that clients can't read
	lineProduct                   // the product environment wasn't asked
	lineFile                      // a file couldn't be written
	lineFault                     // a fault of ours
	lineTurn                      // a broker that became suspect, or isn't any more
	lineNotProbed                 // a broker whose address may not be probed
	lineKeepAlive                 // a connection that the kernel doesn't look after
	lineKinds
)

func newEventLog(logger *slog.Logger, now func() int64) *eventLog {
	l := &eventLog{logger: logger}
	for i := range l.events {
		l.events[i] = newAllowance(now, burstLines, burstPeriod)
	}
	for i := range l.kinds {
		l.kinds[i] = newAllowance(now, otherLines, otherPeriod)
	}
	l.kinds[lineDone] = newAllowance(now, burstLines, burstPeriod)
	return l
}

// Events of a kind, and operators' changes, are logged up to a thousand at once, then a hundred a second; of any other kind up to two
// hundred, then one a second.
const (
	burstLines  = 1000
	burstPeriod = 10 * time.Millisecond
	otherLines  = 200
	otherPeriod = time.Second
)

// log writes one event. Writer only.
func (l *eventLog) log(e *core.Event) {
	t := &eventKinds[e.Kind]
	switch e.Kind { // these name no broker
	case core.EventDeadlinesShifted:
		if more, ok := l.events[e.Kind].of(""); ok {
			l.logger.Warn(t.text, "lateness", time.Duration(e.LatenessNanos), "notLogged", more)
		}
		return
	case core.EventExpiryHeld:
		l.logger.Warn(t.text, "brokers", e.Brokers, "of", e.AllBrokers)
		return
	case core.EventExpiryGuardEnded:
		l.logger.Warn(t.text, "held", e.Brokers, "expired", e.Expired)
		return
	case core.EventRestored:
		l.logger.Info(t.text, "brokers", e.Brokers, "topics", e.Topics)
		return
	case core.EventRestoreEnded:
		l.logger.Info(t.text, "confirmed", e.Brokers, "of", e.AllBrokers, "queuesRemoved", e.TopicsChanged)
		return
	}
	if t.deed || !l.logger.Enabled(context.Background(), t.level) {
		return
	}
	more := 0
	if t.often || e.Kind == core.EventChanged && e.TopicsChanged == 0 { // two brokers that share a slot change it all the time
		var ok bool
		if more, ok = l.events[e.Kind].of(fmt.Sprintf("%q %q %d", short(e.ClusterName), short(e.BrokerName), e.BrokerID)); !ok {
			return
		}
	}
	attrs := []slog.Attr{
		slog.String("cluster", short(e.ClusterName)), slog.String("broker", short(e.BrokerName)), slog.Int64("id", e.BrokerID),
		slog.String("addr", short(e.BrokerAddr)), slog.Uint64("conn", uint64(e.Conn)), slog.Int("topics", e.Topics),
	}
	if e.TopicsChanged > 0 {
		attrs = append(attrs, slog.Int("topicsChanged", e.TopicsChanged))
	}
	if t.other != "" {
		attrs = append(attrs, slog.String(t.other, short(e.Other)))
	}
	if more > 0 {
		attrs = append(attrs, slog.Int("notLogged", more))
	}
	l.line(l.events[e.Kind], t.level, t.text, attrs)
}

// done tells of an operator's request that was carried out: one line, or one for each setting. Writer only.
func (l *eventLog) done(d *deed) {
	level, text := slog.LevelDebug, "an operator's request changed nothing"
	if d.changed {
		level, text = slog.LevelInfo, "changed by an operator's request"
		if access.GroupOf(d.Code) == access.Both {
			text = "changed by an operator's or a broker's request"
		}
	}
	if !l.logger.Enabled(context.Background(), level) {
		return
	}
	if d.keys == nil {
		l.line(l.kinds[lineDone], level, text, d.attrs())
	}
	for _, c := range d.keys {
		l.line(l.kinds[lineDone], level, "configuration changed", []slog.Attr{
			slog.String("key", short(c.Key)), slog.String("from", short(c.Old)), slog.String("to", short(c.New)),
			slog.Bool("needsRestart", c.NeedsRestart), slog.Bool("ignored", c.Ignored), slog.String("by", d.From),
		})
	}
}

func (l *eventLog) line(a *allowance, level slog.Level, text string, attrs []slog.Attr) {
	others, ok := a.burst.allow()
	if !ok {
		return
	}
	if others > 0 {
		attrs = append(attrs, slog.Int("otherEventsNotLogged", others))
	}
	l.logger.LogAttrs(context.Background(), level, text, attrs...)
}

// limited writes a line once a minute for each subject of its kind, and so many of the kind as otherLines says. It reports whether the
// line was let through. Any goroutine.
func (l *eventLog) limited(kind lineKind, level slog.Level, subject, text string, attrs ...slog.Attr) bool {
	a := l.kinds[kind]
	more, ok := a.of(subject)
	if !ok {
		return false
	}
	others, ok := a.burst.allow()
	if !ok {
		return false
	}
	if more > 0 {
		attrs = append(attrs, slog.Int("notLogged", more))
	}
	if others > 0 {
		attrs = append(attrs, slog.Int("otherLinesNotLogged", others))
	}
	l.logger.LogAttrs(context.Background(), level, text, attrs...)
	return true
}

// failed tells of an operator's request that changed nothing.
func (l *eventLog) failed(d *deed) {
	l.limited(lineFailed, slog.LevelWarn, fmt.Sprint(d.Code), "an operator's request has failed; nothing has changed",
		append(d.attrs(), slog.Int("result", int(*d.Result)), slog.String("remark", short(d.Remark)))...)
}

// against tells of a request that a rule of access is against.
func (l *eventLog) against(code int32, v verdict) {
	text := "request let through that would be refused if the setting's mode were enforce"
	if v.Refused {
		text = "request refused"
	}
	l.limited(lineAccess, slog.LevelWarn, fmt.Sprint(v.from, " ", code), text, slog.String("setting", v.By), slog.Int("code", int(code)),
		slog.String("request", codec.RequestName(code)), slog.String("from", v.from))
}

// tooManyMisses tells of an address that has used up its share of them.
func (l *eventLog) tooManyMisses(from string, perSecond int) {
	l.limited(lineMisses, slog.LevelWarn, from, "too many queries of topics without a route", slog.String("from", from), slog.Int("limitPerSecond", perSecond))
}

// fileFailed tells of a file that couldn't be written; what is its subject.
func (l *eventLog) fileFailed(what string, err error) {
	l.limited(lineFile, slog.LevelError, what, what, slog.Any("error", err))
}

// badOrderConf tells of an order configuration that clients can't read.
func (l *eventLog) badOrderConf(topic, value string) {
	l.limited(lineOrderConf, slog.LevelWarn, topic, "order configuration would make clients fail", slog.String("topic", short(topic)), slog.String("value", short(value)))
}

// productFailed tells that the product environment couldn't be asked.
func (l *eventLog) productFailed(err error) {
	l.limited(lineProduct, slog.LevelWarn, "", "product environment not asked", slog.Any("error", err))
}

// short cuts what a peer sent to what a log line can bear.
func short(s string) string { return excerpt.Of(s, maxLogText) }

// maxLogText bounds a text of a log line, in bytes.
const maxLogText = 200
