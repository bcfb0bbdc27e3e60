package peers

import (
	"encoding/binary"
	"log/slog"
	"strings"
	"testing"
	"time"
)

// lonely is a nameserver without a network, whose clock the test has, and its only peer.
type lonely struct {
	*Group
	now    time.Duration
	theirs uint64 // what the peer holds
	seq    uint64
	log    strings.Builder
}

func newLonely() *lonely {
	l := &lonely{now: time.Hour}
	l.Group = &Group{
		name: "a", run: 1, peers: map[string]*peer{"b": {name: "b", run: 2, alive: true, self: Self{State: Ready}, queue: newQueue()}},
		o: Options{Now: func() int64 { return int64(l.now) }, Logger: slog.New(slog.NewTextHandler(&l.log, nil))},
	}
	return l
}

// pass lets time go by, a second at a time: this nameserver holds ours, the peer theirs.
func (l *lonely) pass(d time.Duration, ours uint64) {
	for end := l.now + d; l.now < end; {
		l.now += time.Second
		l.hold(Digest{Routes: ours})
		l.seq++
		e := envelope{From: "b", FromRun: 2, ToRun: 1, Seq: l.seq}
		b := binary.AppendVarint(e.append(nil, kindBeacon), int64(l.now))
		l.receive((Digest{Routes: l.theirs}).append(b))
	}
}

func (l *lonely) differs() time.Duration { return l.Members()[0].Differs }

func (l *lonely) lines(text string) int { return strings.Count(l.log.String(), text) }

// TestDivergence: what differs for no longer than brokers take to register everywhere is none; what does is told of once, and again when it is over.
func TestDivergence(t *testing.T) {
	const differs, same = "holds other brokers", "holds the same again"
	l := newLonely()
	l.theirs = 1
	l.pass(5*time.Second, 1)
	l.pass(settleTime-time.Second, 2) // a broker has come here, and not there yet
	if d := l.differs(); d != 0 || l.lines(differs) != 0 {
		t.Errorf("within the bound: differs for %v, log %q", d, l.log.String())
	}
	l.theirs = 2
	l.pass(time.Second, 2)
	for range 20 { // brokers come here first all the time
		l.pass(30*time.Second, l.theirs+1)
		l.theirs++
	}
	if d := l.differs(); d != 0 || l.lines("peers:") != 0 {
		t.Errorf("one ahead of the other: differs for %v, log %q", d, l.log.String())
	}
	l.pass(time.Second, l.theirs)
	l.pass(settleTime, 100)
	if d := l.differs(); d != 0 || l.lines(differs) != 0 {
		t.Errorf("at the bound: differs for %v, log %q", d, l.log.String())
	}
	l.pass(10*time.Second, 100)
	if d := l.differs(); d != 10*time.Second || l.lines(differs) != 1 || l.lines(same) != 0 {
		t.Errorf("beyond it: differs for %v, log %q", d, l.log.String())
	}
	l.theirs = 100
	l.pass(5*time.Second, 100)
	if d := l.differs(); d != 0 || l.lines(differs) != 1 || l.lines(same) != 1 {
		t.Errorf("afterwards: differs for %v, log %q", d, l.log.String())
	}
}
