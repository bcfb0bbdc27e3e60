package namesrv

import (
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
		n := effectsUntil(effects, i)
		w.tell(effects[:n], &changes[i])
		effects = effects[n:]
	}
	w.tell(effects, &change{}) // of a tick
}

// effectsUntil is how many of the effects come of commands up to an index.
func effectsUntil(effects []core.Effect, command int) int {
	for i, effect := range effects {
		of := 0
		switch e := effect.(type) {
		case *core.Edit:
			of = e.Command
		case *core.Event:
			of = e.Command
		}
		if of > command {
			return i
		}
	}
	return len(effects)
}

// tell tells a change and its effects.
func (w *writer) tell(effects []core.Effect, c *change) {
	defer w.survived("fault while a change was told")
	for _, effect := range effects {
		switch e := effect.(type) {
		case *core.Edit:
			if c.deed != nil {
				c.deed.edited(e)
			}
		case *core.Event:
			w.writeEvent(e, c)
		}
	}
	if d := c.deed; d != nil && access.GroupOf(d.Code).Operators() {
		w.done(d)
	}
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
