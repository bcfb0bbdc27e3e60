package verdict

import (
	"hash/fnv"
	"io"
	"maps"
	"net/netip"
	"slices"
	"time"

	"github.com/waymark-mq/waymark/core"
	"github.com/waymark-mq/waymark/namesrv/access"
)

// Rules are the settings that a Judge follows.
type Rules struct {
	Interval    time.Duration // between two probes of a broker; 0: only those that a peer's word asks for
	Failures    int           // that make a broker suspect
	Removes     bool          // whether the evidence of probes removes brokers
	RemoveAfter time.Duration // without a sign of life, until it does
	// OnWord: brokers that a peer has something against are probed at once. It takes a first probe after each registration, since only
	// the failures of a broker that has answered from here before are evidence.
	OnWord bool
	// Period is how long a living broker is silent at the most: that of its registrations, with what they may come late.
	Period time.Duration
}

const (
	// retry is how soon a failed probe comes again, at the latest; soonRetry after a first refusal, which took no time.
	retry, soonRetry = time.Second, 250 * time.Millisecond
	// slack is by how much a peer's last sign of life has to be younger or older than one from here to count as that: ages are exact but for
	// the way of a message (see package peers).
	slack = time.Second
	// checkFor is how long a broker is probed because of a peer's word.
	checkFor = 15 * time.Second
)

// Outcome is what a probe came to.
type Outcome uint8

const (
	Answered   Outcome = iota + 1 // with anything that is the protocol's
	Rejected                      // the connection was refused
	Silent                        // no connection, or no answer, in time
	Impossible                    // it couldn't be tried: no such name, no network, no descriptor; says nothing about the broker
	Forbidden                     // it wasn't tried: nobody has allowed that address
)

// Result is what came of a probe.
type Result struct {
	Outcome
	At  netip.Addr // that answered
	Why string     // of what wasn't answered
}

func (r *Result) failed() bool { return r.Outcome == Silent || r.Outcome == Rejected }

// Target is a broker that is to be probed.
type Target struct {
	Broker
	Origin netip.Addr // where its registration comes from; the zero Addr if that isn't known for certain
}

// Key is who a broker is to the table: a cluster name and an address.
type Key struct{ Cluster, Addr string }

func (b Broker) key() Key { return Key{b.ClusterName, b.BrokerAddr} }

// Actions are what a Judge wants done.
type Actions struct {
	Probe   []Target
	Declare []*core.DeclareDead
	Tell    []Word
	Turned  []Turn
}

// Turn is a broker that became suspect, or isn't any more.
type Turn struct {
	Broker
	Suspect bool
	Silent  int64 // since the last sign of life, nanoseconds
}

// Judge weighs what is known of brokers' lives beyond their heartbeats: probes from here, and other nameservers' words. It is
// deterministic: no clock, socket or goroutine; time is an argument (monotonic nanoseconds). One goroutine owns it.
//
// Its rules, and why:
//
//   - A probe that fails is evidence only against a broker that has answered one from here before: an address may be out of reach from here for ever
//     (another network, a container's own), and its broker live.
//   - A broker that shows life after it became suspect is out of reach, not dead: its failures stop being evidence until it answers again.
//   - Nobody is removed by a peer's word alone while this server knows of a sign of life that may be younger than the peer's. That a
//     connection ended proves little: it is removed by this word only if it doesn't answer here either, or was silent for more than a period more.
//   - A suspicion is told to the peers, and one that has seen life since says so; its sign then counts here, too, against removal by probes. It doesn't
//     count as a heartbeat: a broker that only others hear expires here in its time, as on Apache's.
//   - That a connection ended is told at once, and looked into: as long as the broker still answers here, this server says so, too.
//   - A refused connection removes at once if a peer has evidence of its own; otherwise like any other failure after RemoveAfter.
//   - If most brokers fail at once, none is removed that no peer has evidence against; neither if all peers are gone, nor until they could be asked
//     again afterwards. See isolated.go.
type Judge struct {
	rules Rules
	cases map[Key]*brokerCase
	order []*brokerCase // all of them, by key
	// Of order: whose turn it is to be probed, of those that have answered and of the others.
	first, firstStranger int

	lost     map[Key]*lostBroker
	peers    int   // others that were seen and haven't said that they leave
	alive    int   // of them now
	thawed   int64 // when this process last went on after it had stood still
	words    []Word
	turns    []Turn
	snapshot *core.Snapshot

	isolatedAt int64 // the last Due in which this server seemed to be cut off
}

