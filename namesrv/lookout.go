package namesrv

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/waymark-mq/waymark/core"
	"github.com/waymark-mq/waymark/namesrv/probe"
	"github.com/waymark-mq/waymark/namesrv/settings"
	life "github.com/waymark-mq/waymark/namesrv/verdict"
	"github.com/waymark-mq/waymark/remoting"
)

const (
	// lookoutRound is how often it is looked what is due.
	lookoutRound = 100 * time.Millisecond
	// mostProbes bounds the probes under way, and mostLinks the connections kept from one to the next, each of which may hold an answer.
	mostProbes, mostLinks = 64, 256
	// mostEnds bounds the ends of brokers that wait to be told to peers.
	mostEnds = 20_000
	// registrationPeriod is how long a broker that lives is silent at the most: it registers every 30 s.
	registrationPeriod = 40 * time.Second
)

// lookout looks for brokers' deaths otherwise than by their silence: it probes them, hears what other nameservers have seen, and tells them. It
// decides nothing itself (see the judge) and removes nobody itself: what it finds goes to the writer as a command.
//
// There is none with probes and peers off. Its goroutine runs the rounds; each probe has one, too. mu guards the judge and links and is held for no
// call that waits. The writer leaves ends of brokers in a queue.
type lookout struct {
	server  *Server
	tell    func([]life.Word)         // to the peers; nil: there are none
	members func() (known, alive int) // the peers
	prober  *probe.Prober
	keeps   bool // links are used again soon enough
	ends    *queue[*core.Event]
	stop    context.CancelFunc
	running sync.WaitGroup

	mu        sync.Mutex
	judge     *life.Judge
	links     map[life.Key]*remoting.Client
	under     int // probes under way
	lastRound int64

	outcomes [life.Forbidden + 1]atomic.Uint64
	lost     atomic.Uint64 // ends that were not told: too many waited
}

// newLookout returns nil if settings want none. It doesn't look yet.
func newLookout(s *Server, c *settings.Settings) (*lookout, error) {
	interval, peers := time.Duration(c.ProbeIntervalMillis)*time.Millisecond, c.PeerListenAddress != ""
	if interval == 0 && !peers {
		return nil, nil
	}
	allow, err := c.ProbeAllow()
	if err != nil {
		return nil, err
	}
	l := &lookout{
		server: s,
		prober: probe.New(time.Duration(c.ProbeTimeoutMillis)*time.Millisecond, allow),
		keeps:  interval > 0 && interval <= time.Minute,
		ends:   newQueue[*core.Event](),
		links:  map[life.Key]*remoting.Client{},
		judge: life.NewJudge(life.Rules{
			Interval: interval, Failures: c.ProbeFailuresToSuspect,
			Removes: c.ProbeRemoves, RemoveAfter: time.Duration(c.ProbeRemoveAfterMillis) * time.Millisecond,
			OnWord: peers && c.PeerOfflineProbe, Period: registrationPeriod,
		}),
		lastRound: s.clock.Now(),
	}
	if peers {
		l.tell, l.members = s.tellPeers, s.countPeers
	}
	return l, nil
}

// start begins the rounds.
func (l *lookout) start() {
	var ctx context.Context
	ctx, l.stop = context.WithCancel(context.Background())
	l.running.Go(func() {
		ticks := time.NewTicker(lookoutRound)
		defer ticks.Stop()
		for {
			select {
			case <-ticks.C:
				l.round(ctx)
			case <-l.ends.wake:
				l.round(ctx)
			case <-ctx.Done():
				return
			}
		}
	})
}

// close ends it and its probes. A word of a peer may still come.
func (l *lookout) close() {
	l.stop()
	l.running.Wait()
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, link := range l.links {
		link.Close()
	}
}

// ended takes note of an event of the table. Writer only; it never waits.
func (l *lookout) ended(e *core.Event) {
	if l.tell == nil || e.Sign == 0 {
		return
	}
	if l.ends.len() >= mostEnds {
		l.lost.Add(1)
		return
	}
	l.ends.push(e)
}

// heard takes the words of a peer. Any goroutine.
func (l *lookout) heard(peer string, words []life.Word) {
	now := l.server.clock.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.know(now)
	for i := range words {
		l.judge.Heard(now, peer, &words[i])
	}
}

// round does what is due. A fault of ours in it costs this round.
func (l *lookout) round(ctx context.Context) {
	defer l.server.survived("fault while brokers' lives were looked into")
	var a life.Actions
	l.decide(&a)
	for _, t := range a.Probe {
		l.running.Go(func() { l.probe(ctx, t) })
	}
	for _, d := range a.Declare {
		l.declare(d)
	}
	if l.tell != nil && len(a.Tell) > 0 {
		l.tell(a.Tell)
	}
	for i := range a.Turned {
		l.server.turned(&a.Turned[i])
	}
}

