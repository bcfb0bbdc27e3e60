package clients

import (
	"errors"
	"fmt"
	"net/netip"
	"sync/atomic"
	"time"

	"golang.org/x/sys/cpu"

	"github.com/waymark-mq/waymark/bench/phase"
	"github.com/waymark-mq/waymark/bench/wire"
	"github.com/waymark-mq/waymark/profiles"
)

const (
	connectLimit = 10 * time.Second // for a connection and its first answer
	drainLimit   = int64(10 * time.Second)
	readBytes    = 256 << 10
	burst        = 64 // due requests that are written before answers are looked for again
	maxOpen      = 10_000_000
)

// driver has its share of the connections, for one goroutine.
type driver struct {
	index, drivers int
	addr           netip.AddrPort
	clients        *profiles.Clients
	poll           *poller
	conns          []*conn
	pick           *picker
	asked          uint64 // requests so far, for their opaques
	read, write    []byte
	tally          *tally
	open           int // requests that wait for an answer

	_        cpu.CacheLinePad // the counter below is read by others
	answered atomic.Int64     // written by this driver alone
	_        cpu.CacheLinePad
}

// conn is a connection; without a descriptor (-1) it was lost or isn't open yet.
type conn struct {
	id     int32
	number int // over all drivers
	fd     int
	lost   bool
	stream wire.Stream
	unsent []byte // what the socket didn't take yet

	batch   int     // closed loop: answers that are awaited
	sentAt  int64   // closed loop: when the batch was written
	pending pending // open loop
}

// dial opens the connection. With ask it also sends a first request and waits for the answer.
func (d *driver) dial(c *conn, ask bool) error {
	fd, err := connect(d.addr, source(d.addr, c.number), connectLimit)
	if err != nil {
		return err
	}
	c.fd = fd
	if ask {
		if err := d.askOnce(c); err != nil {
			hangUp(c.fd)
			c.fd = -1
			return fmt.Errorf("clients: connection %d: first request: %w", c.number, err)
		}
	}
	if err := setNonblock(c.fd); err != nil {
		return err
	}
	return d.poll.add(c.fd, c.id)
}

// askOnce sends a request on a socket that waits.
func (d *driver) askOnce(c *conn) error {
	d.write, _ = d.append(d.write[:0], c)
	for b := d.write; len(b) > 0; {
		n, err := writeSome(c.fd, b)
		if err != nil {
			return err
		}
		b = b[n:]
	}
	for {
		n, err := readSome(c.fd, d.read)
		if err != nil {
			return err
		}
		if _, _, ok, err := c.stream.Next(d.read[:n]); ok || err != nil {
			return err
		}
	}
}

// append appends the next request on c.
func (d *driver) append(dst []byte, c *conn) ([]byte, int32) {
	k, i := d.pick.next(c.number)
	opaque := wire.Opaque(d.asked)
	d.asked++
	if d.tally != nil { // else it is a connection's first
		d.tally.outcome.Sent++
		if k == miss {
			d.tally.outcome.Misses++
		}
	}
	return d.pick.sets[k].Append(dst, i, opaque), opaque
}

// send writes d.write on c. What the socket doesn't take is kept.
func (d *driver) send(c *conn) {
	if len(c.unsent) > 0 {
		c.unsent = append(c.unsent, d.write...)
		return
	}
	n, err := writeSome(c.fd, d.write)
	if err != nil && !errors.Is(err, errNotReady) {
		d.lose(c, err)
		return
	}
	if n < len(d.write) {
		c.unsent = append(c.unsent, d.write[n:]...)
		if err := d.poll.wantWrite(c.fd, c.id, true); err != nil {
			d.lose(c, err)
		}
	}
}

// flush writes what was kept.
func (d *driver) flush(c *conn) {
	n, err := writeSome(c.fd, c.unsent)
	if err != nil && !errors.Is(err, errNotReady) {
		d.lose(c, err)
		return
	}
	c.unsent = c.unsent[:copy(c.unsent, c.unsent[n:])]
	if len(c.unsent) == 0 {
		c.unsent = nil
		if err := d.poll.wantWrite(c.fd, c.id, false); err != nil {
			d.lose(c, err)
		}
	}
}

// lose ends a connection; its requests stay unanswered.
func (d *driver) lose(c *conn, err error) {
	d.tally.lost(err)
	now := phase.Now()
	if c.batch > 0 {
		d.tally.outcome.Unanswered += int64(c.batch)
		d.tally.record(now, now-c.sentAt, int64(c.batch), 0)
		d.open -= c.batch
		c.batch = 0
	}
	d.giveUp(c, now)
	hangUp(c.fd)
	c.fd, c.lost, c.unsent = -1, true, nil
}

// giveUp counts the requests of an open loop that wait for an answer: they took at least until now.
func (d *driver) giveUp(c *conn, now int64) {
	c.pending.each(func(due int64) {
		d.tally.outcome.Unanswered++
		d.tally.record(due, now-due, 1, 0)
	})
	d.open -= c.pending.open
	c.pending = pending{}
}

// receive reads what is there and hands each answer to take.
func (d *driver) receive(c *conn, take func(c *conn, a wire.Answer)) {
	for {
		n, err := readSome(c.fd, d.read)
		if errors.Is(err, errNotReady) {
			return
		}
		if err != nil {
			d.lose(c, err)
			return
		}
		answers := int64(0)
		for b := d.read[:n]; ; answers++ {
			a, rest, ok, err := c.stream.Next(b)
			if err != nil {
				d.lose(c, err)
				return
			}
			if !ok {
				break
			}
			if a.Code != 0 {
				d.tally.code(a.Code)
			}
			take(c, a)
			b = rest
		}
		if answers > 0 {
			d.answered.Add(answers)
		}
		if n < len(d.read) {
			return
		}
	}
}

// run puts load on the server from the first phase on until the last answer or the end of the drain.
func (d *driver) run(p phase.Phases) error {
	phase.SleepUntil(p.Warmup)
	if d.clients.Rate > 0 {
		return d.openLoop(p)
	}
	return d.closedLoop(p)
}
