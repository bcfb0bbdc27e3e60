package peers

import (
	"cmp"
	"context"
	crand "crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/memberlist"

	"github.com/waymark-mq/waymark/namesrv/verdict"
)

const (
	// maxMembers bounds who is taken into the group.
	maxMembers = 64
	// beaconEvery is how often each peer hears from us.
	beaconEvery = time.Second
	// silentBeats is how many beacons in a row must be missing until a peer isn't reached: it is sooner than probes can remove any broker.
	silentBeats = 3
	// joinEvery is how often it is looked who isn't there; after failures it takes up to so long.
	joinEvery = 30 * time.Second
	// settleTime is how long what two nameservers hold may differ without that meaning anything: a broker registers every 30 s.
	settleTime = 45 * time.Second
	// streamTimeout bounds a TCP connection between nameservers, from dialling to its end.
	streamTimeout = 3 * time.Second
	// leaveTime is how long a stop waits for the others to be told. memberlist says a thing to three of them each gossipEvery, and that it is said
	// after four times, of few.
	leaveTime, gossipEvery = 500 * time.Millisecond, 50 * time.Millisecond
)

// Options are what a Group is made of.
type Options struct {
	// Listen is the address (TCP and UDP), host:port; port 0 takes a free one.
	Listen string
	// Advertise is where the others reach it, host:port with an IP for host; "": Listen's, or this machine's address if that is none in particular.
	Advertise string
	Name      string // "": Advertise
	// Peers are whom to join: host:port, or a host of which each address counts, with Listen's port unless it names one.
	Peers []string
	// Keys encrypt (the first) and decrypt (all); 16, 24 or 32 bytes each. None: everything is readable, and anybody may say anything.
	Keys [][]byte

	Logger *slog.Logger // nil: slog.Default()
	// Now is monotonic time in nanoseconds, from any goroutine: what Words are in.
	Now func() int64

	// Heard is told what a peer has said, from one goroutine, which waits for it. Nil: nobody is.
	Heard func(from string, words []verdict.Word)
	// Self is what this nameserver says of itself now. It is asked every second, and by New and Close: any goroutine. Nil: it is ready and says nothing.
	Self func() Self
	// Digest sums up the table now. It is asked every other second, from one goroutine. Nil: nothing is compared.
	Digest func() Digest
	// List answers what the others ask (Group.List), from one goroutine. Nil: with nothing.
	List func(Query) Page

	// For tests: whom packets and connections go through instead of the network, whether names resolve, how often things happen.
	transport memberlist.NodeAwareTransport
	resolve   func(ctx context.Context, host string) ([]net.IP, error)
	quick     time.Duration // 0: beaconEvery, and the rest in proportion
}

// Group is this nameserver among the others. All methods may be called from any goroutine.
type Group struct {
	o     Options
	name  string
	addr  string // that others reach it at
	run   uint64 // drawn by this process
	list  *memberlist.Memberlist
	log   memberLog
	gate  *gate
	ctx   context.Context
	leave context.CancelFunc
	ends  sync.WaitGroup
	once  sync.Once

	beat    time.Duration // between beacons
	heard   chan batch
	asked   chan question
	missing chan struct{} // somebody has left: look who isn't there
	greet   chan struct{} // somebody has come: he waits for a beacon

	mu     sync.Mutex
	peers  map[string]*peer
	own    recent // digests of routes
	ownNow Digest
	waits  map[uint64]chan Page // asks under way, by number
	asks   uint64
	self   []byte // what memberlist carries for us

	counts counts
}

// counts are what has happened since the start.
type counts struct {
	toldWords, lateWords, fullWords, unsayable  atomic.Uint64
	heardWords, floodedWords, unknownWords      atomic.Uint64
	badMessages, unknownMessages, stranger, old atomic.Uint64
	unheard, unasked                            atomic.Uint64
}

