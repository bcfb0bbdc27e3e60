package peers

import (
	"net"
	"strconv"
	"time"

	"github.com/hashicorp/memberlist"
)

// peer is all that is known of another nameserver. Group.mu guards it, but for its queue, which has a lock of its own.
type peer struct {
	name  string
	node  memberlist.Node
	run   uint64 // of its process
	self  Self
	alive bool
	left  bool  // it said so
	since int64 // alive or gone since

	known   bool  // a beacon of this run has come
	heard   int64 // when the last did
	stamp   int64 // out of its last beacon: its own time
	seq     uint64
	seen    window
	bucket  bucket
	digest  Digest
	recent  recent
	agreed  int64 // when what it holds and what we hold last was the same; at first, when its first beacon came
	differs bool  // it has been told of
	queue   *queue
	stop    func() // ends its teller; nil: it has none
}

func (p *peer) member(now int64, own Digest) Member {
	m := Member{
		Name: p.name, Addr: net.JoinHostPort(p.node.Addr.String(), strconv.Itoa(int(p.node.Port))), Self: p.self, Alive: p.alive, Left: p.left,
		Since: time.Duration(now - p.since), Heard: -1, Digest: p.digest, Comparable: p.comparable(), Queue: p.queue.len(),
	}
	if p.known {
		m.Heard = time.Duration(now - p.heard)
	}
	if m.Comparable {
		m.Differs = p.difference(now)
		m.KVDiffers = p.digest.KV != own.KV
	}
	return m
}

// missedFor is how long a nameserver is missed that has gone without a word: were it this one that is cut off, its brokers would have expired by then.
const missedFor = 5 * time.Minute

// missed reports whether p should be there: it hasn't said that it leaves, nor been gone for so long that it won't come back by itself.
func (p *peer) missed(now int64) bool { return p.alive || !p.left && now-p.since <= int64(missedFor) }

// reached reports whether p's last beacons have come; beat is how far apart they are.
func (p *peer) reached(now, beat int64) bool {
	return p.alive && p.known && now-p.heard <= silentBeats*beat
}

// comparable reports whether the peer is there and has said what it holds.
func (p *peer) comparable() bool { return p.alive && p.known && p.self.State != Starting }

// difference is for how long p has held something else than we, beyond settleTime.
func (p *peer) difference(now int64) time.Duration {
	if !p.comparable() {
		return 0
	}
	return max(0, time.Duration(now-p.agreed)-settleTime)
}

// renew forgets what belongs to an earlier process of the peer.
func (p *peer) renew(run uint64) {
	p.run = run
	p.known, p.heard, p.stamp, p.agreed = false, 0, 0, 0
	p.seen, p.recent, p.digest, p.differs = window{}, recent{}, Digest{}, false
}

// window tells messages that have been here from those that haven't, also when they overtake each other by fewer than 64.
type window struct {
	newest uint64
	seen   uint64 // bit i: newest-i has been here
}

// fresh reports whether a number is here for the first time, and notes it. One that is older than what is remembered isn't.
func (w *window) fresh(n uint64) bool {
	switch {
	case n > w.newest:
		if ahead := n - w.newest; ahead < 64 {
			w.seen <<= ahead
		} else {
			w.seen = 0
		}
		w.newest = n
		w.seen |= 1
		return true
	case w.newest-n >= 64:
		return false
	}
	bit := uint64(1) << (w.newest - n)
	if w.seen&bit != 0 {
		return false
	}
	w.seen |= bit
	return true
}

// bucket lets so many words through at once and wordsPerSecond after that.
type bucket struct {
	used int64 // words, of which wordsPerSecond go away each second
	at   int64
}

const (
	wordsAtOnce    = 20_000
	wordsPerSecond = 2_000
)

// take reports whether n words may come at now.
func (b *bucket) take(n int, now int64) bool {
	if gone := (now - b.at) / (int64(time.Second) / wordsPerSecond); gone > 0 {
		b.used = max(0, b.used-gone)
		b.at = now
	}
	if b.used+int64(n) > wordsAtOnce {
		return false
	}
	b.used += int64(n)
	return true
}
