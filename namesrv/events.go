package namesrv

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/waymark-mq/waymark/core"
)

// eventLog writes what happens to brokers, one line an event. What repeats with
// every registration is written at debug level or once in a while.
type eventLog struct {
	logger *slog.Logger
	limit  *limiter
	burst  burst
}

func newEventLog(logger *slog.Logger, now func() int64) *eventLog {
	return &eventLog{logger: logger, limit: newLimiter(now, time.Minute), burst: burst{now: now, left: burstLines, last: now()}}
}

// eventText is how an event is written.
type eventText struct {
	level slog.Level
	text  string
	other string // what Event.Other is
	often bool   // may come with every registration: once a minute for each slot
}

var eventTexts = map[core.EventKind]eventText{
	core.EventRegistered:     {level: slog.LevelInfo, text: "broker registered"},
	core.EventChanged:        {level: slog.LevelInfo, text: "broker registered changes"},
	core.EventUnchanged:      {level: slog.LevelDebug, text: "broker registered again"},
	core.EventRefused:        {level: slog.LevelWarn, text: "registration refused: one topic under an unknown id, or too many ids", often: true},
	core.EventConflict:       {level: slog.LevelWarn, text: "registration lost: the slot is held with a greater stateVersion", other: "holder", often: true},
	core.EventReplaced:       {level: slog.LevelWarn, text: "broker took the slot of another address", other: "displaced", often: true},
	core.EventUnregistered:   {level: slog.LevelInfo, text: "broker unregistered"},
	core.EventClosed:         {level: slog.LevelInfo, text: "broker removed: its connection ended"},
	core.EventExpired:        {level: slog.LevelWarn, text: "broker removed: silent for longer than its timeout"},
	core.EventMoved:          {level: slog.LevelWarn, text: "address registered under another broker name; the former lost it", other: "former", often: true},
	core.EventTwoClusters:    {level: slog.LevelWarn, text: "broker name is known in another cluster: both share one entry", other: "firstCluster", often: true},
	core.EventTimeoutClamped: {level: slog.LevelWarn, text: "heartbeat timeout outside 1 s to 1 year was clamped", often: true},
	core.EventPartsDelete: {level: slog.LevelWarn, text: "registration of a known version took topics off: with deleteTopicWithBrokerRegistration " +
		"each part of a split registration takes off those of the others", often: true},
}

// log writes one event. Writer only.
func (l *eventLog) log(e *core.Event) {
	switch e.Kind { // these name no broker
	case core.EventDeadlinesShifted:
		l.logger.Warn("process stood still: every deadline moves by the lateness", "lateness", time.Duration(e.LatenessNanos))
		return
	case core.EventExpiryHeld:
		l.logger.Warn("expiry held: too many brokers are silent at once while their connections are open", "brokers", e.Brokers, "of", e.AllBrokers)
		return
	case core.EventExpiryGuardEnded:
		l.logger.Warn("expiry guard ended: no broker is suspect any more", "held", e.Brokers, "expired", e.Expired)
		return
	}
	t := eventTexts[e.Kind]
	if !l.logger.Enabled(context.Background(), t.level) {
		return
	}
	more := 0
	if t.often {
		var ok bool
		if more, ok = l.limit.allow(fmt.Sprintf("%d %q %q %d", e.Kind, short(e.ClusterName), short(e.BrokerName), e.BrokerID)); !ok {
			return
		}
	}
	others, ok := l.burst.allow()
	if !ok {
		return
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
	if others > 0 {
		attrs = append(attrs, slog.Int("otherEventsNotLogged", others))
	}
	l.logger.LogAttrs(context.Background(), t.level, t.text, attrs...)
}

// badOrderConf tells of an order configuration that clients can't read. Any goroutine.
func (l *eventLog) badOrderConf(topic, value string) {
	if more, ok := l.limit.allow("orderConf " + topic); ok {
		l.logger.Warn("order configuration would make clients fail", "topic", short(topic), "value", short(value), "notLogged", more)
	}
}

// productFailed tells that the product environment couldn't be asked. Any goroutine.
func (l *eventLog) productFailed(err error) {
	if more, ok := l.limit.allow("product"); ok {
		l.logger.Warn("product environment not asked", "error", err, "notLogged", more)
	}
}

// short cuts what a peer sent to what a log line can bear.
func short(s string) string {
	const most = 200
	if len(s) <= most {
		return s
	}
	return s[:most] + "…"
}
