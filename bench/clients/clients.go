package clients

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/waymark-mq/waymark/bench/phase"
	"github.com/waymark-mq/waymark/bench/topology"
	"github.com/waymark-mq/waymark/profiles"
)

// Options say what load goes where.
type Options struct {
	Addr     string // host:port
	Workload *profiles.Workload
	Topology *topology.Topology
	Drivers  int           // goroutines that share the connections; 0: 1
	Series   time.Duration // bucket of the latencies over time; 0: 100 ms
}

// Clients are connections to a server.
type Clients struct {
	options Options
	drivers []*driver
}

// Open opens the connections one after another, with one answered request on each. Those of a cold workload are opened
// only when they are first used.
func Open(o Options) (*Clients, error) {
	if o.Drivers == 0 {
		o.Drivers = 1
	}
	if o.Series == 0 {
		o.Series = 100 * time.Millisecond
	}
	load := &o.Workload.Clients
	resolved, err := net.ResolveTCPAddr("tcp", o.Addr)
	if err != nil {
		return nil, fmt.Errorf("clients: %w", err)
	}
	addr := netip.AddrPortFrom(resolved.AddrPort().Addr().Unmap(), uint16(resolved.Port))
	c := &Clients{options: o}
	all := newRequests(load, o.Topology)
	for i := range min(o.Drivers, load.Connections) {
		poll, err := newPoller()
		if err != nil {
			c.Close()
			return nil, fmt.Errorf("clients: %w", err)
		}
		c.drivers = append(c.drivers, &driver{
			index: i, addr: addr, clients: load, poll: poll, pick: all.picker(o.Workload.Seed, uint64(i)), read: make([]byte, readBytes),
		})
	}
	for i := range load.Connections {
		d := c.drivers[i%len(c.drivers)]
		d.drivers = len(c.drivers)
		conn := &conn{id: int32(len(d.conns)), number: i, fd: -1}
		d.conns = append(d.conns, conn)
		if o.Workload.Cold {
			continue
		}
		if err := d.dial(conn, true); err != nil {
			c.Close()
			return nil, fmt.Errorf("%w (connection %d of %d)", err, i+1, load.Connections)
		}
	}
	return c, nil
}

// Answered is the number of answers since Run; it may be called while that runs.
func (c *Clients) Answered() int64 {
	var n int64
	for _, d := range c.drivers {
		n += d.answered.Load()
	}
	return n
}

// Run puts the load on through all phases and returns when every request is answered or given up.
func (c *Clients) Run(p phase.Phases) (Outcome, error) {
	errs := make([]error, len(c.drivers))
	total := newTally(p, c.options.Series)
	var running sync.WaitGroup
	for i, d := range c.drivers {
		d.tally = newTally(p, c.options.Series)
		running.Go(func() { errs[i] = d.run(p) })
	}
	running.Wait()
	for _, d := range c.drivers {
		total.merge(d.tally)
	}
	return total.done(), errors.Join(errs...)
}

// Close ends the connections.
func (c *Clients) Close() {
	for _, d := range c.drivers {
		for _, conn := range d.conns {
			if conn.fd >= 0 {
				hangUp(conn.fd)
				conn.fd = -1
			}
		}
		d.poll.close()
	}
}
