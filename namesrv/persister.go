package namesrv

import (
	"errors"
	"maps"

	"github.com/valyala/bytebufferpool"

	"github.com/waymark-mq/waymark/codec"
	"github.com/waymark-mq/waymark/core"
	"github.com/waymark-mq/waymark/namesrv/settings"
	"github.com/waymark-mq/waymark/namesrv/storage"
)

// durable is a request that must be on disk before it takes effect: a command on
// the KV configuration, or new settings (the body of 318).
type durable struct {
	command core.Command // PutKV or DeleteKV; nil for settings
	body    []byte       // of 318

	session *session
	bytes   int64
	opaque  int32
	oneway  bool
}

// persister is the goroutine that owns both files. It writes first and then hands the
// change to the writer, so that what was acknowledged is durable and nothing slow
// happens on the writer.
type persister struct {
	*Server
	kv         storage.KV // what kvFile holds
	configFile *storage.File
}

func (s *Server) runPersister() {
	defer close(s.persisterDone)
	p := persister{s, s.kv, &storage.File{Path: s.settings.Load().ConfigStorePath}}
	var batch []durable
	for {
		stopping := false
		select {
		case <-s.durables.wake:
		case <-s.persisterStop:
			stopping = true
		}
		batch = s.durables.takeAll(batch)
		p.handle(batch)
		if stopping {
			return
		}
	}
}

// handle writes runs of KV requests with one write each.
func (p *persister) handle(batch []durable) {
	for len(batch) > 0 {
		n := 0
		for n < len(batch) && batch[n].command != nil {
			n++
		}
		if n == 0 {
			p.updateConfig(&batch[0])
			n = 1
		} else {
			p.writeKV(batch[:n])
		}
		batch = batch[n:]
	}
}

func (p *persister) writeKV(batch []durable) {
	candidate := storage.KV{}
	for ns, values := range p.kv {
		candidate[ns] = maps.Clone(values)
	}
	for i := range batch {
		applyKV(candidate, batch[i].command)
	}
	if err := p.kvFile.Write(storage.AppendKV(nil, candidate)); err != nil {
		p.logger.Error("KV configuration not written; nothing has changed", "error", err)
		for i := range batch {
			p.refuse(&batch[i], reply{code: codec.ResponseSystemError, remark: "KV configuration can't be written: " + err.Error()})
		}
		return
	}
	p.kv = candidate
	for i := range batch {
		p.pass(&batch[i], change{command: batch[i].command})
	}
}

func applyKV(kv storage.KV, c core.Command) {
	switch c := c.(type) {
	case *core.PutKV:
		if kv[c.Namespace] == nil {
			kv[c.Namespace] = map[string]string{}
		}
		if c.Value.Valid {
			kv[c.Namespace][c.Key] = c.Value.S
		} else {
			delete(kv[c.Namespace], c.Key)
		}
	case *core.DeleteKV:
		delete(kv[c.Namespace], c.Key)
	}
}

// decodeUpdateConfig makes UPDATE_NAMESRV_CONFIG (318) ready to be made durable.
func (d *decoder) decodeUpdateConfig() *durable {
	return &durable{body: append([]byte(nil), d.cmd.Body...)}
}

// updateConfig applies UPDATE_NAMESRV_CONFIG (318).
//
// Request:  body Java properties text, read as ISO-8859-1.
// Response: 0, also without a body; 16 for a black-listed key, whatever its spelling; 1 for malformed text, an ill-typed
// value of a known key, or a file that can't be written. Nothing is applied then.
// Effects:  configStorePath is written, then the settings change; keys that need a restart are only kept.
// Source:   Apache RocketMQ 5.5.0, behaviour of a running server.
// Differs:  Apache ignores ill-typed values, and writes control characters unescaped.
func (p *persister) updateConfig(d *durable) {
	if len(d.body) == 0 {
		p.pass(d, change{command: nothing})
		return
	}
	old := p.settings.Load()
	next, changes, err := old.Update(d.body)
	if err != nil {
		p.refuse(d, configReply(err))
		return
	}
	if err := p.configFile.Write(next.FileText()); err != nil {
		p.logger.Error("configuration not written; nothing has changed", "error", err)
		p.refuse(d, reply{code: codec.ResponseSystemError, remark: "configuration can't be written: " + err.Error()})
		return
	}
	for _, c := range changes {
		p.logger.Info("configuration changed", "key", c.Key, "from", c.Old, "to", c.New, "needsRestart", c.NeedsRestart, "ignored", c.Ignored)
	}
	// The next update must start from this one, so it waits for the writer.
	applied := make(chan struct{})
	p.pass(d, change{command: &core.SetSettings{Settings: next.Core()}, then: func() {
		p.settings.Store(next)
		close(applied)
	}})
	<-applied
}

func configReply(err error) reply {
	switch {
	case errors.Is(err, settings.ErrBlackList):
		return reply{code: codec.ResponseNoPermission, remark: remarkBlackList}
	case errors.Is(err, settings.ErrProperties):
		return reply{code: codec.ResponseSystemError, remark: remarkProperties}
	}
	return reply{code: codec.ResponseSystemError, remark: err.Error()}
}

// pass hands a change that is durable to the writer.
func (p *persister) pass(d *durable, c change) {
	c.session, c.bytes = d.session, d.bytes
	if opaque, t := d.opaque, p.serializeType; !d.oneway {
		c.answer = func(dst []byte, _ *core.Result, _ *core.Snapshot) []byte { return appendSuccess(dst, t, opaque, nil) }
	}
	p.changes.push(c)
}

// refuse answers a request that has changed nothing.
func (p *persister) refuse(d *durable, r reply) {
	if !d.oneway {
		buf := bytebufferpool.Get()
		buf.B = appendReply(buf.B, p.serializeType, d.opaque, r, nil)
		d.session.conn.SendBuffer(buf)
	}
	p.release(d.session, d.bytes)
}