// brokerCase is what speaks for and against one broker.
type brokerCase struct {
	Broker
	live *core.Live

	probing    bool  // a probe is under way
	began      int64 // when the last one began
	next       int64 // when the next is due; 0: none
	checkUntil int64 // a peer's word has it probed until then

	answersHere bool // a probe from here was answered, and no heartbeat came while none was
	answered    int64
	at          netip.Addr // that answered then
	failures    int
	why         string // of the last probe that wasn't answered; "" once one is
	forbidden   bool   // it was not tried
	rejections  int
	rejectedAt  int64 // the last of them
	suspectFrom int64 // 0: it isn't
	asked       int64 // when peers were last told
	declared    int64 // when the table was last asked to remove it

	vouched int64      // the youngest sign of life that a peer has told of
	against []evidence // of peers, one each
}

// evidence is a peer's latest word against a broker.
type evidence struct {
	peer string
	kind Kind
	sign int64
	from int64 // when it was first told of, without a sign of life since
	at   int64 // when it was last told of
}

// NewJudge returns a judge that knows no broker.
func NewJudge(r Rules) *Judge {
	return &Judge{rules: r, cases: map[Key]*brokerCase{}, lost: map[Key]*lostBroker{}}
}

// SetPeers tells how many other nameservers there are to ask, and how many of them can be.
func (j *Judge) SetPeers(known, alive int) { j.peers, j.alive = known, alive }

// Know takes over who is registered, restored brokers and addresses that others have replaced left out. It costs nothing if nothing has changed, and
// reports whether anything has.
func (j *Judge) Know(now int64, s *core.Snapshot) (changed bool) {
	if j.snapshot != nil && s.SameLives(j.snapshot) {
		return false
	}
	j.snapshot = s
	there := make(map[Key]struct{}, len(j.cases))
	for l := range s.AllLive() {
		if l.Provisional || !s.InPlace(l) { // nothing from here speaks for it, and its end is set
			continue
		}
		k := Key{l.ClusterName, l.BrokerAddr}
		there[k] = struct{}{}
		c := j.cases[k]
		if c == nil || c.live.Cell != l.Cell || c.BrokerName != l.BrokerName {
			c = &brokerCase{}
			j.cases[k] = c
			j.schedule(c, k, now)
		}
		c.live, c.Broker = l, Broker{l.ClusterName, l.BrokerName, l.BrokerAddr, l.BrokerID}
	}
	for k := range j.cases {
		if _, ok := there[k]; !ok {
			delete(j.cases, k)
		}
	}
	j.order = slices.AppendSeq(j.order[:0], maps.Values(j.cases))
	slices.SortFunc(j.order, func(a, b *brokerCase) int { return compareKeys(a.key(), b.key()) })
	return true
}

// schedule sets a new broker's first probe, somewhere in the interval, so that probes are spread.
func (j *Judge) schedule(c *brokerCase, k Key, now int64) {
	spread := j.rules.Interval
	if spread == 0 {
		if !j.rules.OnWord {
			return
		}
		spread = retry
	}
	h := fnv.New64a()
	io.WriteString(h, k.Cluster)
	io.WriteString(h, k.Addr)
	c.next = now + int64(h.Sum64()%uint64(spread))
}

func (c *brokerCase) target() Target { return Target{c.Broker, c.origin()} }

// origin is where the registration comes from; the zero Addr if that isn't known for certain.
func (c *brokerCase) origin() netip.Addr { return access.Peer(c.live.Origin()) }

// sign is the youngest sign of life, heartbeats, answers and peers' words together.
func (c *brokerCase) sign() int64 {
	last, _ := c.live.Cell.Last()
	return max(last, c.answered, c.vouched)
}

