package namesrv

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/waymark-mq/waymark/codec"
	"github.com/waymark-mq/waymark/core"
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

// eventText is how an event is written.
type eventText struct {
	level slog.Level
	text  string
	other string // what Event.Other is
	often bool   // may come with every registration: once a minute for each slot
	deed  bool   // an operator's: his deed is told (chronicle.go), which says who he is
}

var eventTexts = map[core.EventKind]eventText{
	core.EventRegistered:       {level: slog.LevelInfo, text: "broker registered"},
	core.EventChanged:          {level: slog.LevelInfo, text: "broker registered changes"},
	core.EventUnchanged:        {level: slog.LevelDebug, text: "broker registered again"},
	core.EventRefused:          {level: slog.LevelWarn, text: "registration refused: one topic under an unknown id, or too many ids", often: true},
	core.EventConflict:         {level: slog.LevelWarn, text: "registration lost: the slot is held with a greater stateVersion", other: "holder", often: true},
	core.EventReplaced:         {level: slog.LevelWarn, text: "broker took the slot of another address", other: "displaced", often: true},
	core.EventUnregistered:     {level: slog.LevelInfo, text: "broker unregistered"},
	core.EventClosed:           {level: slog.LevelInfo, text: "broker removed: its connection ended"},
	core.EventExpired:          {level: slog.LevelWarn, text: "broker removed: silent for longer than its timeout"},
	core.EventMoved:            {level: slog.LevelWarn, text: "address registered under another broker name; the former lost it", other: "former", often: true},
	core.EventTwoClusters:      {level: slog.LevelWarn, text: "broker name is known in another cluster: both share one entry", other: "firstCluster", often: true},
	core.EventTimeoutClamped:   {level: slog.LevelWarn, text: "heartbeat timeout outside 1 s to 1 year was clamped", often: true},
	core.EventDeadlinesShifted: {level: slog.LevelWarn, text: "process stood still: every deadline moves by the lateness"},
	core.EventPartsDelete: {level: slog.LevelWarn, text: "registration of a known version took topics off: with deleteTopicWithBrokerRegistration " +
		"each part of a split registration takes off those of the others", often: true},
	core.EventExpiryHeld:        {level: slog.LevelWarn, text: "expiry held: too many brokers are silent at once while their connections are open"},
	core.EventExpiryGuardEnded:  {level: slog.LevelWarn, text: "expiry guard ended: no broker is suspect any more"},
	core.EventTopicDeleted:      {text: "topic deleted", deed: true},
	core.EventTopicRegistered:   {text: "topic registered by a tool", deed: true},
	core.EventWriteWiped:        {text: "broker's topics take no messages any more", deed: true},
	core.EventWriteAdded:        {text: "broker's topics take messages again", deed: true},
	core.EventKVPut:             {text: "KV value set", deed: true},
	core.EventKVDeleted:         {text: "KV value deleted", deed: true},
	core.EventRestored:          {level: slog.LevelInfo, text: "routes of an earlier process restored: provisional until their brokers register"},
	core.EventUnconfirmed:       {level: slog.LevelWarn, text: "restored broker removed: it has not registered"},
	core.EventRefusedConnection: {level: slog.LevelWarn, text: "restored broker removed: its address refuses connections"},
	core.EventRestoreEnded:      {level: slog.LevelInfo, text: "restored routes are confirmed or gone"},
}

// log writes one event. Writer only.
func (l *eventLog) log(e *core.Event) {
	t := eventTexts[e.Kind]
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
	case core.EventRestored:
		l.logger.Info(t.text, "brokers", e.Brokers, "topics", e.Topics)
		return
	case core.EventRestoreEnded:
		l.logger.Info(t.text, "confirmed", e.Brokers, "of", e.AllBrokers, "queuesRemoved", e.TopicsChanged, "topicsGone", len(e.Gone))
		return
	}
	if t.deed || !l.logger.Enabled(context.Background(), t.level) {
		return
	}
	more := 0
	if t.often {
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
func short(s string) string {
	const most = 200
	if len(s) <= most {
		return s
	}
	return s[:most] + "…"
}
