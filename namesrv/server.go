package namesrv

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/cpu"

	"github.com/waymark-mq/waymark/codec"
	"github.com/waymark-mq/waymark/core"
	"github.com/waymark-mq/waymark/namesrv/audit"
	"github.com/waymark-mq/waymark/namesrv/product"
	"github.com/waymark-mq/waymark/namesrv/settings"
	"github.com/waymark-mq/waymark/namesrv/storage"
	"github.com/waymark-mq/waymark/namesrv/tlsconfig"
	"github.com/waymark-mq/waymark/netpoll"
)

// errExpired is the reason for ending the connection of a broker that was silent too long.
var errExpired = errors.New("namesrv: broker silent for longer than its timeout")

// Options are what a server is made of besides its settings.
type Options struct {
	Settings *settings.Settings
	// SerializeType is the header form of answers and notifications.
	SerializeType codec.SerializeType
	Logger        *slog.Logger // nil: slog.Default()
	// Level is made to follow the setting logLevel; nil: nobody's is.
	Level *slog.LevelVar
	Clock Clock // nil: the system's
	// Wall is the wall clock, from any goroutine; nil: the system's. It dates events and records of the audit file, and stands in for
	// a timestamp that a request lacks; no deadline follows it.
	Wall          func() time.Time
	MaxFrameBytes int // 0: 16 MiB, as Apache's system property com.rocketmq.remoting.frameMaxLength
	EventLoops    int // 0: the setting's, or if that is 0 as many as GOMAXPROCS
	// Product is asked for routes that aren't found here; nil: nobody is (clusterTest=false).
	Product *product.Environment
	// Fatal is told of a fault after which the server can't go on; it must end the process and doesn't return. Any goroutine. nil:
	// panic.
	Fatal func(error)
	// TLS is what connections that begin with a TLS hello are served with, and whether others are; nil: TLS is off. The
	// server watches its files while it runs.
	TLS *tlsconfig.Source
	// MemoryLimit is what budgets that aren't set follow, in bytes (budgets.go); 0 or math.MaxInt64: there is none.
	MemoryLimit int64
}

// Server is a nameserver.
//
// Goroutines and what is theirs
//
//	event loops   netpoll's; each owns a loop (dispatch.go); read requests finish there
//	decoders      turn write requests into commands, in order for each connection; on threads that
//	              leave the processor to the others
//	persister     owns the KV and the configuration file; writes before it passes on
//	writer        owns the table; applies, publishes, answers
//	lists         encodes large list answers
//	lookout       looks for deaths otherwise than by silence (with probes or peers only); one more for each probe
//	notifier      netpoll's; connects to brokers for 905
//	routes        writes the file of routes (with routeSnapshotPath); at the start another tries
//	              the restored brokers' addresses
//	fallbacks     ask the product environment (clusterTest only)
//	peers         package peers has several; they are there if peerListenAddress is
//	KV sync       takes over the KV namespaces of another nameserver, once (kvSync only)
//	drain         once told to: sends peers elsewhere
//	audit file    logfile's; writes its lines (if there is one)
//	watcher       tlsconfig's; looks at the files of the TLS certificate (if it has any)
//
// They meet in queues that never make the sender wait. Queries and heartbeats
// pass none of them.
type Server struct {
	// Read by every query, stored a few times in the server's life.
	logger        *slog.Logger
	clock         Clock
	wall          func() time.Time
	serializeType codec.SerializeType
	settings      atomic.Pointer[settings.Settings] // stored by the writer
	guard         guard
	table         *core.Table
	net           *netpoll.Server
	product       *product.Environment // nil without clusterTest
	tls           *tlsconfig.Source    // nil: off
	started       int64                // Clock's time of New, from which needWaitForService counts
	warm          bool                 // brokers were restored; not written once the port is open
	state         atomic.Uint32        // State, but for Waiting
	goingAway     atomic.Bool          // newer clients are told to go away
	stopping      atomic.Bool          // connections end because the server does
	maxFrameBytes int
	eventLoops    int
	budgets       budgets
	maxWriteBytes int64 // budgets.writes

	_ cpu.CacheLinePad // what follows is written all the time, by somebody

	counts      *counts
	tallies     lastTallies
	guarded     guardCounts
	fatal       func(error)                       // Options.Fatal
	audit       *audit.Log                        // nil without auditLogPath
	level       *slog.LevelVar                    // Options.Level
	startedWith atomic.Pointer[settings.Settings] // in force, of keys that need a restart
	refusals    map[audit.Event]*sharedBurst      // records in the audit file that peers bring about at will; never written
	events      *eventLog
	history     *history
	drain       drain
	peering     peering
	lookout     *lookout     // nil: brokers are only heard
	routes      *routeKeeper // nil without routeSnapshotPath
	check       routeCheck
	notifier    *netpoll.Notifier
	notified    int32 // notifications so far, their opaque; writer only

	decoders decoders
	rooms    sync.Pool // of *codec.RegisterRoom
	changes  *queue[change]
	durables *queue[durable]
	listJobs chan listJob
	kvFile   *storage.File // the persister's once started
	kv       storage.KV    // read at the start, then the persister's
	stopOnce sync.Once
	stopErr  error

	fallbacks     chan fallback
	fallbacksStop context.CancelFunc
	fallbacksDone sync.WaitGroup

	writeBytes atomic.Int64 // held by write requests that wait, decoded bodies counted
	unchanged  atomic.Int64 // registrations recognised without decoding
	orderConfs atomic.Int64 // order configurations that clients can't read: put, refused ones too, or in the file at the start

	writerStop, writerDone       chan struct{}
	persisterStop, persisterDone chan struct{}
	listsStop, listsDone         chan struct{}
}

