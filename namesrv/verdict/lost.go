package verdict

import (
	"cmp"
	"maps"
	"net/netip"
	"slices"
	"strings"

	"github.com/waymark-mq/waymark/codec"
)

// lostBroker is one whose connection ended here, and that is looked for as long as peers may still take that for its death.
type lostBroker struct {
	Target
	version codec.DataVersion
	until   int64
	next    int64 // when it is probed; 0: a probe is under way
	began   int64 // when that began
}

// mostLost bounds the brokers that are looked for. Of more that are lost at once, most are dead.
const mostLost = 1024

func (j *Judge) lose(now int64, w *Word, origin netip.Addr) {
	if j.rules.OnWord && len(j.lost) < mostLost {
		j.lost[w.key()] = &lostBroker{Target: Target{w.Broker, origin}, version: w.Version, until: now + int64(checkFor), next: now}
	}
}

// lookForLost has the lost brokers probed that aren't back, as far as there is room. One that doesn't answer is looked for no more (probedLost).
func (j *Judge) lookForLost(now int64, room int, a *Actions) {
	for _, k := range slices.SortedFunc(maps.Keys(j.lost), compareKeys) {
		l := j.lost[k]
		if _, back := j.cases[k]; back || now > l.until {
			delete(j.lost, k)
		} else if l.next != 0 && l.next <= now && room > 0 {
			room--
			l.next, l.began = 0, now
			a.Probe = append(a.Probe, l.Target)
		}
	}
}

func compareKeys(a, b Key) int {
	return cmp.Or(strings.Compare(a.Cluster, b.Cluster), strings.Compare(a.Addr, b.Addr))
}

// probedLost takes the outcome of a probe of a broker that isn't registered: one that answers is spoken for.
func (j *Judge) probedLost(now int64, b Broker, r *Result) {
	l := j.lost[b.key()]
	if l == nil {
		return
	}
	if r.failed() && l.began < j.thawed {
		l.next = now
		return
	}
	if r.Outcome != Answered {
		delete(j.lost, b.key())
		return
	}
	l.next = now + int64(retry)
	j.words = append(j.words, Word{Kind: Alive, Broker: l.Broker, Version: l.version, Sign: now})
}
