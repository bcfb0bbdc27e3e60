package namesrv

import (
	"log/slog"

	"github.com/waymark-mq/waymark/codec"
	"github.com/waymark-mq/waymark/netpoll"
)

// rejection is why a registration (103) doesn't come to the table.
type rejection string

const (
	rejectedChecksum rejection = "checksum"
	rejectedRequest  rejection = "request" // a field or the body
	rejectedBudget   rejection = "budget"
	rejectedAccess   rejection = "access"
)

const (
	kindRejected = "rejected"
	textRejected = "registration rejected before it came to the table"
)

// rejectionOf is why a decoder gives up a registration.
func rejectionOf(r *reply) rejection {
	if r.code == codec.ResponseSystemBusy {
		return rejectedBudget
	}
	return rejectedRequest
}

// rejected counts and tells of the registration c, which is answered with a remark and doesn't come to the table. Any goroutine.
func (s *Server) rejected(conn *netpoll.Conn, c *codec.Command, why rejection, remark string) {
	s.counts.rejected.Add(1)
	s.tellRejected(conn, c, why, remark)
}

// tellRejected makes it a line and an event: once a minute for each broker and reason, and of all together as many as
// otherLines says. That bounds what it passes to the writer, whose the history is. It keeps nothing of c's memory. Any goroutine.
func (s *Server) tellRejected(conn *netpoll.Conn, c *codec.Command, why rejection, remark string) {
	text := func(name string) string {
		v, _ := c.Field(name)
		return bounded(string(v[:min(len(v), maxEventText+1)]))
	}
	e := Event{
		Kind: kindRejected, Text: textRejected, Cluster: text("clusterName"), Broker: text("brokerName"), Addr: text("brokerAddr"),
		Conn: conn.ID(), Peer: conn.RemoteAddr(), Detail: bounded(remark),
	}
	e.BrokerID, _ = c.Int64("brokerId")
	if s.events.rejected(&e, why) {
		s.addEvent(e)
	}
}

// rejected tells of a rejection; false if that was too often.
func (l *eventLog) rejected(e *Event, why rejection) bool {
	return l.limited(lineRejected, slog.LevelWarn, string(why)+" "+e.Cluster+" "+e.Broker, textRejected,
		slog.String("reason", e.Detail), slog.String("cluster", short(e.Cluster)), slog.String("broker", short(e.Broker)),
		slog.Int64("id", e.BrokerID), slog.String("addr", short(e.Addr)), slog.Uint64("conn", e.Conn), slog.String("peer", e.Peer))
}
