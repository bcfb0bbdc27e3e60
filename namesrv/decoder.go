package namesrv

import (
	"github.com/waymark-mq/waymark/codec"
	"github.com/waymark-mq/waymark/core"
	"github.com/waymark-mq/waymark/namesrv/access"
)

// decoder turns one write request after another into changes. One goroutine's own.
type decoder struct {
	*Server
	cmd     codec.Command
	session *session
}

func (s *Server) newDecoder() func(*session, write) {
	yieldProcessor(s.logger)
	d := &decoder{Server: s}
	return d.decode
}

// decode passes a request on to the writer or the persister, or answers why not.
func (d *decoder) decode(sess *session, w write) {
	n := w.bytes()
	if w.frame == nil {
		c := w.decoded
		c.session, c.bytes = sess, n
		d.pass(c, d.clock.Now())
		return
	}
	began := d.clock.Now()
	if w.asked.request {
		d.counts.laneWait.observe(began - w.asked.at)
	}
	d.session = sess
	defer w.frame.Free()
	defer func() {
		if r := recover(); r != nil {
			d.panicked(sess, w.asked, r)
			d.release(sess, n)
		}
	}()
	if err := w.parse(&d.cmd); err != nil {
		panic(err) // the loop has parsed the same bytes
	}
	c, file, no := d.translate()
	done := d.clock.Now()
	if w.asked.kind == registerRequest {
		d.counts.decoding.observe(done - began)
	}
	deed := d.deed()
	switch {
	case no != nil:
		if w.asked.kind == registerRequest {
			d.rejected(sess.conn, &d.cmd, rejectionOf(no), no.remark)
		}
		d.failed(deed, no)
		d.answer(*no)
		d.answered(w.asked, resultOf(no.code))
		d.release(sess, n)
	case file != nil:
		file.deed = deed
		file.session, file.bytes, file.opaque, file.asked = sess, n, d.cmd.Opaque, w.asked
		d.durables.push(*file)
	default:
		c.session, c.opaque, c.bytes, c.asked, c.deed = sess, d.cmd.Opaque, n+c.bytes, w.asked, deed
		d.writeBytes.Add(c.bytes - n)
		if d.cmd.IsOneway() {
			c.answer = nil
		}
		d.pass(c, done)
	}
}

// deed is that of the request in hand, if somebody has to account for it.
func (d *decoder) deed() *deed {
	g := access.GroupOf(d.cmd.Code)
	if g.Operators() || g == access.Broker && d.audit != nil {
		return newDeed(d.session.conn, &d.cmd)
	}
	return nil
}

// translate makes exactly one of a change, a request for the persister, or a reply of what is wrong.
func (d *decoder) translate() (c change, file *durable, no *reply) {
	switch d.cmd.Code {
	case codec.RequestRegisterBroker:
		c, no = d.decodeRegisterBroker()
	case codec.RequestQueryDataVersion:
		c, no = d.decodeQueryDataVersion()
	case codec.RequestWipeWritePermOfBroker:
		c = d.decodeWritePerm("wipeTopicCount", func(name string) core.Command {
			return &core.WipeWritePerm{By: d.session.asker(), BrokerName: name}
		})
	case codec.RequestAddWritePermOfBroker:
		c = d.decodeWritePerm("addTopicCount", func(name string) core.Command {
			return &core.AddWritePerm{By: d.session.asker(), BrokerName: name}
		})
	case codec.RequestDeleteTopicInNamesrv:
		c = d.decodeDeleteTopic()
	case codec.RequestRegisterTopicInNamesrv:
		c, no = d.decodeRegisterTopic()
	case codec.RequestPutKVConfig:
		file, no = d.decodePutKV()
	case codec.RequestDeleteKVConfig:
		file = d.decodeDeleteKV()
	case codec.RequestUpdateNamesrvConfig:
		file = d.decodeUpdateConfig()
	}
	return c, file, no
}

// refuse is the reply of code 1 with a remark.
func (d *decoder) refuse(remark string) (change, *reply) {
	return change{}, &reply{code: codec.ResponseSystemError, remark: remark}
}

// answer sends a reply that changes nothing.
func (d *decoder) answer(r reply) {
	if !d.cmd.IsOneway() {
		d.sendReply(d.session, d.cmd.Opaque, r)
	}
}

// nothing is a command that changes nothing (the end of no connection), for requests
// that are answered in order all the same.
var nothing = &core.EndConnection{}