// Counts are what has happened to messages since the start, by name.
type Counts struct {
	Told, Late, Full uint64 // words sent to a peer; dropped because they had waited too long; because too many waited
	Unsayable        uint64 // words that no message has room for
	Heard            uint64 // words taken
	Flooded          uint64 // words dropped because a peer said too many, or they came faster than they were taken
	Unknown          uint64 // words and messages of kinds or versions that aren't known here
	Malformed        uint64 // messages that are none
	Unreadable       uint64 // packets and connections encrypted with another key, or not at all though there are keys, or changed on their way
	Strangers        uint64 // messages of who isn't a peer, or wasn't when they were sent, or for an earlier process
	Repeated         uint64 // messages that had been here before
	Unanswered       uint64 // asks dropped because too many waited
	Refused          uint64 // connections closed because too many were open
}

// New opens the address and begins to join the others. That nobody is reached is no error.
func New(o Options) (*Group, error) {
	o.fill()
	keys, err := keyring(o.Keys)
	if err != nil {
		return nil, err
	}
	g := &Group{
		o: o, beat: beaconEvery, peers: map[string]*peer{}, waits: map[uint64]chan Page{},
		heard: make(chan batch, maxHeardBatches), asked: make(chan question, maxQuestions), missing: make(chan struct{}, 1), greet: make(chan struct{}, 1),
		log: newMemberLog(o.Logger, o.Now),
	}
	if o.quick > 0 {
		g.beat = o.quick
	}
	if g.run, err = drawRun(); err != nil {
		return nil, err
	}
	at, err := g.open()
	if err != nil {
		return nil, err
	}
	g.addr = at.String()
	if g.name = o.Name; g.name == "" {
		g.name = g.addr
	}
	if len(g.name) > maxNameBytes {
		_ = g.gate.Shutdown()
		return nil, fmt.Errorf("peers: name of %d bytes, at most %d", len(g.name), maxNameBytes)
	}
	g.self = appendSelf(nil, g.run, o.Self())
	g.ctx, g.leave = context.WithCancel(context.Background())
	if g.list, err = memberlist.Create(g.config(at, keys)); err != nil {
		g.leave()
		_ = g.gate.Shutdown()
		return nil, fmt.Errorf("peers: %w", err)
	}
	g.ends.Go(g.runJoiner)
	g.ends.Go(g.runBeacon)
	g.ends.Go(g.runHearer)
	g.ends.Go(g.runAnswerer)
	return g, nil
}

func (o *Options) fill() {
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	if o.Heard == nil {
		o.Heard = func(string, []verdict.Word) {}
	}
	if o.Self == nil {
		o.Self = func() Self { return Self{State: Ready} }
	}
	if o.List == nil {
		o.List = func(Query) Page { return Page{} }
	}
	if o.resolve == nil {
		o.resolve = lookUp
	}
}

// keyring is nil without keys.
func keyring(keys [][]byte) (*memberlist.Keyring, error) {
	if len(keys) == 0 {
		return nil, nil
	}
	ring, err := memberlist.NewKeyring(keys, keys[0])
	if err != nil {
		return nil, fmt.Errorf("peers: key: %w", err)
	}
	return ring, nil
}

func drawRun() (uint64, error) {
	var b [8]byte
	if _, err := crand.Read(b[:]); err != nil {
		return 0, fmt.Errorf("peers: %w", err)
	}
	return binary.LittleEndian.Uint64(b[:]) | 1, nil // never 0
}

// config is memberlist's for a local network, with shorter ways.
func (g *Group) config(at *net.TCPAddr, keys *memberlist.Keyring) *memberlist.Config {
	c := memberlist.DefaultLANConfig()
	c.Name, c.Transport, c.Keyring = g.name, g.gate, keys
	c.AdvertiseAddr, c.AdvertisePort = at.IP.String(), at.Port
	c.TCPTimeout, c.GossipInterval = streamTimeout, gossipEvery
	c.GossipToTheDeadTime = 2 * joinEvery
	c.DeadNodeReclaimTime = 10 * time.Second // a name that comes back with another address
	c.EnableCompression = false
	c.Delegate, c.Events, c.Alive = delegate{g}, delegate{g}, delegate{g}
	c.Logger = g.log.logger()
	if g.o.quick > 0 {
		c.GossipInterval, c.ProbeInterval, c.ProbeTimeout = g.beat/2, g.beat*4, g.beat*2
		c.PushPullInterval = g.beat * 20
	}
	return c
}