// Probed takes the result of a probe.
func (j *Judge) Probed(now int64, b Broker, r Result) {
	c := j.cases[b.key()]
	if c == nil {
		j.probedLost(now, b, &r)
		return
	}
	c.probing = false
	if r.failed() && c.began < j.thawed { // it stood still with this process, for all that is known
		r = Result{Outcome: Impossible, Why: "this nameserver stood still"}
	}
	c.why, c.forbidden = r.Why, r.Outcome == Forbidden
	switch r.Outcome {
	case Answered:
		if c.suspectFrom != 0 || len(c.against) > 0 || now < c.checkUntil {
			j.vouch(c, now)
		}
		c.answersHere, c.answered, c.at = true, now, r.At
		j.acquit(c, now)
	case Rejected, Silent:
		j.failed(c, now, r.Outcome)
	case Forbidden: // what isn't looked at isn't suspect
		c.answersHere, c.failures, c.rejections = false, 0, 0
		j.turn(c, 0, now)
	}
	c.next = j.nextProbe(c, now)
}

// nextProbe is when a broker is probed again: soon after a failure, and while a peer's word is looked into.
func (j *Judge) nextProbe(c *brokerCase, now int64) int64 {
	interval := j.rules.Interval
	soon := c.answersHere && c.failures > 0 || now < c.checkUntil
	switch {
	case interval == 0 && !soon && c.answersHere:
		return 0
	case interval == 0 && !soon:
		interval = j.rules.Period // until it has answered once
	case c.rejections == 1 && c.answersHere:
		interval = soonRetry
	case soon && (interval == 0 || interval > retry):
		interval = retry
	}
	return max(now, c.began+int64(interval))
}

func (j *Judge) failed(c *brokerCase, now int64, o Outcome) {
	c.failures++
	if o == Rejected {
		c.rejections++
		c.rejectedAt = now
	} else {
		c.rejections = 0
	}
	if c.answersHere && c.suspectFrom == 0 && (c.failures >= j.rules.Failures || c.rejections >= 2) {
		j.turn(c, now, now)
	}
}

// turn makes a broker suspect from a time on, or, from 0, not suspect.
func (j *Judge) turn(c *brokerCase, from, now int64) {
	if (c.suspectFrom != 0) != (from != 0) {
		j.turns = append(j.turns, Turn{c.Broker, from != 0, now - c.sign()})
		c.asked = 0 // a suspicion doesn't wait because of a doubt that was told
	}
	c.suspectFrom = from
}

// acquit forgets what spoke against a broker.
func (j *Judge) acquit(c *brokerCase, now int64) {
	j.turn(c, 0, now)
	c.failures, c.rejections, c.checkUntil, c.asked = 0, 0, 0, 0
	c.against = c.against[:0]
}

func (j *Judge) vouch(c *brokerCase, sign int64) {
	j.words = append(j.words, Word{Kind: Alive, Broker: c.Broker, Version: c.live.DataVersion, Sign: sign})
}

// Left turns what happened to the table into what the peers are told; others' words are not passed on.
func (j *Judge) Left(now int64, e *core.Event) {
	w := Word{
		Broker:  Broker{e.ClusterName, e.BrokerName, e.BrokerAddr, e.BrokerID},
		Version: e.Version, Sign: e.Sign,
	}
	switch {
	case e.Sign == 0: // nobody here knew it
		return
	case e.Kind == core.EventUnregistered:
		w.Kind, w.Sign = Unregistered, now // its goodbye was the last
	case e.Kind == core.EventExpired:
		w.Kind = Expired
	case e.Kind == core.EventClosed && e.ByPeer:
		w.Kind = Closed
		j.lose(now, &w, access.Peer(e.Origin)) // the event's: its case may have gone with the table before
	case e.Kind == core.EventUnanswered:
		w.Kind = Unanswered
		if c := j.cases[w.key()]; c != nil { // its answers were signs of life, too
			w.Sign = max(w.Sign, c.answered, c.vouched)
		}
	default:
		return
	}
	j.words = append(j.words, w)
}

// Froze tells that this process stood still for late, until now: what was under way proves nothing, and nobody was silent meanwhile.
func (j *Judge) Froze(now, late int64) {
	j.thawed = now
	for _, c := range j.order {
		if c.answered != 0 {
			c.answered = min(c.answered+late, now)
		}
		if c.failures > 0 || len(c.against) > 0 {
			j.acquit(c, now)
			c.vouched = now
			c.next = j.nextProbe(c, now)
		}
	}
}
