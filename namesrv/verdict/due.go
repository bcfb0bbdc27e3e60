package verdict

import (
	"slices"
	"time"

	"github.com/waymark-mq/waymark/core"
)

// hearing is how long a broker is suspect at the least before the evidence of probes removes it: time for the peers to speak for it.
const hearing = 2 * time.Second

// objection is how long a peer's evidence waits for another peer to speak for the broker.
const objection = time.Second

// maxStrangers bounds the probes under way of brokers that haven't answered from here: whoever may register any number of addresses where nobody
// answers doesn't keep the others from being probed in time, and what isn't known to answer can't be missed.
const maxStrangers = 32

// maxAsked bounds the suspicions that are told at a time; the others' turn comes.
const maxAsked = 256

// Due adds to a what is to be done by now. room is how many probes may begin.
func (j *Judge) Due(now int64, room int, a *Actions) {
	if j.isolated(now) {
		j.isolatedAt = now
	}
	asks := maxAsked
	for _, c := range j.order {
		if last, alive := c.live.Cell.Last(); !alive {
			continue // the table knows, and will say so
		} else if c.suspectFrom != 0 && last > c.suspectFrom {
			c.answersHere = false // it beats though it doesn't answer
			j.turn(c, 0, now)
		}
		c.forget(now)
		if d := j.declare(c, now); d != nil {
			a.Declare = append(a.Declare, d)
		}
		if asks > 0 && j.ask(c, now) {
			asks--
		}
	}
	room -= j.begin(now, room, a)
	j.lookForLost(now, room, a)
	a.Tell, j.words = append(a.Tell, j.words...), j.words[:0]
	a.Turned, j.turns = append(a.Turned, j.turns...), j.turns[:0]
}

// begin has brokers probed whose time has come, no more than room in all and maxStrangers of those that haven't answered, and returns how many.
func (j *Judge) begin(now int64, room int, a *Actions) (n int) {
	strangers := maxStrangers
	for _, c := range j.order {
		if c.probing && !c.answersHere {
			strangers--
		}
	}
	n = j.beginOf(true, now, room, &j.first, a)
	return n + j.beginOf(false, now, min(room-n, strangers), &j.firstStranger, a)
}

// beginOf has those probed that have answered, or those that haven't, and returns how many. It begins with whose turn it is: slow ones mustn't keep the
// others waiting.
func (j *Judge) beginOf(answering bool, now int64, room int, first *int, a *Actions) (n int) {
	from := *first
	for i := range j.order {
		at := (from + i) % len(j.order)
		c := j.order[at]
		if c.answersHere != answering || !c.due(now) {
			continue
		}
		if n >= room {
			*first = at
			return n
		}
		n++
		c.probing, c.began = true, now
		a.Probe = append(a.Probe, c.target())
	}
	return n
}

func (c *brokerCase) due(now int64) bool {
	_, alive := c.live.Cell.Last()
	return alive && c.next != 0 && c.next <= now && !c.probing
}

// forget drops evidence that is too old to mean anything.
func (c *brokerCase) forget(now int64) {
	c.against = slices.DeleteFunc(c.against, func(e evidence) bool { return now-e.at > int64(checkFor) })
}

// declare decides whether a broker is to go.
func (j *Judge) declare(c *brokerCase, now int64) *core.DeclareDead {
	if now-c.declared < int64(retry) {
		return nil // the table may have known better
	}
	last, _ := c.live.Cell.Last() // before it is decided: a later sign of life keeps the broker
	by, dead := "", false
	if i := slices.IndexFunc(c.against, func(e evidence) bool { return j.convicts(c, &e, now) }); i >= 0 {
		by, dead = c.against[i].peer, true
	}
	if !dead && !j.condemns(c, now) {
		return nil
	}
	c.declared = now
	return &core.DeclareDead{
		ClusterName: c.ClusterName, BrokerName: c.BrokerName, BrokerAddr: c.BrokerAddr, Since: last, Version: c.live.DataVersion, By: by,
	}
}

// convicts reports whether a peer's evidence, with what is known here, is enough.
func (j *Judge) convicts(c *brokerCase, e *evidence, now int64) bool {
	known := c.sign()
	switch e.kind {
	case Unregistered, Expired:
		if known < e.sign-int64(slack) {
			return true
		}
	case Closed:
		if known < e.sign-int64(j.rules.Period) {
			return true
		}
	}
	if !c.answersHere || known > e.from || now-e.from < int64(objection) {
		return false
	}
	switch e.kind {
	case Unregistered, Closed: // and the address refuses connections
		return c.rejections > 0 && c.rejectedAt > e.from
	case Refused:
		return j.rules.Removes && c.rejections >= 2
	case Unanswered:
		return j.rules.Removes && c.suspectFrom != 0 && known < e.sign+int64(slack)
	}
	return false
}

// condemns reports whether the evidence of probes from here is enough.
func (j *Judge) condemns(c *brokerCase, now int64) bool {
	after := int64(j.rules.RemoveAfter)
	if !j.rules.Removes || !c.answersHere || c.suspectFrom == 0 || now-c.sign() <= after || now-c.suspectFrom < int64(hearing) {
		return false
	}
	return len(c.against) > 0 || !j.holds(c, now)
}

// ask tells the peers that a broker doesn't answer, again and again while that lasts, so that one that knows better says so in time: from the first
// failure on, since one that doesn't probe by itself has to ask the broker before it knows.
func (j *Judge) ask(c *brokerCase, now int64) bool {
	w := Word{Broker: c.Broker, Version: c.live.DataVersion, Sign: c.sign()}
	switch {
	case c.suspectFrom != 0 && c.rejections >= 2:
		w.Kind = Refused
	case c.suspectFrom != 0:
		w.Kind = Suspect
	case c.answersHere && c.failures > 0:
		w.Kind = Doubt
	default:
		return false
	}
	if now-c.asked < int64(max(retry, j.rules.RemoveAfter/8)) {
		return false
	}
	c.asked = now
	j.words = append(j.words, w)
	return true
}

// State is what the judge thinks of a broker.
type State struct {
	Answers   bool   // it has answered a probe from here
	Answered  int64  // when it last did; 0: never
	Failures  int    // in a row
	Why       string // the last one wasn't answered; "" if it was
	Forbidden bool   // it isn't probed at all, for the reason that Why gives
	Suspect   bool
	Accusers  []string // peers that have something against it
	Vouched   int64    // the youngest sign of life that a peer told of; 0: none
}

// State returns what the judge thinks of a broker.
func (j *Judge) State(k Key) (s State, ok bool) {
	c := j.cases[k]
	if c == nil {
		return s, false
	}
	s = State{
		Answers: c.answersHere, Answered: c.answered, Failures: c.failures, Why: c.why, Forbidden: c.forbidden, Suspect: c.suspectFrom != 0, Vouched: c.vouched,
	}
	for i := range c.against {
		s.Accusers = append(s.Accusers, c.against[i].peer+" ("+c.against[i].kind.String()+")")
	}
	return s, true
}

// Suspects counts the brokers that are suspect.
func (j *Judge) Suspects() (n int) {
	for _, c := range j.order {
		if c.suspectFrom != 0 {
			n++
		}
	}
	return n
}
