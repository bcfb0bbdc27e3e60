package namesrv

import (
	"errors"
	"strconv"

	"github.com/waymark-mq/waymark/codec"
	"github.com/waymark-mq/waymark/core"
	"github.com/waymark-mq/waymark/namesrv/settings"
	"github.com/waymark-mq/waymark/netpoll"
)

// loop serves the connections of one event loop. All of it is that loop's own.
type loop struct {
	*Server
	cmd     codec.Command // the request in hand; aliases its frame
	session *session      // whose it is
	beat    bool          // it is the heartbeat that the session's beatShape has
	routes  routeShapes
	now     int64 // monotonic nanoseconds of the read that brought it
	result  result
	scratch []byte
	tally   *tally // apart: it is large, and would bring what is above to the beginning of a page, where buffers begin too

	shown     *settings.Settings // the settings that shownText is of
	shownText []byte
}

// NewLoop implements netpoll.Handler.
func (s *Server) NewLoop() netpoll.LoopHandler { return &loop{Server: s, tally: &tally{}} }

// Open implements netpoll.LoopHandler.
func (l *loop) Open(c *netpoll.Conn, now int64) { c.Context = &session{conn: c, opened: now} }

// Close implements netpoll.LoopHandler. The end of a connection that the writer
// may know is the last request of its lane; for all others it costs nothing. The server's
// own end removes no broker, nor does a drain's: what is still being asked meanwhile gets whole routes, and a broker that the drain has
// cut off, and that nobody owns from then on, comes back on another connection or expires.
func (l *loop) Close(c *netpoll.Conn, reason error, _ int64) {
	s := c.Context.(*session)
	if s.identified {
		l.tally.clients.remove(s.client)
	}
	if l.stopping.Load() || !s.mayOwnBrokers() {
		return
	}
	end := &core.EndConnection{
		Conn: s.id(), PeerAddr: c.RemoteAddr(), ByPeer: netpoll.EndedByPeer(reason), Keep: errors.Is(reason, netpoll.ErrDrained),
	}
	for cell := range s.touched {
		end.Touched = append(end.Touched, cell)
	}
	s.touched = nil
	l.enqueue(s, write{decoded: change{command: end}})
}

// maxHeaderBytes bounds a header: it is read on the loop, and names in it come back in
// remarks. Real ones have some hundred bytes; Apache takes 16 MiB.
const maxHeaderBytes = 1 << 20

var errHeaderTooLong = errors.New("namesrv: header longer than 1 MiB")

// Frame implements netpoll.LoopHandler.
func (l *loop) Frame(c *netpoll.Conn, dst, frame []byte, now int64) ([]byte, error) {
	f, err := codec.ParseFrame(frame)
	if err != nil {
		return dst, err
	}
	if len(f.Header) > maxHeaderBytes {
		return dst, errHeaderTooLong
	}
	l.session, l.now = c.Context.(*session), now
	goingAway := l.goingAway.Load()
	if !goingAway {
		if answer, ok := l.knownBeat(dst, f); ok {
			l.countedBeat()
			return answer, nil
		}
	}
	if err := l.parse(f); err != nil {
		return dst, err
	}
	if l.cmd.IsResponse() {
		return dst, nil // nothing here waits for one
	}
	if !l.session.identified {
		l.session.client = l.tally.clients.add(clientKind{l.cmd.Language, l.cmd.Version})
		l.session.identified = true
	}
	l.result = answeredOK
	if goingAway && l.cmd.Version > lastWithoutGoAway {
		l.declined(&goAwayReply)
		dst = l.reply(dst, goAwayReply, nil)
	} else {
		dst = l.dispatch(dst, frame)
	}
	l.counted()
	return dst, nil
}

// lastWithoutGoAway is the version ordinal of V5_3_1; later ones understand code 1500.
const lastWithoutGoAway = 475

