package bench

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/waymark-mq/waymark/bench/clients"
	"github.com/waymark-mq/waymark/bench/fleet"
	"github.com/waymark-mq/waymark/bench/phase"
	"github.com/waymark-mq/waymark/bench/servers"
	"github.com/waymark-mq/waymark/bench/topology"
	"github.com/waymark-mq/waymark/profiles"
)

// settle is how long a server may work off thousands of new connections before its memory is read.
const settle = 500 * time.Millisecond

// manyConnections is where the cost of a connection can be told from noise.
const manyConnections = 1_000

// Options of a run.
type Options struct {
	Drivers int           // of the clients; 0: 1
	Series  time.Duration // bucket of the latencies over time; 0: 100 ms
}

// Run starts the server, puts the workload on it, and stops it. The error says what kept the workload from being put on; what the server
// did wrong is in the result's Faults.
func Run(ctx context.Context, s *servers.Server, w *profiles.Workload, o Options) (*Result, error) {
	load := *w
	if s.Floor {
		load.Fleet.Heartbeat = 0 // it would answer those too, though they are one-way
	}
	running, err := s.Start(ctx)
	if err != nil {
		return nil, err
	}
	m := &measurement{running: running, load: &load, options: o}
	err = m.run(ctx, s)
	if err != nil {
		err = errors.Join(err, running.Alive())
	}
	if err := errors.Join(err, running.Stop()); err != nil {
		return nil, fmt.Errorf("bench: %s: %w", s.Name, err)
	}
	m.result.Workload = *w
	return &m.result, nil
}

// measurement is one run on a server.
type measurement struct {
	running *servers.Running
	load    *profiles.Workload
	options Options
	result  Result
}

func (m *measurement) run(ctx context.Context, s *servers.Server) error {
	r := &m.result
	r.Server, r.Loops, r.Floor, r.Listen, r.Known = s.Name, s.Loops, s.Floor, m.running.Listening, m.running.PID != 0
	var err error
	if r.Start, err = m.running.Usage(); err != nil {
		return err
	}
	top := topology.New(&m.load.Fleet, m.load.Seed)
	brokers := fleet.New(m.running.Addr, m.load, top)
	defer brokers.Close()
	if err := m.fill(brokers); err != nil {
		return err
	}
	pollers, err := m.connect(top)
	if err != nil {
		return err
	}
	defer pollers.Close()
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := m.phases(pollers, brokers); err != nil {
		return err
	}
	r.End, err = m.running.Usage()
	return err
}

// since returns what was used since an earlier look.
func (m *measurement) since(before servers.Usage, began time.Time) (wall, cpu time.Duration, now servers.Usage, err error) {
	wall = time.Since(began)
	now, err = m.running.Usage()
	return wall, now.CPU - before.CPU, now, err
}

func (m *measurement) fill(brokers *fleet.Fleet) error {
	f := &m.result.Fill
	f.BodyBytes = brokers.BodyBytes()
	if m.load.Cold || m.load.Fleet.Brokers == 0 {
		return nil
	}
	began := time.Now()
	var err error
	if f.Registrations, err = brokers.Fill(); err != nil {
		return err
	}
	var now servers.Usage
	f.Wall, f.CPU, now, err = m.since(m.result.Start, began)
	f.Resident = now.Resident
	return err
}

func (m *measurement) connect(top *topology.Topology) (*clients.Clients, error) {
	before, err := m.running.Usage()
	if err != nil {
		return nil, err
	}
	began := time.Now()
	c, err := clients.Open(clients.Options{
		Addr: m.running.Addr, Workload: m.load, Topology: top, Drivers: m.options.Drivers, Series: m.options.Series,
	})
	if err != nil || m.load.Cold {
		return c, err
	}
	r := &m.result.Connect
	r.Connections = m.load.Clients.Connections
	r.Wall, r.CPU, _, err = m.since(before, began)
	if err == nil && r.Connections >= manyConnections {
		time.Sleep(settle)
	}
	if err == nil {
		var now servers.Usage
		now, err = m.running.Usage()
		r.Grown = now.Resident - before.Resident
	}
	if err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// phases lets clients and brokers go through the phases and looks at the server where one begins.
func (m *measurement) phases(pollers *clients.Clients, brokers *fleet.Fleet) error {
	p := phase.Of(m.load, phase.Now()+int64(10*time.Millisecond))
	type outcome struct {
		clients clients.Outcome
		err     error
	}
	polled, lived := make(chan outcome, 1), make(chan fleet.Outcome, 1)
	go func() {
		o, err := pollers.Run(p)
		polled <- outcome{o, err}
	}()
	go func() { lived <- brokers.Run(p) }()
	var looks []look
	var failed error
	for _, at := range []int64{p.Quiet, p.Measured, p.End} {
		phase.SleepUntil(at)
		l, err := m.look(pollers, brokers)
		failed = errors.Join(failed, err)
		looks = append(looks, l)
	}
	c := <-polled
	m.result.Clients, m.result.Fleet = c.clients, <-lived
	if m.load.Quiet > 0 {
		m.result.Quiet = looks[1].minus(looks[0])
	}
	m.result.Measured = looks[2].minus(looks[1])
	// Those that were due in the phase and answered after its end belong to it.
	m.result.Measured.Registered = brokers.Registered()
	return errors.Join(failed, c.err)
}

// look is what the server had done at some time.
type look struct {
	at           int64
	cpu          time.Duration
	answered     int64
	acknowledged int64
}

func (m *measurement) look(pollers *clients.Clients, brokers *fleet.Fleet) (look, error) {
	u, err := m.running.Usage()
	return look{phase.Now(), u.CPU, pollers.Answered(), brokers.Acknowledged()}, err
}

func (l look) minus(o look) Spent {
	return Spent{
		Wall: time.Duration(l.at - o.at), CPU: l.cpu - o.cpu, Answered: l.answered - o.answered, Acknowledged: l.acknowledged - o.acknowledged,
	}
}
