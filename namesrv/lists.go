package namesrv

import (
	"github.com/valyala/bytebufferpool"

	"github.com/waymark-mq/waymark/core"
)

const (
	// largeAnswerBytes is the size from which on a list answer is encoded and sent off the loop,
	// so that the other connections of the loop don't wait for it, and any answer is
	// refused when too much is unsent.
	largeAnswerBytes = 64 << 10
	// maxListJobs bounds the list answers that wait to be encoded.
	maxListJobs = 1024
)

// listJob is a list answer to be made off the loop.
type listJob struct {
	session *session
	opaque  int32
	list    core.List
	asked   asked
}

// list answers with a list: on the loop if it is small, else by the lists
// goroutine, during which the connection is paused.
func (l *loop) list(dst []byte, list core.List) []byte {
	switch {
	case list.Bound() <= largeAnswerBytes:
		return l.succeed(dst, list.Body())
	case l.session.conn.LoopOverloaded():
		return l.busy(dst)
	}
	select {
	case l.listJobs <- listJob{l.session, l.cmd.Opaque, list, l.forLater()}:
		l.session.conn.Pause()
		return dst
	default:
		return l.busy(dst)
	}
}

// runLists encodes large list answers one after the other. Each is handed over before the next is begun: writing one takes
// its loop some milliseconds, and a loop does what others have queued for it before it looks at its sockets again.
func (s *Server) runLists() {
	defer close(s.listsDone)
	handedOver := make(chan struct{}, 1)
	for {
		select {
		case j := <-s.listJobs:
			s.sendList(j)
			j.session.conn.AfterSends(func() { handedOver <- struct{}{} })
		case <-s.listsStop:
			return
		}
		select {
		case <-handedOver:
		case <-s.listsStop:
			return
		}
	}
}

func (s *Server) sendList(j listJob) {
	defer j.session.conn.Resume()
	defer s.recovered(j.session, j.asked)
	if s.net.Overloaded() { // so many were let in while nothing was unsent yet
		s.sendReply(j.session, j.opaque, busyReply)
		s.answered(j.asked, answeredBusy)
		return
	}
	buf := bytebufferpool.Get()
	buf.B = appendSuccess(buf.B, s.serializeType, j.opaque, j.list.Body())
	j.session.conn.SendBuffer(buf)
	s.answered(j.asked, answeredOK)
}