func (o *Options) setDefaults() {
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	if o.Clock == nil {
		o.Clock = systemClock{time.Now()}
	}
	if o.Wall == nil {
		o.Wall = time.Now
	}
	if o.Fatal == nil {
		o.Fatal = func(err error) { panic(err) }
	}
}

// New reads the KV file and makes a server that isn't listening yet.
func New(o Options) (*Server, error) {
	o.setDefaults()
	kvFile := storage.KVFile(o.Settings.KVConfigPath)
	kv, loaded, err := storage.LoadKV(kvFile)
	if err != nil {
		return nil, fmt.Errorf("namesrv: %w", err)
	}
	if loaded.Source == storage.FromBackup {
		o.Logger.Error("KV configuration read from its backup; later changes are lost", "path", loaded.Path, "problem", loaded.Problem)
	}
	s := newServer(o)
	s.table, s.kvFile, s.kv = core.NewTable(o.Settings.Core(), kv), kvFile, kv
	s.settings.Store(o.Settings)
	s.startedWith.Store(o.Settings)
	if err := s.guard.set(o.Settings); err != nil {
		return nil, fmt.Errorf("namesrv: %w", err)
	}
	if s.lookout, err = newLookout(s, o.Settings); err != nil {
		return nil, fmt.Errorf("namesrv: %w", err)
	}
	s.setLevel(o.Settings)
	s.checkOrderConfs(kv[core.OrderTopicConfig])
	return s, nil
}

// newServer makes a server without a table and rules.
func newServer(o Options) *Server {
	s := &Server{
		logger: o.Logger, clock: o.Clock, wall: o.Wall, serializeType: o.SerializeType,
		counts:    newCounts(o.Clock.Now()),
		events:    newEventLog(o.Logger, o.Clock.Now),
		history:   newHistory(o.Wall),
		started:   o.Clock.Now(),
		changes:   newQueue[change](),
		durables:  newQueue[durable](),
		listJobs:  make(chan listJob, maxListJobs),
		product:   o.Product,
		tls:       o.TLS,
		fallbacks: make(chan fallback, maxFallbacks),

		fatal:         o.Fatal,
		level:         o.Level,
		refusals:      newRefusals(o.Clock.Now),
		budgets:       planBudgets(o.Settings, o.MemoryLimit),
		maxFrameBytes: o.MaxFrameBytes,
		eventLoops:    o.EventLoops,

		writerStop: make(chan struct{}), writerDone: make(chan struct{}),
		persisterStop: make(chan struct{}), persisterDone: make(chan struct{}),
		listsStop: make(chan struct{}), listsDone: make(chan struct{}),
	}
	s.rooms.New = func() any { return new(codec.RegisterRoom) }
	s.maxWriteBytes = s.budgets.writes
	s.drain.init()
	s.check.dial = tryConnect
	return s
}

// checkOrderConfs counts the order configurations of the file that clients can't read, and tells of the first of them.
func (s *Server) checkOrderConfs(confs map[string]string) {
	const mostTold = 10
	for _, topic := range slices.Sorted(maps.Keys(confs)) {
		if core.CheckOrderConf(confs[topic]) != nil && s.orderConfs.Add(1) <= mostTold {
			s.events.badOrderConf(topic, confs[topic])
		}
	}
	if more := s.orderConfs.Load() - mostTold; more > 0 {
		s.logger.Warn("more order configurations would make clients fail", "count", more)
	}
}

