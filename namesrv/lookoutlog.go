package namesrv

import (
	"log/slog"
	"time"

	"github.com/waymark-mq/waymark/namesrv/settings"
	life "github.com/waymark-mq/waymark/namesrv/verdict"
)

const (
	kindSuspected = "suspected"
	kindTrusted   = "trusted"
	textSuspected = "broker suspect: it has stopped to answer probes"
	textTrusted   = "broker not suspect any more: it answers, or shows life"
)

// startLookout begins to look for deaths, if settings want that, and says what comes of it.
func (s *Server) startLookout(c *settings.Settings) {
	switch {
	case c.ProbeIntervalMillis > 0:
		s.logger.Info("brokers are probed", "every", time.Duration(c.ProbeIntervalMillis)*time.Millisecond, "removes", c.ProbeRemoves,
			"after", time.Duration(c.ProbeRemoveAfterMillis)*time.Millisecond)
	case c.ProbeRemoves && (s.lookout == nil || !c.PeerOfflineProbe):
		s.logger.Warn("probeRemoves has no effect: probeIntervalMillis is 0, and no peer's word has brokers probed")
	}
	if s.lookout != nil {
		s.lookout.start()
	}
}

// turned tells of a broker that became suspect, or isn't any more: an event each time, and a line once a minute for each broker.
func (s *Server) turned(t *life.Turn) {
	e := Event{
		Kind: kindTrusted, Text: textTrusted, Cluster: bounded(t.ClusterName), Broker: bounded(t.BrokerName), Addr: bounded(t.BrokerAddr), BrokerID: t.BrokerID,
	}
	level := slog.LevelInfo
	if t.Suspect {
		e.Kind, e.Text, level = kindSuspected, textSuspected, slog.LevelWarn
	}
	silent := time.Duration(t.Silent).Round(time.Millisecond)
	e.Detail = "last sign of life " + silent.String() + " ago"
	s.addEvent(e)
	s.events.limited(lineTurn, level, e.Kind+" "+e.Cluster+" "+e.Addr, e.Text,
		slog.String("cluster", short(e.Cluster)), slog.String("broker", short(e.Broker)), slog.Int64("id", e.BrokerID),
		slog.String("addr", short(e.Addr)), slog.Duration("silent", silent))
}

// notProbed tells of a broker at an address that nobody has allowed, and why, which is short; its metric and the API go on telling.
func (l *eventLog) notProbed(b *life.Broker, why string) {
	l.limited(lineNotProbed, slog.LevelWarn, short(b.ClusterName)+" "+short(b.BrokerAddr), "broker isn't probed", slog.String("cluster", short(b.ClusterName)),
		slog.String("broker", short(b.BrokerName)), slog.Int64("id", b.BrokerID), slog.String("addr", short(b.BrokerAddr)), slog.String("why", why))
}

// keepAliveFailed tells of a connection that the kernel couldn't be told to look after.
func (l *eventLog) keepAliveFailed(err error) {
	l.limited(lineKeepAlive, slog.LevelWarn, "", "brokerKeepAliveSeconds has no effect on a connection", slog.Any("error", err))
}
