package namesrv

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/waymark-mq/waymark/namesrv/audit"
	"github.com/waymark-mq/waymark/netpoll"
)

const (
	// drainStep is how often connections are ended while a drain spreads their ends.
	drainStep = 100 * time.Millisecond
	// drainPatience is how many steps a busy connection is given to become quiet.
	drainPatience = 20
	// leastRound is how long a round takes at the least, but for the first.
	leastRound = time.Second
	allConns   = 1 << 30
)

// drain sends peers elsewhere before the server is stopped. For the first quarter of drainSeconds the server only says that it
// isn't ready. For the rest of it the connections are ended, spread evenly, clients' before those that may be a broker's: a
// client goes on to another nameserver of its list, and those of a fleet don't do so at once. Whoever has come meanwhile is ended in further
// rounds, but for brokers, which talk to every nameserver. Queries are answered all the time.
//
// A connection is ended when nothing is under way on it, so no answer is lost, unless it is never quiet. The end removes no
// broker. There is no way back: clients have left, and come back only if another nameserver fails.
type drain struct {
	after func(time.Duration) <-chan time.Time // time.After, or a test's

	mu      sync.Mutex
	cancel  context.CancelFunc // nil: not begun
	over    bool               // the server stops
	running sync.WaitGroup

	rounds, ended atomic.Int64
}

// DrainStatus is how far a drain is.
type DrainStatus struct {
	Rounds int64 // times that all connections were gone through
	Ended  int64 // connections ended
}

func (d *drain) init() { d.after = time.After }

func (d *drain) status() DrainStatus { return DrainStatus{d.rounds.Load(), d.ended.Load()} }

// begin runs the drain until end; false after it.
func (d *drain) begin(run func(context.Context)) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.over {
		return false
	}
	var ctx context.Context
	ctx, d.cancel = context.WithCancel(context.Background())
	d.running.Go(func() { run(ctx) })
	return true
}

// end returns once nothing of the drain runs.
func (d *drain) end() {
	d.mu.Lock()
	d.over = true
	if d.cancel != nil {
		d.cancel()
	}
	d.mu.Unlock()
	d.running.Wait()
}

