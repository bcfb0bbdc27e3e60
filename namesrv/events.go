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
	core.EventTopicDeleted:     {level: slog.LevelInfo, text: "topic deleted"},
	core.EventTopicRegistered:  {level: slog.LevelInfo, text: "topic registered by a tool"},
	core.EventWriteWiped:       {level: slog.LevelInfo, text: "broker's topics take no messages any more"},
	core.EventWriteAdded:       {level: slog.LevelInfo, text: "broker's topics take messages again"},
	core.EventKVPut:            {level: slog.LevelInfo, text: "KV value set"},
	core.EventKVDeleted:        {level: slog.LevelInfo, text: "KV value deleted"},
}

// log writes one event. Writer only.
func (l *eventLog) log(e *core.Event) {
	t := eventTexts[e.Kind]
	if e.Kind == core.EventDeadlinesShifted {
		l.logger.Warn(t.text, "lateness", time.Duration(e.LatenessNanos))
		return
	}
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
	attrs := attrsOf(e)
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

// attrsOf is what a line says of an event besides its kind.
func attrsOf(e *core.Event) (attrs []slog.Attr) {
	switch e.Kind {
	case core.EventTopicDeleted, core.EventTopicRegistered:
		return append(attrs, slog.String("topic", short(e.Topic)), slog.String("cluster", short(e.ClusterName)),
			slog.Int("brokers", e.TopicsChanged), slog.Uint64("conn", uint64(e.Conn)))
	case core.EventKVPut, core.EventKVDeleted:
		return append(attrs, slog.String("namespace", short(e.Namespace)), slog.String("key", short(e.Key)), slog.Uint64("conn", uint64(e.Conn)))
	}
	attrs = append(attrs,
		slog.String("cluster", short(e.ClusterName)), slog.String("broker", short(e.BrokerName)), slog.Int64("id", e.BrokerID),
		slog.String("addr", short(e.BrokerAddr)), slog.Uint64("conn", uint64(e.Conn)), slog.Int("topics", e.Topics))
	if e.TopicsChanged > 0 {
		attrs = append(attrs, slog.Int("topicsChanged", e.TopicsChanged))
	}
	return attrs
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
