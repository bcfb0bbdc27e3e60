package verdict

import (
	"cmp"
	"slices"
)

// Heard takes a peer's word.
func (j *Judge) Heard(now int64, peer string, w *Word) {
	c := j.cases[w.key()]
	if c == nil || c.BrokerName != w.BrokerName {
		return
	}
	w.Sign = min(w.Sign, now)
	if w.Kind == Alive {
		c.vouched = max(c.vouched, w.Sign)
		c.against = slices.DeleteFunc(c.against, func(e evidence) bool { return e.peer == peer })
		return
	}
	if own := c.sign(); own > w.Sign+int64(slack) {
		j.vouch(c, own) // the more so if the peer has missed its latest registration
	}
	if w.Kind != Doubt && !c.live.DataVersion.After(w.Version) {
		c.accuse(evidence{peer, w.Kind, w.Sign, now, now})
	}
	// Also where the peer has missed the latest registration: it wants to know.
	if !j.rules.OnWord {
		return
	}
	c.checkUntil = now + int64(checkFor) // what a probe that is under way comes to is told, too
	if !c.probing {
		c.next = cmp.Or(min(c.next, now), now)
	}
}

// accuse keeps a peer's evidence; a suspicion doesn't take the place of something firmer that is as young.
func (c *brokerCase) accuse(e evidence) {
	for i := range c.against {
		if old := &c.against[i]; old.peer == e.peer {
			if old.from >= c.sign() {
				e.from = old.from
			}
			if e.kind == Suspect && old.kind != Suspect && e.sign <= old.sign {
				old.from, old.at = e.from, e.at
				return
			}
			*old = e
			return
		}
	}
	if len(c.against) < maxAccusers {
		c.against = append(c.against, e)
	}
}

// maxAccusers bounds the peers whose evidence is kept for one broker.
const maxAccusers = 16