// wait lets time go by; false if the drain is to end.
func (d *drain) wait(ctx context.Context, t time.Duration) bool {
	select {
	case <-d.after(t):
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}

// Drain begins to send peers elsewhere; by is who wants it, an address or a signal. It reports whether it has begun: not before the
// start, not again, and not once the server stops. Any goroutine.
func (s *Server) Drain(by string) bool {
	if s.running() == nil || !s.moveTo(Draining) {
		return false
	}
	return s.drain.begin(func(ctx context.Context) { s.runDrain(ctx, by) })
}

func (s *Server) runDrain(ctx context.Context, by string) {
	total := time.Duration(s.settings.Load().DrainSeconds) * time.Second
	unready := total / 4
	s.tellDrain(drainBegun, by, fmt.Sprintf("connections end after %v, within %v", unready, total-unready))
	if !s.drain.wait(ctx, unready) {
		s.tellDrain(drainCut, by, "the server stopped before any connection was to be ended")
		return
	}
	for round := s.newDrainRound(ctx, true); ; round = s.newDrainRound(ctx, false) {
		first, all := s.drain.rounds.Load() == 0, len(round.ids)
		switch whole := round.run(ctx, total-unready); {
		case !whole && first:
			s.tellDrain(drainCut, by, fmt.Sprintf("the server stopped when %d of %d connections were ended", s.drain.ended.Load(), all))
			return
		case !whole:
			return
		}
		if s.drain.rounds.Add(1); first {
			s.tellDrain(drainEnded, by, fmt.Sprintf("every connection was ended once: %d", s.drain.ended.Load()))
		}
		total = max(total, unready+leastRound)
	}
}

// drainTold is how the beginning or the end of a drain is told.
type drainTold struct {
	kind, text string // of the event
	record     audit.Event
}

var (
	drainBegun = drainTold{"drain_begun", "draining: not ready any more, peers are to go elsewhere", audit.DrainBegun}
	drainEnded = drainTold{"drain_ended", "drained", audit.DrainEnded}
	drainCut   = drainTold{"drain_ended", "drain cut short", audit.DrainEnded}
)

// tellDrain makes it a line, an event and a record. The drain's goroutine.
func (s *Server) tellDrain(t drainTold, by, detail string) {
	s.logger.Info(t.text, "by", by, "detail", detail)
	s.audit.Write(&audit.Record{Event: t.record, Peer: audit.Peer{From: by}, Remark: detail})
	s.addEvent(Event{Kind: t.kind, Text: t.text, Peer: bounded(by), Detail: detail})
}

// drainRound ends the connections that were open when it began.
type drainRound struct {
	*Server
	ids  []uint64
	busy []busyConn // were to be ended by now
}

// busyConn is a connection on which something was under way so many times.
type busyConn struct {
	id    uint64
	times int
}

// newDrainRound takes the connections that are open, brokers' last or not at all.
func (s *Server) newDrainRound(ctx context.Context, brokersToo bool) *drainRound {
	type conn struct {
		id     uint64
		broker bool
	}
	r := &drainRound{Server: s}
	ids, _ := s.net.ConnIDs(0, allConns)
	conns, err := netpoll.Collect(ctx, s.net, ids, func(c *netpoll.Conn) conn {
		return conn{c.ID(), c.Context.(*session).mayOwnBrokers()}
	})
	if err != nil {
		return r // the server stops
	}
	for _, brokers := range []bool{false, true} {
		for _, c := range conns {
			if c.broker == brokers && (!brokers || brokersToo) {
				r.ids = append(r.ids, c.id)
			}
		}
	}
	return r
}

// run ends the connections in the given time, and those that were busy soon after; false if the drain is to end.
func (r *drainRound) run(ctx context.Context, spread time.Duration) bool {
	steps := max(1, int(spread/drainStep))
	all, ended := len(r.ids), 0
	for step := 1; step <= steps || len(r.busy) > 0; step++ {
		if !r.drain.wait(ctx, min(spread, drainStep)) {
			return false
		}
		for due := all * min(step, steps) / steps; ended < due; ended++ {
			r.busy = append(r.busy, busyConn{id: r.ids[ended]})
		}
		r.endDue(ctx)
	}
	return true
}

// endDue ends the connections that are due and quiet, and those that have been busy for too long.
func (r *drainRound) endDue(ctx context.Context) {
	ids := make([]uint64, len(r.busy))
	for i, b := range r.busy {
		ids[i] = b.id
	}
	gone := map[uint64]bool{} // of those that are open
	type try struct {
		id    uint64
		ended bool
	}
	tries, _ := netpoll.Collect(ctx, r.net, ids, func(c *netpoll.Conn) try { return try{c.ID(), endIfQuiet(c)} })
	for _, t := range tries {
		gone[t.id] = t.ended
		if t.ended {
			r.drain.ended.Add(1)
		}
	}
	var still []busyConn
	for _, b := range r.busy {
		ended, open := gone[b.id]
		switch b.times++; {
		case !open || ended:
		case b.times < drainPatience:
			still = append(still, b)
		default:
			if c, ok := r.net.Conn(b.id); ok {
				c.CloseWith(netpoll.ErrDrained)
				r.drain.ended.Add(1)
			}
		}
	}
	r.busy = still
}

// endIfQuiet ends a connection that neither the loop nor the write lane is busy with. On its loop. A request is pending, then
// its answer is being made, then that is unsent: looked at in this order none is missed.
func endIfQuiet(c *netpoll.Conn) bool {
	s := c.Context.(*session)
	return s.pending.Load() == 0 && s.answering.Load() == 0 && c.EndQuiet(netpoll.ErrDrained)
}
