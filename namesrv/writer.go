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

// frozenNanos is the lateness of a tick from which on the process counts as
// having been frozen. Below it the scheduler was busy.
const frozenNanos = int64(time.Second)

// runWriter is the writer goroutine: it alone steps the table. It drains its
// queue, publishes once, and only then answers, closes and notifies.
func (s *Server) runWriter() {
	defer close(s.writerDone)
	interval := time.Duration(s.settings.Load().ScanNotActiveBrokerInterval) * time.Millisecond
	ticks, stopTicks := s.clock.Tick(interval)
	defer stopTicks()
	w := writer{Server: s, interval: int64(interval), expected: s.clock.Now() + int64(interval)}
	for {
		select {
		case <-s.changes.wake:
			w.step(nil)
		case <-ticks:
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

	interval int64 // of ticks, nanoseconds
	expected int64 // when the next tick is due
}

// tick makes the command that expires silent brokers, and measures how late it comes.
func (w *writer) tick() core.Command {
	now := w.clock.Now()
	t := &core.Tick{}
	if late := now - w.expected; late > frozenNanos {
		t.LatenessNanos = late
	}
	w.expected = now + w.interval
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
