package clients

import (
	"fmt"
	"time"

	"github.com/waymark-mq/waymark/bench/phase"
	"github.com/waymark-mq/waymark/bench/wire"
)

// closedLoop keeps one batch in flight on each connection.
func (d *driver) closedLoop(p phase.Phases) error {
	for _, c := range d.conns {
		if !d.ready(c) {
			continue
		}
		d.sendBatch(c, phase.Now())
	}
	var answers, bytes int64 // of one read event
	take := func(c *conn, a wire.Answer) {
		if c.batch == 0 {
			d.tally.outcome.Strangers++
			return
		}
		c.batch--
		d.open--
		answers++
		bytes += int64(a.Bytes)
	}
	var events []event
	var through []*conn // those whose batch is answered
	for d.open > 0 && phase.Now() < p.End+drainLimit {
		var err error
		if events, err = d.poll.wait(events[:0], p.End+drainLimit); err != nil {
			return fmt.Errorf("clients: %w", err)
		}
		through = through[:0]
		for _, e := range events {
			c := d.conns[e.id]
			if e.ready && c.fd >= 0 {
				d.flush(c)
			}
			if !e.readable || c.fd < 0 {
				continue
			}
			answers, bytes = 0, 0
			d.receive(c, take)
			if answers > 0 {
				now := phase.Now()
				d.tally.record(now, now-c.sentAt, answers, bytes)
			}
			if c.batch == 0 && c.fd >= 0 {
				through = append(through, c)
			}
		}
		// First all is read, then written: a server that waits is woken once for all of them, and it is the writer who
		// pays for waking it.
		for _, c := range through {
			if now := phase.Now(); now < p.End {
				d.sendBatch(c, now)
			}
		}
	}
	d.tally.outcome.Unanswered += int64(d.open)
	return nil
}

func (d *driver) sendBatch(c *conn, now int64) {
	d.write = d.write[:0]
	for range d.clients.Depth {
		d.write, _ = d.append(d.write, c)
	}
	c.batch, c.sentAt = d.clients.Depth, now
	d.open += d.clients.Depth
	d.send(c)
}

// openLoop sends each request when it is due. Request k of all is the driver's if k modulo drivers is its index, and goes out
// on its connections in turn.
func (d *driver) openLoop(p phase.Phases) error {
	due := func(n int) int64 {
		k := float64(n)*float64(d.drivers) + float64(d.index)
		return p.Warmup + int64(k*float64(time.Second)/d.clients.Rate)
	}
	next := 0
	var events []event
	for {
		now := phase.Now()
		for i := 0; i < burst && due(next) <= now && due(next) < p.End; i++ {
			d.sendDue(d.conns[next%len(d.conns)], due(next), now)
			next++
		}
		until := due(next)
		if until >= p.End {
			until = p.End + drainLimit
			if d.open == 0 || now >= until {
				break
			}
		}
		if d.open > maxOpen {
			return fmt.Errorf("clients: %d requests wait for an answer: the server can't keep up with %g requests/s", d.open, d.clients.Rate)
		}
		var err error
		if events, err = d.poll.wait(events[:0], until); err != nil {
			return fmt.Errorf("clients: %w", err)
		}
		for _, e := range events {
			c := d.conns[e.id]
			if e.ready && c.fd >= 0 {
				d.flush(c)
			}
			if e.readable && c.fd >= 0 {
				d.receive(c, d.answer)
			}
		}
	}
	for _, c := range d.conns {
		d.giveUp(c, phase.Now())
	}
	return nil
}

// sendDue sends a request that was due before now.
func (d *driver) sendDue(c *conn, due, now int64) {
	var opaque int32
	d.write, opaque = d.append(d.write[:0], c)
	if !d.ready(c) {
		d.tally.outcome.Unanswered++
		return
	}
	c.pending.push(due, opaque)
	d.open++
	if part, _ := d.tally.part(due); part != nil {
		part.late.Record(now-due, 1)
	}
	d.send(c)
}

// answer takes an answer of an open loop.
func (d *driver) answer(c *conn, a wire.Answer) {
	due, known, ok := c.pending.answer(a.Opaque)
	if !known {
		d.tally.outcome.Strangers++
	}
	if ok {
		d.open--
		d.tally.record(due, phase.Now()-due, 1, int64(a.Bytes))
	}
}

// ready opens a connection that isn't open yet, and reports whether it is now.
func (d *driver) ready(c *conn) bool {
	if c.fd < 0 && !c.lost {
		if err := d.dial(c, false); err != nil {
			c.lost = true
			d.tally.lost(err)
		}
	}
	return c.fd >= 0
}