// declare has a broker removed once the loops have read what had come, as a scan does: a heartbeat may wait in a socket.
func (l *lookout) declare(d *core.DeclareDead) {
	s := l.server
	s.net.Barrier(func() {
		s.net.Barrier(func() { s.pass(change{command: d}, s.clock.Now()) })
	})
}

func (l *lookout) decide(a *life.Actions) {
	known, alive := 0, 0
	if l.members != nil {
		known, alive = l.members()
	}
	now := l.server.clock.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.judge.SetPeers(known, alive)
	if late := now - l.lastRound - int64(lookoutRound); late > frozenNanos {
		l.judge.Froze(now, late)
	}
	l.lastRound = now
	for _, e := range l.ends.takeAll(nil) {
		l.judge.Left(now, e)
	}
	l.know(now)
	l.judge.Due(now, mostProbes-l.under, a)
	l.under += len(a.Probe)
}

// know brings the judge up to date; links of brokers that are gone are closed. With mu held.
func (l *lookout) know(now int64) {
	if !l.judge.Know(now, l.server.table.Load()) {
		return
	}
	for k, link := range l.links {
		if _, ok := l.judge.State(k); !ok {
			link.Close()
			delete(l.links, k)
		}
	}
}

// probe asks one broker. A fault of ours in it leaves the outcome open.
func (l *lookout) probe(ctx context.Context, t life.Target) {
	key := life.Key{Cluster: t.ClusterName, Addr: t.BrokerAddr}
	l.mu.Lock()
	link := l.links[key]
	delete(l.links, key)
	l.mu.Unlock()
	result := life.Result{Outcome: life.Impossible}
	defer func() { l.probed(ctx, key, t.Broker, result, link) }()
	defer l.server.survived("fault while a broker was probed")
	result, link = l.prober.Ask(ctx, t, link)
}

// probed takes the result of a probe, and its link, if there is one.
func (l *lookout) probed(ctx context.Context, key life.Key, b life.Broker, result life.Result, link *remoting.Client) {
	l.outcomes[result.Outcome].Add(1)
	result.Why = short(result.Why)
	if news := l.settle(ctx, key, &b, &result, link); result.Outcome == life.Forbidden && news {
		l.server.events.notProbed(&b, result.Why)
	}
}

// settle hands a result to the judge, and keeps the link if there is a use for it. It reports whether the broker
// is registered and could be probed until now, for all that was known.
func (l *lookout) settle(ctx context.Context, key life.Key, b *life.Broker, result *life.Result, link *remoting.Client) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.under--
	before, known := l.judge.State(key)
	if ctx.Err() == nil {
		l.judge.Probed(l.server.clock.Now(), *b, *result)
	}
	if link != nil && (!known || !l.keeps || ctx.Err() != nil || len(l.links) >= mostLinks) {
		link.Close()
	} else if link != nil {
		if former := l.links[key]; former != nil { // of the broker's life before: two probes were under way
			former.Close()
		}
		l.links[key] = link
	}
	return known && !before.Forbidden
}

// ProbeState is what is known of a broker's life beyond its heartbeats. Times are Clock's, 0: never.
type ProbeState = life.State

// Probed returns what probes and peers say of a broker; ok is false if nobody asks. Any goroutine.
func (s *Server) Probed(cluster, addr string) (state ProbeState, ok bool) {
	if s.lookout == nil {
		return state, false
	}
	s.lookout.mu.Lock()
	defer s.lookout.mu.Unlock()
	return s.lookout.judge.State(life.Key{Cluster: cluster, Addr: addr})
}

// LookoutMetrics count probes.
type LookoutMetrics struct {
	Answered, Refused, Unanswered, Impossible, Forbidden uint64

	Suspects int
	Untold   uint64 // ends of brokers that peers were not told of: too many at once
}

// lookoutMetrics is what the lookout has counted; zeros without one.
func (s *Server) lookoutMetrics() (m LookoutMetrics) {
	l := s.lookout
	if l == nil {
		return m
	}
	m = LookoutMetrics{
		Answered: l.outcomes[life.Answered].Load(), Refused: l.outcomes[life.Rejected].Load(),
		Unanswered: l.outcomes[life.Silent].Load(), Impossible: l.outcomes[life.Impossible].Load(),
		Forbidden: l.outcomes[life.Forbidden].Load(), Untold: l.lost.Load(),
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	m.Suspects = l.judge.Suspects()
	return m
}