// Name is this nameserver's among the others.
func (g *Group) Name() string { return g.name }

// Run is drawn by each process of a nameserver.
func (g *Group) Run() uint64 { return g.run }

// Addr is the address that others reach it at, ip:port.
func (g *Group) Addr() string {
	return g.addr // memberlist writes its own copy whenever what we say of ourselves changes
}

// Close tells the others that this nameserver leaves, for half a second at the most, and ends what New has begun.
func (g *Group) Close() { g.once.Do(g.end) }

func (g *Group) end() {
	g.leave()
	self := g.o.Self()
	self.State = Leaving
	g.mu.Lock() // whoever has found it not left has begun his goroutine
	g.self = appendSelf(nil, g.run, self)
	g.mu.Unlock()
	for _, tell := range []func(time.Duration) error{g.list.UpdateNode, g.list.Leave} { // what it is that ends, then that it does
		if err := tell(leaveTime / 2); err != nil {
			g.o.Logger.Debug("peers: the others may not know that this nameserver leaves", "error", err)
		}
	}
	if err := g.list.Shutdown(); err != nil {
		g.o.Logger.Debug("peers: shutdown", "error", err)
	}
	g.ends.Wait()
}

// Counts returns what has happened to messages.
func (g *Group) Counts() Counts {
	c := &g.counts
	return Counts{
		Told: c.toldWords.Load(), Late: c.lateWords.Load(), Full: c.fullWords.Load(), Unsayable: c.unsayable.Load(),
		Heard: c.heardWords.Load(), Flooded: c.floodedWords.Load() + c.unheard.Load(), Unknown: c.unknownWords.Load() + c.unknownMessages.Load(),
		Malformed: c.badMessages.Load(), Unreadable: g.log.unreadable.Load(), Strangers: c.stranger.Load(), Repeated: c.old.Load(), Unanswered: c.unasked.Load(),
		Refused: g.gate.full.Load(),
	}
}

// Member is another nameserver.
type Member struct {
	Name string
	Addr string // of its gossip, ip:port
	Self        // as it last said
	// Alive: memberlist reaches it, or hasn't given up yet. Otherwise Left says whether it told that it leaves.
	Alive, Left bool
	// Since is how long it has been so; Heard is the time since its last beacon, negative if there was none.
	Since, Heard time.Duration
	Digest       Digest // of its last beacon
	// Comparable is false until there is something to compare. Differs is for how long its routes have differed from ours beyond what a change's
	// way to all takes; 0: they don't.
	Comparable bool
	Differs    time.Duration
	// KVDiffers: its KV configuration is another, now.
	KVDiffers bool
	Queue     int // words that wait to be told to it
}

// Members returns the others by name, those that have gone too, for a while.
func (g *Group) Members() []Member {
	now := g.o.Now()
	g.mu.Lock()
	defer g.mu.Unlock()
	members := make([]Member, 0, len(g.peers))
	for _, p := range g.peers {
		members = append(members, p.member(now, g.ownNow))
	}
	slices.SortFunc(members, func(a, b Member) int { return cmp.Compare(a.Name, b.Name) })
	return members
}

// Reached is how many others are known that should be there, and of how many the last beacons have come. It tells within seconds that this nameserver
// is cut off; memberlist, which wants to be sure of who is gone, takes half a minute for that.
func (g *Group) Reached() (known, reached int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := g.o.Now()
	for _, p := range g.peers {
		if p.missed(now) {
			known++
		}
		if p.reached(now, int64(g.beat)) {
			reached++
		}
	}
	return known, reached
}

// ErrNoPeer: there is no such nameserver, or it isn't reached.
var ErrNoPeer = errors.New("peers: no such peer, or it isn't there now")
