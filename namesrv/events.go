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

// eventLog writes what happens to brokers, one line an event. What repeats with
// every registration is written at debug level or once in a while.
type eventLog struct {
	logger     *slog.Logger
	limit      *limiter
	burst      burst       // of what the writer tells
	rejections sharedBurst // of registrations
	others     sharedBurst // of what others tell
}

func newEventLog(logger *slog.Logger, now func() int64) *eventLog {
	return &eventLog{
		logger: logger, limit: newLimiter(now, time.Minute), burst: newBurst(now, burstLines, burstPeriod),
		rejections: sharedBurst{burst: newBurst(now, otherLines, otherPeriod)},
		others:     sharedBurst{burst: newBurst(now, otherLines, otherPeriod)},
	}
}

// Events are logged up to a thousand at once, then a hundred a second; rejected registrations, and what else peers bring about, up to two hundred each, then one a second.
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
		if more, ok := l.limit.allow("stood still"); ok {
			l.logger.Warn(t.text, "lateness", time.Duration(e.LatenessNanos), "notLogged", more)
		}
		return
	case core.EventExpiryHeld:
		l.logger.Warn(t.text, "brokers", e.Brokers, "of", e.AllBrokers)
		return
	case core.EventExpiryGuardEnded:
		l.logger.Warn(t.text, "held", e.Brokers, "expired", e.Expired)
		return
	}
	if t.deed || !l.logger.Enabled(context.Background(), t.level) {
		return
	}
	more := 0
	if t.often || e.Kind == core.EventChanged && e.TopicsChanged == 0 { // two brokers that share a slot change it all the time
		var ok bool
		if more, ok = l.limit.allow(fmt.Sprintf("%d %q %q %d", e.Kind, short(e.ClusterName), short(e.BrokerName), e.BrokerID)); !ok {
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
	l.line(t.level, t.text, attrs)
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
		l.line(level, text, d.attrs())
	}
	for _, c := range d.keys {
		l.line(level, "configuration changed", []slog.Attr{
			slog.String("key", short(c.Key)), slog.String("from", short(c.Old)), slog.String("to", short(c.New)),
			slog.Bool("needsRestart", c.NeedsRestart), slog.Bool("ignored", c.Ignored), slog.String("by", d.From),
		})
	}
}

func (l *eventLog) line(level slog.Level, text string, attrs []slog.Attr) {
	others, ok := l.burst.allow()
	if !ok {
		return
	}
	if others > 0 {
		attrs = append(attrs, slog.Int("otherEventsNotLogged", others))
	}
	l.logger.LogAttrs(context.Background(), level, text, attrs...)
}

// limited writes a line once a minute for each kind, and so many of all kinds as otherLines says. Any goroutine.
func (l *eventLog) limited(level slog.Level, kind, text string, attrs ...slog.Attr) {
	l.within(&l.others, level, kind, text, attrs...)
}

// within is limited with a burst of its own; it reports whether the line was let through.
func (l *eventLog) within(b *sharedBurst, level slog.Level, kind, text string, attrs ...slog.Attr) bool {
	more, ok := l.limit.allow(kind)
	if !ok {
		return false
	}
	others, ok := b.allow()
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
	l.limited(slog.LevelWarn, fmt.Sprint("failed ", d.Code), "an operator's request has failed; nothing has changed",
		append(d.attrs(), slog.Int("result", int(*d.Result)), slog.String("remark", short(d.Remark)))...)
}

// against tells of a request that a rule of access is against.
func (l *eventLog) against(code int32, v verdict) {
	text := "request let through that would be refused if the setting's mode were enforce"
	if v.Refused {
		text = "request refused"
	}
	l.limited(slog.LevelWarn, fmt.Sprint("access ", v.from, " ", code), text, slog.String("setting", v.By), slog.Int("code", int(code)),
		slog.String("request", codec.RequestName(code)), slog.String("from", v.from))
}

// tooManyMisses tells of an address that has used up its share of them.
func (l *eventLog) tooManyMisses(from string, perSecond int) {
	l.limited(slog.LevelWarn, "misses "+from, "too many queries of topics without a route", slog.String("from", from), slog.Int("limitPerSecond", perSecond))
}

// fileFailed tells of a file that couldn't be written; what is its kind.
func (l *eventLog) fileFailed(what string, err error) {
	l.limited(slog.LevelError, "file "+what, what, slog.Any("error", err))
}

// badOrderConf tells of an order configuration that clients can't read.
func (l *eventLog) badOrderConf(topic, value string) {
	l.limited(slog.LevelWarn, "orderConf "+topic, "order configuration would make clients fail", slog.String("topic", short(topic)), slog.String("value", short(value)))
}

// productFailed tells that the product environment couldn't be asked.
func (l *eventLog) productFailed(err error) {
	l.limited(slog.LevelWarn, "product", "product environment not asked", slog.Any("error", err))
}

// short cuts what a peer sent to what a log line can bear.
func short(s string) string { return excerpt.Of(s, maxLogText) }

// maxLogText bounds a text of a log line, in bytes.
const maxLogText = 200
