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
	opaque  int32    // of the request
	bytes   int64    // held in the write budget until it is applied
	asked   asked
	queued  int64 // when it was passed to the writer
	deed    *deed // nil for what nobody has to account for
	// answer appends the answer after the change is published; nil for one-way
	// requests and ends of connections.
	answer func(dst []byte, r *core.Result, s *core.Snapshot) []byte
	// then runs on the writer after the publish; nil for most.
	then func()
}

// pass queues a change for the writer.
func (s *Server) pass(c change, now int64) {
	c.queued = now
	s.changes.push(c)
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

// runWriter is the writer goroutine: it alone steps the table. It drains its queue in steps
// of a bounded size; each publishes once, and only then answers, closes and notifies.
func (s *Server) runWriter() {
	defer close(s.writerDone)
	scan := time.Duration(s.settings.Load().ScanNotActiveBrokerInterval) * time.Millisecond
	pulse := min(pulse, scan)
	pulses, stopPulses := s.clock.Tick(pulse)
	defer stopPulses()
	now := s.clock.Now()
	w := writer{Server: s, pulse: int64(pulse), scan: int64(scan), lastPulse: now, nextScan: now + int64(scan), heard: make(chan struct{}, 1)}
	for {
		select { // first, so that a scan takes place before what came after it
		case <-w.heard:
			w.expire()
		default:
		}
		select {
		case <-s.changes.wake:
			w.applyAll()
		case <-pulses:
			w.look()
		case <-w.heard:
			w.expire()
		case <-s.writerStop:
			w.applyAll()
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
	lateness            int64 // for how long the process stood still since the last scan began
	scanning            bool
	scanBegan           int64
	scanLateness        int64         // what the scan under way gives back
	heard               chan struct{} // the loops have read what had come when the scan began
	restored            tellRestored
}

// look begins a scan for silent brokers when one is due, or when the process stood
// still; it measures for how long. A loop may be behind with its connections, heartbeats among
// them, so the scan itself waits until every loop has gone through what there was, twice:
// a loop learns of a bounded number of connections at a time.
func (w *writer) look() {
	now := w.clock.Now()
	if late := now - w.lastPulse - w.pulse; late > frozenNanos {
		w.lateness += late
	}
	w.lastPulse = now
	if w.routes != nil {
		w.routes.look(now)
		w.restored.look(w.Server, now)
	}
	if w.scanning || (now < w.nextScan && w.lateness == 0) {
		return
	}
	for w.nextScan <= now {
		w.nextScan += w.scan
	}
	w.scanning, w.scanBegan, w.scanLateness, w.lateness = true, now, w.lateness, 0
	heard := w.heard
	w.net.Barrier(func() {
		w.net.Barrier(func() { heard <- struct{}{} })
	})
}

// expire removes the brokers that were silent for too long when the scan began, and still are.
func (w *writer) expire() {
	w.step(w.scanBegan, []core.Command{&core.Tick{LatenessNanos: w.scanLateness}}, nil)
	w.scanning = false
}

// maxStepTopics bounds the topics of the registrations in one step, so that what comes behind a wave of
// large ones is answered in between. As many take a millisecond or two if all are new.
const maxStepTopics = 5_000

// applyAll applies all that waits, in as few steps as maxStepTopics allows.
func (w *writer) applyAll() {
	w.changes = w.Server.changes.takeAll(w.changes)
	for from := 0; from < len(w.changes); {
		to, topics := from, 0
		w.commands = w.commands[:0]
		for to < len(w.changes) && (to == from || topics < maxStepTopics) {
			if r, ok := w.changes[to].command.(*core.RegisterBroker); ok {
				topics += len(r.Body.Topics)
			}
			w.commands = append(w.commands, w.changes[to].command)
			to++
		}
		w.step(w.clock.Now(), w.commands, w.changes[from:to])
		from = to
	}
	clear(w.commands[:cap(w.commands)]) // what they hold is the table's now, or garbage
	if cap(w.commands) > maxKeptChanges {
		w.commands = nil
	}
}

// step applies commands, publishes once, answers, and does what is left to do.
func (w *writer) step(now int64, commands []core.Command, changes []change) {
	before, began := w.table.Load(), w.clock.Now()
	w.mustStep(now, commands, changes)
	snapshot := w.table.Load()
	w.stepped(began, len(commands), changes, snapshot != before)
	w.chronicle(changes)
	w.remember() // before the answers, so that whoever saw one finds its event
	for i := range changes {
		w.finish(&changes[i], &w.out.Results[i], snapshot)
	}
	for _, e := range w.out.Effects {
		w.perform(e)
	}
}

// stepped counts a step.
func (w *writer) stepped(began int64, commands int, changes []change, published bool) {
	done := w.clock.Now()
	w.counts.stepTime.observe(done - began)
	w.counts.stepSize.observe(int64(commands))
	if published {
		w.counts.published.Store(done)
	}
	for i := range changes {
		if changes[i].queued != 0 {
			w.counts.queueWait.observe(began - changes[i].queued)
		}
	}
}

// finish answers a change that is published. The hold ends before the answer leaves: the
// next request may come on its heels.
func (s *Server) finish(c *change, r *core.Result, snapshot *core.Snapshot) {
	held := true
	defer s.recoveredHolding(c.session, c.asked, c.bytes, &held)
	if c.then != nil {
		c.then()
	}
	if c.answer != nil { // a drain must see one or the other
		c.session.answering.Add(1)
		defer c.session.answering.Add(-1)
	}
	held = false
	s.release(c.session, c.bytes)
	became := answeredOK
	if r.Refused {
		became = answeredError
	}
	if c.answer != nil {
		buf := bytebufferpool.Get()
		buf.B = c.answer(buf.B, r, snapshot)
		if len(buf.B) > largeAnswerBytes && s.net.Overloaded() {
			buf.B = appendReply(buf.B[:0], s.serializeType, c.opaque, busyReply, nil)
			became = answeredBusy
		}
		c.session.conn.SendBuffer(buf)
	}
	s.answered(c.asked, became)
}

// perform carries out what a step left to do.
func (s *Server) perform(e core.Effect) {
	defer s.survived("fault while carrying out what a step left to do")
	switch e := e.(type) {
	case *core.CloseConnection:
		if c, ok := s.net.Conn(uint64(e.Conn)); ok {
			c.CloseWith(errExpired)
		}
	case *core.NotifyMinBrokerID:
		s.notifyMinBrokerID(e)
	case *core.Event:
		s.counts.event(e)
		s.events.log(e)
		if s.lookout != nil {
			s.lookout.ended(e)
		}
	}
}

// remember records the events of a step.
func (w *writer) remember() {
	for _, effect := range w.out.Effects {
		if e, ok := effect.(*core.Event); ok {
			w.rememberEvent(e)
		}
	}
}

func (w *writer) rememberEvent(e *core.Event) {
	defer w.survived("fault while an event was recorded")
	w.history.record(e, w.peerOf(e))
}

// peerOf is the other end of an event's connection, if it is known.
func (s *Server) peerOf(e *core.Event) string {
	if e.PeerAddr != "" || e.Conn == 0 {
		return e.PeerAddr
	}
	addr, _ := s.PeerAddr(uint64(e.Conn))
	return addr
}
