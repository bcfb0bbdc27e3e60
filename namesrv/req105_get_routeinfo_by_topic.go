package namesrv

import (
	"bytes"

	"github.com/waymark-mq/waymark/codec"
	"github.com/waymark-mq/waymark/core"
)

// maxScratchBytes is how much memory for remarks a loop keeps.
const maxScratchBytes = 64 << 10

// getRouteInfoByTopic answers GET_ROUTEINFO_BY_TOPIC (105): brokers and queues of a topic.
//
// Request:  topic string required, acceptStandardJsonOnly bool, __ZONE_NAME string, __ZONE_MODE bool; no body.
// Response: 0 TopicRouteData; 17 with a remark when the topic has no route; 1 "name server not ready"
// while needWaitForService holds clients back, and for a topic without a route while the server drains, stops or, with
// notReadyWithoutBrokers, has no broker; 2 when too much is unsent, or the peer has asked for too many topics without a route
// (maxMissesPerSecondPerAddress).
// Versions: from 401 (V4_9_4) on, or with acceptStandardJsonOnly, integer keys are quoted.
// Effects:  none. One atomic load, no lock, no allocation.
// Source:   Apache RocketMQ 5.5.0, recorded in conformance/testdata.
// Differs:  a zone-filtered answer keeps the negotiated dialect; a server that is leaving says of no topic that it doesn't exist.
func (l *loop) getRouteInfoByTopic(dst []byte) []byte {
	switch {
	case l.cmd.IsOneway():
		return dst
	case l.waits(l.settings.Load(), l.now):
		return l.fail(dst, codec.ResponseSystemError, remarkNotReady)
	case l.session.conn.Overloaded():
		return l.busy(dst)
	}
	topic, named := l.cmd.Field("topic")
	if !named {
		topic = []byte("null")
	}
	start := len(dst)
	dst = codec.AppendSuccessStart(dst, l.serializeType, l.cmd.Opaque)
	dst, tail, found := l.table.Load().AppendRouteHead(dst, topic, l.routeOptions())
	switch {
	case found && named:
		if len(tail) > largeAnswerBytes && l.session.conn.LoopOverloaded() {
			return l.busy(dst[:start])
		}
		if tail != nil {
			l.session.conn.Follow(tail)
		}
		return codec.FinishFrameBefore(dst, start, len(tail))
	}
	if limit := l.guard.misses; limit != nil && l.tooManyMisses(limit) {
		return l.busy(dst[:start])
	}
	if named && l.askProduct(topic) {
		return dst[:start]
	}
	if l.unsure() {
		return l.fail(dst[:start], codec.ResponseSystemError, remarkNotReady)
	}
	return l.topicNotExist(dst[:start], topic)
}

func (l *loop) routeOptions() core.RouteOptions {
	var o core.RouteOptions
	if l.cmd.Version < codec.VersionStandardJSON {
		if standard, _ := l.cmd.Bool("acceptStandardJsonOnly"); !standard {
			o.Dialect = codec.Legacy
		}
	}
	if zoned, _ := l.cmd.Bool("__ZONE_MODE"); zoned {
		if zone, ok := l.cmd.Field("__ZONE_NAME"); ok && len(bytes.TrimSpace(zone)) > 0 {
			o.Zone = zone
		}
	}
	return o
}

func (l *loop) topicNotExist(dst, topic []byte) []byte {
	l.scratch = append(l.scratch[:0], remarkNoTopic...)
	l.scratch = append(l.scratch, topic...)
	l.scratch = append(l.scratch, remarkNoTopicHelp...)
	dst = l.fail(dst, codec.ResponseTopicNotExist, viewString(l.scratch))
	if cap(l.scratch) > maxScratchBytes {
		l.scratch = nil
	}
	return dst
}