// dispatch answers a request of the read lane, appending to dst, or keeps one of the
// write lane for the decoders.
func (l *loop) dispatch(dst, frame []byte) []byte {
	if l.cmd.Code == codec.RequestGetRouteInfoByTopic {
		return l.getRouteInfoByTopic(dst)
	}
	if rules := l.guard.rules.Load(); rules != nil {
		if v, refused := l.refuses(rules); refused {
			return l.noPermission(dst, v)
		}
	}
	switch l.cmd.Code {
	case codec.RequestBrokerHeartbeat:
		return l.brokerHeartbeat(dst)
	case codec.RequestQueryDataVersion:
		return l.queryDataVersion(dst, frame)
	case codec.RequestRegisterBroker:
		return l.registerBroker(dst, frame)
	case codec.RequestUnregisterBroker:
		return l.unregisterBroker(dst)
	case codec.RequestWipeWritePermOfBroker, codec.RequestAddWritePermOfBroker,
		codec.RequestDeleteTopicInNamesrv, codec.RequestRegisterTopicInNamesrv,
		codec.RequestPutKVConfig, codec.RequestDeleteKVConfig, codec.RequestUpdateNamesrvConfig:
		return l.later(dst, frame)
	}
	return l.read(dst)
}

// read answers the reads that are neither frequent nor a broker's.
func (l *loop) read(dst []byte) []byte {
	switch {
	case l.cmd.IsOneway():
		return dst // nobody waits for it
	case l.session.conn.Overloaded():
		return l.busy(dst)
	}
	switch l.cmd.Code {
	case codec.RequestGetBrokerClusterInfo:
		return l.getBrokerClusterInfo(dst)
	case codec.RequestGetAllTopicListFromNameserver:
		return l.getAllTopicList(dst)
	case codec.RequestGetTopicsByCluster:
		return l.getTopicsByCluster(dst)
	case codec.RequestGetSystemTopicListFromNS:
		return l.getSystemTopicList(dst)
	case codec.RequestGetUnitTopicList:
		return l.getUnitTopics(dst, core.UnitTopics)
	case codec.RequestGetHasUnitSubTopicList:
		return l.getUnitTopics(dst, core.UnitSubTopics)
	case codec.RequestGetHasUnitSubUnunitTopicList:
		return l.getUnitTopics(dst, core.UnitSubOnlyTopics)
	case codec.RequestGetBrokerMemberGroup:
		return l.getBrokerMemberGroup(dst)
	case codec.RequestGetKVConfig:
		return l.getKVConfig(dst)
	case codec.RequestGetKVListByNamespace:
		return l.getKVListByNamespace(dst)
	case codec.RequestGetNamesrvConfig:
		return l.getNamesrvConfig(dst)
	}
	return l.fail(dst, codec.ResponseRequestCodeNotSupported, " request type "+strconv.Itoa(int(l.cmd.Code))+" not supported")
}

// succeed appends the answer of code 0 with nothing but a body.
func (l *loop) succeed(dst, body []byte) []byte {
	switch {
	case l.cmd.IsOneway():
		return dst
	case len(body) > largeAnswerBytes && l.session.conn.LoopOverloaded():
		return l.busy(dst)
	}
	return appendSuccess(dst, l.serializeType, l.cmd.Opaque, body)
}

// fail appends an answer with a code and a remark.
func (l *loop) fail(dst []byte, code int32, remark string) []byte {
	return l.reply(dst, reply{code: code, remark: remark}, nil)
}

func (l *loop) reply(dst []byte, r reply, body []byte) []byte {
	l.result = resultOf(r.code)
	if l.cmd.IsOneway() {
		return dst
	}
	return appendReply(dst, l.serializeType, l.cmd.Opaque, r, body)
}

// busy appends the answer to a request that finds its budget used up.
func (l *loop) busy(dst []byte) []byte {
	return l.reply(dst, busyReply, nil)
}

// later puts the request in hand into its connection's lane, unless too much waits. Its frame
// may be a decoder's from then on.
func (l *loop) later(dst, frame []byte) []byte {
	if l.writeBytes.Load() > l.maxWriteBytes {
		if l.cmd.Code == codec.RequestRegisterBroker {
			l.rejected(l.session.conn, &l.cmd, rejectedBudget, remarkBusy)
		}
		l.declined(&busyReply)
		return l.busy(dst)
	}
	l.enqueue(l.session, write{frame: keepFrame(l.session.conn, frame), slow: l.slowToDecode(), asked: l.forLater()})
	return dst
}

// slowBytes is the size of a body from which on decoding it counts as slow: some
// milliseconds. A deflated one may be a thousand times as long inside.
const slowBytes = 1 << 20

func (l *loop) slowToDecode() bool {
	b := l.cmd.Body
	const most = 64 // times that bodies of real brokers shrink, with room
	return len(b) > slowBytes || (len(b)*most > slowBytes && b[0] == 0x78)
}
