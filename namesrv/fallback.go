package namesrv

import (
	"context"

	"github.com/valyala/bytebufferpool"

	"github.com/waymark-mq/waymark/codec"
)

const (
	fallbackWorkers = 4
	// maxFallbacks bounds the route queries that wait for the product environment.
	maxFallbacks = 1024
)

// fallback is a route query that goes on to the product environment (clusterTest=true).
type fallback struct {
	session *session
	opaque  int32
	version int32
	topic   string
	asked   asked
}

// askProduct passes the query in hand on; false means that it is to be answered here.
func (l *loop) askProduct(topic []byte) bool {
	if l.product == nil {
		return false
	}
	select {
	case l.fallbacks <- fallback{l.session, l.cmd.Opaque, l.cmd.Version, string(topic), l.forLater()}:
		l.session.conn.Pause()
		return true
	default:
		return false
	}
}

// runFallbacks asks the product environment for one topic after the other until ctx ends.
func (s *Server) runFallbacks(ctx context.Context) {
	defer s.fallbacksDone.Done()
	for {
		select {
		case f := <-s.fallbacks:
			s.answerFromProduct(ctx, f)
		case <-ctx.Done():
			return
		}
	}
}

func (s *Server) answerFromProduct(ctx context.Context, f fallback) {
	defer f.session.conn.Resume()
	defer s.recovered(f.session, f.asked)
	body, ok, err := s.product.Route(ctx, f.topic, f.version)
	if err != nil {
		s.events.productFailed(err)
	}
	switch {
	case !ok && s.unsure():
		s.sendReply(f.session, f.opaque, reply{code: codec.ResponseSystemError, remark: remarkNotReady})
		s.answered(f.asked, answeredError)
		return
	case !ok:
		s.sendReply(f.session, f.opaque, reply{code: codec.ResponseTopicNotExist, remark: remarkNoTopic + f.topic + remarkNoTopicHelp})
		s.answered(f.asked, answeredNoTopic)
		return
	}
	buf := bytebufferpool.Get()
	buf.B = appendSuccess(buf.B, s.serializeType, f.opaque, body)
	f.session.conn.SendBuffer(buf)
	s.answered(f.asked, answeredOK)
}
