package namesrv

import (
	"github.com/valyala/bytebufferpool"

	"github.com/waymark-mq/waymark/codec"
	"github.com/waymark-mq/waymark/core"
)

const (
	// largeListBytes is the size from which on a list answer is encoded and sent off
	// the loop, so that the other connections of the loop don't wait for it.
	largeListBytes = 64 << 10
	// maxListJobs bounds the list answers that wait to be encoded.
	maxListJobs = 1024
)

// listJob is a list answer to be made off the loop.
type listJob struct {
	session  *session
	opaque   int32
	snapshot *core.Snapshot
	encode   func(*core.Snapshot) []byte
}

// list answers with a list made from the snapshot: on the loop if it is small,
// else by the list encoder, during which the connection is paused.
func (l *loop) list(dst []byte, encode func(*core.Snapshot) []byte) []byte {
	if l.session.conn.Overloaded() {
		return l.busy(dst)
	}
	s := l.table.Load()
	if s.ListBound() <= largeListBytes {
		return l.succeed(dst, encode(s))
	}
	select {
	case l.listJobs <- listJob{l.session, l.cmd.Opaque, s, encode}:
		l.session.conn.Pause()
		return dst
	default:
		return l.busy(dst)
	}
}

// runLists encodes large list answers one after the other.
func (s *Server) runLists() {
	defer close(s.listsDone)
	for {
		select {
		case j := <-s.listJobs:
			buf := bytebufferpool.Get()
			buf.B = appendSuccess(buf.B, s.serializeType, j.opaque, j.encode(j.snapshot))
			j.session.conn.SendBuffer(buf)
			j.session.conn.Resume()
		case <-s.listsStop:
			return
		}
	}
}

// getAllTopicList answers GET_ALL_TOPIC_LIST_FROM_NAMESERVER (206).
//
// Request:  nothing. Response: 0 {"topicList":[…]}; 1 "disable" with enableAllTopicList=false.
func (l *loop) getAllTopicList(dst []byte) []byte {
	if !l.settings.Load().EnableAllTopicList {
		return l.fail(dst, codec.ResponseSystemError, remarkDisabled)
	}
	return l.list(dst, (*core.Snapshot).TopicList)
}

// getTopicsByCluster answers GET_TOPICS_BY_CLUSTER (224).
//
// Request:  cluster string. Response: 0 {"topicList":[…]}, empty for an unknown cluster; 1 "disable" with enableTopicList=false.
func (l *loop) getTopicsByCluster(dst []byte) []byte {
	if !l.settings.Load().EnableTopicList {
		return l.fail(dst, codec.ResponseSystemError, remarkDisabled)
	}
	cluster := []byte(field(&l.cmd, "cluster").S)
	return l.list(dst, func(s *core.Snapshot) []byte { return s.TopicsByCluster(cluster) })
}

// getUnitTopics answers GET_UNIT_TOPIC_LIST (311), GET_HAS_UNIT_SUB_TOPIC_LIST (312)
// and GET_HAS_UNIT_SUB_UNUNIT_TOPIC_LIST (313).
//
// Request:  nothing. Response: 0 {"topicList":[…]}; 1 "disable" with enableTopicList=false.
// Differs:  any broker's flags count; Apache looks at one, whichever comes first.
func (l *loop) getUnitTopics(dst []byte, which core.UnitList) []byte {
	if !l.settings.Load().EnableTopicList {
		return l.fail(dst, codec.ResponseSystemError, remarkDisabled)
	}
	return l.list(dst, func(s *core.Snapshot) []byte { return s.UnitTopics(which) })
}