func (s *Server) setLevel(c *settings.Settings) {
	if s.level != nil {
		s.level.Set(c.Level())
	}
}

// Start binds the port and serves until Stop. A port that is taken is an error that names it.
func (s *Server) Start() error {
	c := s.settings.Load()
	if err := s.openAudit(c); err != nil {
		return fmt.Errorf("namesrv: %w", err)
	}
	if err := s.openRoutes(c); err != nil {
		s.closeAudit()
		return fmt.Errorf("namesrv: %w", err)
	}
	s.notifier = netpoll.NewNotifier(s.notifierOptions(c))
	// The write lane runs before the first connection can use it. Half of the cores, so
	// that event loops find one when registrations come in a wave.
	s.decoders.start(max(1, runtime.GOMAXPROCS(0)/2), s.newDecoder)
	go s.runPersister()
	go s.runLists()
	s.startFallbacks()
	err := s.startPeering(c)
	var n *netpoll.Server
	if err == nil {
		n, err = netpoll.Listen(s, s.netOptions(c))
	}
	if err != nil {
		s.stopPeering()
		defer s.peering.leaving.Wait()
		close(s.writerDone) // it wasn't started
		s.stopWorkers()
		s.routes.end()
		return fmt.Errorf("namesrv: %w", err)
	}
	s.net = n
	s.warnIfOpen(n.Addr())
	s.tellBudgets()
	if s.tls != nil {
		s.tls.Start()
	}
	go s.runWriter()       // it asks the loops before it expires anybody
	if c.ListenPort == 0 { // 319 shows the port that was taken, as Apache's does
		bound := *c
		bound.ListenPort = n.Addr().(*net.TCPAddr).Port
		s.settings.Store(&bound)
		s.startedWith.Store(&bound)
	}
	s.startLookout(c)
	go func() { _ = n.Run() }() // its error is Close's, which Stop returns
	s.check.begin(s)
	s.moveTo(Serving)
	return nil
}

// Addr is the address that the server listens on.
func (s *Server) Addr() string { return s.net.Addr().String() }

// Stop ends the server: with enableShutdownGracefully newer clients are told to go away for
// shutdownWaitTimeSeconds; then connections end and what has been received is applied.
func (s *Server) Stop(ctx context.Context) error {
	if s.net == nil {
		return nil // not started
	}
	s.stopOnce.Do(func() {
		s.moveTo(Stopping)
		s.drain.end()
		s.check.end()
		s.sayGoodbye(ctx)
		if s.lookout != nil {
			s.lookout.close() // before brokers' connections end: that they do is no news of them then
		}
		s.stopPeering()
		defer s.peering.leaving.Wait()
		s.stopping.Store(true)
		s.stopErr = s.net.Close(ctx)
		if s.tls != nil {
			s.tls.Close()
		}
		s.stopWorkers()
		s.routes.close()
	})
	return s.stopErr
}

// StopLimit is how long a stop takes at the most unless something hangs, a disk for instance.
func (s *Server) StopLimit() time.Duration {
	const rest = 30 * time.Second // answers leave, what was received is applied
	if c := s.settings.Load(); c.EnableShutdownGracefully {
		return rest + time.Duration(max(c.ShutdownWaitTimeSeconds, 0))*time.Second
	}
	return rest
}

func (s *Server) sayGoodbye(ctx context.Context) {
	c := s.settings.Load()
	if !c.EnableShutdownGracefully {
		return
	}
	s.goingAway.Store(true)
	select {
	case <-time.After(time.Duration(c.ShutdownWaitTimeSeconds) * time.Second):
	case <-ctx.Done():
	}
}

// stopWorkers ends the goroutines in the direction that requests flow, so that
// nothing accepted is lost.
func (s *Server) stopWorkers() {
	s.decoders.stop()
	close(s.persisterStop)
	<-s.persisterDone
	close(s.writerStop)
	<-s.writerDone
	close(s.listsStop)
	<-s.listsDone
	s.fallbacksStop()
	s.fallbacksDone.Wait()
	s.notifier.Close()
	s.closeAudit()
}

func (s *Server) startFallbacks() {
	var ctx context.Context
	ctx, s.fallbacksStop = context.WithCancel(context.Background())
	if s.product == nil {
		return
	}
	for range fallbackWorkers {
		s.fallbacksDone.Add(1)
		go s.runFallbacks(ctx)
	}
}
