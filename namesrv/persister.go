package namesrv

import (
	"maps"

	"github.com/waymark-mq/waymark/codec"
	"github.com/waymark-mq/waymark/core"
	"github.com/waymark-mq/waymark/namesrv/storage"
)

// durable is a request that must be on disk before it takes effect: a command on
// the KV configuration, or new settings (the body of 318).
type durable struct {
	command core.Command // PutKV or DeleteKV; nil for settings
	body    []byte       // of 318
	fill    *kvFill      // what another nameserver has; no request
	deed    *deed

	session *session
	bytes   int64
	opaque  int32
	asked   asked
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
		switch {
		case n > 0:
			p.writeKV(batch[:n])
		case batch[0].fill != nil:
			p.fillKV(batch[0].fill)
			n = 1
		default:
			p.guarded(&batch[0], func() { p.updateConfig(&batch[0]) })
			n = 1
		}
		batch = batch[n:]
	}
}

// guarded does something for one request. A fault in it ends that request's connection, and the others go on; the request isn't passed on
// then. It changes nothing before whatever may fail.
func (p *persister) guarded(d *durable, do func()) {
	held := true
	defer p.recoveredHolding(d.session, d.asked, d.bytes, &held)
	do()
}

func (p *persister) writeKV(batch []durable) {
	candidate := storage.KV{}
	for ns, values := range p.kv {
		candidate[ns] = maps.Clone(values)
	}
	if batch = p.applyFitting(candidate, batch); len(batch) == 0 {
		return
	}
	began := p.clock.Now()
	err := p.save(candidate)
	p.wroteKV(len(batch), p.clock.Now()-began, err)
	if err != nil {
		p.events.fileFailed("KV configuration not written; nothing has changed", err)
		for i := range batch {
			p.guarded(&batch[i], func() {
				p.refuse(&batch[i], reply{code: codec.ResponseSystemError, remark: "KV configuration can't be written: " + err.Error()})
			})
		}
		return
	}
	p.kv = candidate
	for i := range batch {
		p.guarded(&batch[i], func() { p.passOn(&batch[i], change{command: batch[i].command}) })
	}
}

// save writes the KV file. A fault in that is no request's own: it counts as a file that can't be written.
func (p *persister) save(kv storage.KV) (err error) {
	defer func() {
		if r := recover(); r != nil {
			p.fault(r, "fault while the KV configuration was written")
			err = errPanic
		}
	}()
	return p.kvFile.Write(storage.AppendKV(nil, kv))
}

func (p *persister) wroteKV(requests int, nanos int64, err error) {
	p.counts.kvBatch.observe(int64(requests))
	if err != nil {
		p.counts.kvFailed.observe(nanos)
		return
	}
	p.counts.kvWrite.observe(nanos)
}

// applyFitting applies a batch to kv, refuses the puts that would make it too large, and returns the rest.
func (p *persister) applyFitting(kv storage.KV, batch []durable) []durable {
	size, fits := kvBytes(kv), batch[:0]
	for i := range batch {
		d := batch[i]
		p.guarded(&d, func() {
			more := kvGrowth(kv, d.command)
			if more > 0 && size+more > maxKVBytes {
				p.refuse(&d, reply{code: codec.ResponseSystemError, remark: "KV configuration is full"})
				return
			}
			d.deed.valued(kvValue(kv, d.command), kvValueAfter(d.command))
			applyKV(kv, d.command)
			size += more
			fits = append(fits, d)
		})
	}
	return fits
}

// kvGrowth is by how much a command changes kvBytes.
func kvGrowth(kv storage.KV, c core.Command) (n int) {
	entry := func(k, v string) int { return len(k) + len(v) + kvEntryOverhead }
	less := func(ns, k string) {
		if v, ok := kv[ns][k]; ok {
			n -= entry(k, v)
		}
	}
	switch c := c.(type) {
	case *core.PutKV:
		less(c.Namespace, c.Key)
		if kv[c.Namespace] == nil {
			n += len(c.Namespace) + kvEntryOverhead
		}
		if c.Value.Valid {
			n += entry(c.Key, c.Value.S)
		}
	case *core.DeleteKV:
		less(c.Namespace, c.Key)
	}
	return n
}

// kvBytes is about what a KV table takes.
func kvBytes(kv storage.KV) (n int) {
	for ns, values := range kv {
		n += len(ns) + kvEntryOverhead
		for k, v := range values {
			n += len(k) + len(v) + kvEntryOverhead
		}
	}
	return n
}

// kvValue is the value that a command is about; not valid if there is none.
func kvValue(kv storage.KV, c core.Command) (v codec.NullString) {
	switch c := c.(type) {
	case *core.PutKV:
		v.S, v.Valid = kv[c.Namespace][c.Key]
	case *core.DeleteKV:
		v.S, v.Valid = kv[c.Namespace][c.Key]
	}
	return v
}

// kvValueAfter is the value that a command leaves.
func kvValueAfter(c core.Command) codec.NullString {
	if put, ok := c.(*core.PutKV); ok && put.Value.Valid {
		return put.Value
	}
	return codec.NullString{}
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

// passOn hands a change that is durable to the writer.
func (p *persister) passOn(d *durable, c change) {
	c.session, c.opaque, c.bytes, c.asked, c.deed = d.session, d.opaque, d.bytes, d.asked, d.deed
	c.answer = p.plainAnswer(d.opaque, d.asked.oneway)
	p.pass(c, p.clock.Now())
}

// refuse answers a request that has changed nothing.
func (p *persister) refuse(d *durable, r reply) {
	p.failed(d.deed, &r)
	if !d.asked.oneway {
		p.sendReply(d.session, d.opaque, r)
	}
	p.answered(d.asked, resultOf(r.code))
	p.release(d.session, d.bytes)
}
