package namesrv

import (
	"time"

	"github.com/valyala/bytebufferpool"

	"github.com/waymark-mq/waymark/core"
)

// change is one command on its way through the writer.
type change struct {
	command core.Command
	session *session // whose request it is; nil for the server's own
	bytes   int64    // held in the write budget until it is applied
	// answer appends the answer after the change is published; nil for one-way
	// requests and ends of connections.
	answer func(dst []byte, r *core.Result, s *core.Snapshot) []byte
	// then runs on the writer after the publish; nil for most.
	then func()
}

// maxKeptChanges is how much room for changes is kept after a wave of them.
const maxKeptChanges = 1024

// frozenNanos is the lateness of a pulse from which on the process counts as
// having been frozen. Below it the scheduler was busy.
const frozenNanos = int64(500 * time.Millisecond)

// pulse is how often the writer looks at the clock. Scans alone would miss a
// freeze that ends shortly before or after the next one is due, while the
// heartbeats of that time are still unread.
const pulse = 100 * time.Millisecond

// runWriter is the writer goroutine: it alone steps the table. It drains its
// queue, publishes once, and only then answers, closes and notifies.
func (s *Server) runWriter() {
	defer close(s.writerDone)
	scan := time.Duration(s.settings.Load().ScanNotActiveBrokerInterval) * time.Millisecond
	pulse := min(pulse, scan)
	pulses, stopPulses := s.clock.Tick(pulse)
	defer stopPulses()
	now := s.clock.Now()
	w := writer{Server: s, pulse: int64(pulse), scan: int64(scan), lastPulse: now, nextScan: now + int64(scan)}
	for {
		select {
		case <-s.changes.wake:
			w.step(nil)
		case <-pulses:
			w.step(w.tick())
		case <-s.writerStop:
			w.step(nil)
			return
		}
	}
}

// writer is the writer goroutine's own memory, used again from step to step.
type writer struct {
	*Server
	changes  []change
	commands []core.Command
	out      core.Outcome

	pulse, scan         int64 // intervals, nanoseconds
	lastPulse, nextScan int64 // when the clock was looked at, when silent brokers are next looked for
}

// tick makes the command that expires silent brokers, when a scan is due or the
// process stood still; it measures for how long.
func (w *writer) tick() core.Command {
	now := w.clock.Now()
	t := &core.Tick{}
	if late := now - w.lastPulse - w.pulse; late > frozenNanos {
		t.LatenessNanos = late
	}
	w.lastPulse = now
	if now < w.nextScan && t.LatenessNanos == 0 {
		return nil
	}
	for w.nextScan <= now {
		w.nextScan += w.scan
	}
	return t
}

// step applies all that waits, then the tick: what was received before it counts.
func (w *writer) step(tick core.Command) {
	w.changes = w.Server.changes.takeAll(w.changes)
	w.commands = w.commands[:0]
	for i := range w.changes {
		w.commands = append(w.commands, w.changes[i].command)
	}
	if tick != nil {
		w.commands = append(w.commands, tick)
	}
	if len(w.commands) == 0 {
		return
	}
	w.table.Step(w.clock.Now(), w.commands, &w.out)
	snapshot := w.table.Load()
	for i := range w.changes {
		w.finish(&w.changes[i], &w.out.Results[i], snapshot)
	}
	for _, e := range w.out.Effects {
		w.perform(e)
	}
	clear(w.commands) // what they hold is the table's now, or garbage
	if cap(w.commands) > maxKeptChanges {
		w.commands = nil
	}
}

// finish answers a change that is published. The hold ends before the answer leaves: the
// next request may come on its heels.
func (s *Server) finish(c *change, r *core.Result, snapshot *core.Snapshot) {
	if c.then != nil {
		c.then()
	}
	s.release(c.session, c.bytes)
	if c.answer != nil {
		buf := bytebufferpool.Get()
		buf.B = c.answer(buf.B, r, snapshot)
		c.session.conn.SendBuffer(buf)
	}
}

// perform carries out what a step left to do.
func (s *Server) perform(e core.Effect) {
	switch e := e.(type) {
	case *core.CloseConnection:
		if c, ok := s.net.Conn(uint64(e.Conn)); ok {
			c.CloseWith(errExpired)
		}
	case *core.NotifyMinBrokerID:
		s.notifyMinBrokerID(e)
	case *core.Event:
		s.events.log(e)
	}
}
