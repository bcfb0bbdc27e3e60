package namesrv

import (
	"context"
	"log/slog"
	"time"

	"github.com/waymark-mq/waymark/core"
)

// eventLog writes what happens to brokers, one line an event. What repeats with
// every registration is written at debug level or once in a while.
type eventLog struct {
	logger *slog.Logger
	limit  *limiter
}

func newEventLog(logger *slog.Logger, now func() int64) *eventLog {
	return &eventLog{logger, newLimiter(now, time.Minute)}
}

var eventTexts = map[core.EventKind]struct {
	level slog.Level
	text  string
	other string // what Event.Other is
	often bool   // may come with every registration: once a minute for each broker
}{
	core.EventRegistered:     {slog.LevelInfo, "broker registered", "", false},
	core.EventChanged:        {slog.LevelInfo, "broker registered changes", "", false},
	core.EventUnchanged:      {slog.LevelDebug, "broker registered again", "", false},
	core.EventRefused:        {slog.LevelWarn, "registration refused: one topic under an unknown id", "", true},
	core.EventConflict:       {slog.LevelWarn, "registration lost: the slot is held with a greater stateVersion", "holder", true},
	core.EventReplaced:       {slog.LevelWarn, "broker took the slot of another address", "displaced", true},
	core.EventUnregistered:   {slog.LevelInfo, "broker unregistered", "", false},
	core.EventClosed:         {slog.LevelInfo, "broker removed: its connection ended", "", false},
	core.EventExpired:        {slog.LevelWarn, "broker removed: silent for longer than its timeout", "", false},
	core.EventMoved:          {slog.LevelWarn, "address registered under another broker name; the former lost it", "former", false},
	core.EventTwoClusters:    {slog.LevelWarn, "broker name is known in another cluster: both share one entry", "firstCluster", true},
	core.EventTimeoutClamped: {slog.LevelWarn, "heartbeat timeout outside 1 s to 1 year was clamped", "", false},
}

// log writes one event. Writer only.
func (l *eventLog) log(e *core.Event) {
	if e.Kind == core.EventDeadlinesShifted {
		l.logger.Warn("process stood still: every deadline moves by the lateness", "lateness", time.Duration(e.LatenessNanos))
		return
	}
	t := eventTexts[e.Kind]
	if !l.logger.Enabled(context.Background(), t.level) {
		return
	}
	more := 0
	if t.often {
		var ok bool
		if more, ok = l.limit.allow(t.text + "\x00" + e.ClusterName + "\x00" + e.BrokerName); !ok {
			return
		}
	}
	attrs := []slog.Attr{
		slog.String("cluster", e.ClusterName), slog.String("broker", e.BrokerName), slog.Int64("id", e.BrokerID),
		slog.String("addr", e.BrokerAddr), slog.Uint64("conn", uint64(e.Conn)), slog.Int("topics", e.Topics),
	}
	if e.TopicsChanged > 0 {
		attrs = append(attrs, slog.Int("topicsChanged", e.TopicsChanged))
	}
	if t.other != "" {
		attrs = append(attrs, slog.String(t.other, e.Other))
	}
	if more > 0 {
		attrs = append(attrs, slog.Int("notLogged", more))
	}
	l.logger.LogAttrs(context.Background(), t.level, t.text, attrs...)
}

// badOrderConf tells of an order configuration that clients can't read. Any goroutine.
func (l *eventLog) badOrderConf(topic, value string) {
	const most = 200
	if len(value) > most {
		value = value[:most]
	}
	if more, ok := l.limit.allow("orderConf"); ok {
		l.logger.Warn("order configuration would make clients fail", "topic", topic, "value", value, "notLogged", more)
	}
}
