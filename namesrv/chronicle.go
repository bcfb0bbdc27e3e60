package namesrv

import (
	"math"
	"strconv"

	"github.com/waymark-mq/waymark/codec"
	"github.com/waymark-mq/waymark/core"
	"github.com/waymark-mq/waymark/namesrv/access"
	"github.com/waymark-mq/waymark/namesrv/audit"
)

// chronicle tells what the commands of a step have done, in their order. It comes before their answers, so that a deed that was
// answered is on its way to the file. Writer only.
func (w *writer) chronicle(changes []change) {
	effects := w.out.Effects
	for i := range changes {
		effects = w.tell(effects, i, &changes[i])
		if d := changes[i].deed; d != nil && access.GroupOf(d.Code).Operators() {
			w.done(d)
		}
	}
	w.tell(effects, math.MaxInt, &change{}) // of a tick
}

// tell tells the effects of the command of an index, and returns those of later ones.
func (w *writer) tell(effects []core.Effect, command int, c *change) []core.Effect {
	for len(effects) > 0 {
		switch e := effects[0].(type) {
		case *core.Edit:
			if e.Command > command {
				return effects
			}
			if c.deed != nil {
				c.deed.edited(e)
			}
		case *core.Event:
			if e.Command > command {
				return effects
			}
			w.writeEvent(e, c)
		}
		effects = effects[1:]
	}
	return nil
}

// done tells of an operator's request that was carried out.
func (s *Server) done(d *deed) {
	s.events.done(d)
	if s.audit == nil {
		return
	}
	code := codec.ResponseSuccess
	d.Event, d.Result = audit.Changed, &code
	s.audit.Write(&d.Record)
}

// writeEvent writes down what happened to a broker, by the request of c if that has a deed.
func (s *Server) writeEvent(e *core.Event, c *change) {
	if s.audit == nil || e.Edit == nil || e.Kind == core.EventConflict && e.Edit.Before == e.Edit.After {
		return
	}
	r := audit.Record{Event: eventKinds[e.Kind].audit, What: &audit.What{
		Cluster: audit.Text(e.ClusterName), Broker: audit.Text(e.BrokerName), BrokerID: strconv.FormatInt(e.BrokerID, 10), Addr: audit.Text(e.BrokerAddr),
		Other: audit.Text(e.Other), Topics: e.Topics, Changed: e.TopicsChanged, Gone: len(e.Gone),
	}}
	brokerEdited(&r, e.Edit)
	switch {
	case c.deed != nil:
		code := codec.ResponseSuccess
		r.Code, r.Name, r.Peer, r.Result = c.deed.Code, c.deed.Name, c.deed.Peer, &code
	case c.session != nil:
		r.Peer = connOf(c.session.conn)
	default: // its own connection, which may be gone
		r.Peer = audit.Peer{From: e.PeerAddr, Conn: uint64(e.Conn)}
		if conn, ok := s.net.Conn(uint64(e.Conn)); ok {
			r.Peer = connOf(conn)
		}
	}
	s.audit.Write(&r)
}
