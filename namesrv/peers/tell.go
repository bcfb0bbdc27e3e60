package peers

import (
	"context"
	"encoding/binary"
	"sync"
	"time"

	"github.com/hashicorp/memberlist"

	"github.com/waymark-mq/waymark/namesrv/verdict"
)

const (
	maxQueueWords = 20_000 // of one peer
	maxBatchWords = 500    // in a message
	maxBatchBytes = 128 << 10
	// gatherTime is how long the first word waits for others.
	gatherTime = 50 * time.Millisecond
	// wordLife is how long a word may wait for a peer that can't be reached.
	wordLife = 10 * time.Second
	// tellAgain is how long a peer that couldn't be reached is left alone.
	tellAgain = 500 * time.Millisecond
)

// queue holds the words that wait for one peer, a ring that grows to maxQueueWords. Any goroutine puts, its teller takes.
type queue struct {
	wake chan struct{} // something waits

	mu    sync.Mutex
	words []queued // the oldest first
}

type queued struct {
	verdict.Word
	told int64 // when Tell was called
}

func newQueue() *queue { return &queue{wake: make(chan struct{}, 1)} }

// put adds words, and drops the oldest if there are too many: it returns how many.
func (q *queue) put(words []queued) (dropped int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.words = append(q.words, words...)
	if dropped = len(q.words) - maxQueueWords; dropped > 0 {
		q.words = append(q.words[:0], q.words[dropped:]...)
	}
	select {
	case q.wake <- struct{}{}:
	default:
	}
	return max(dropped, 0)
}

// take removes the oldest words, at most so many, and drops those that were told before since.
func (q *queue) take(most int, since int64) (words []queued, late int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for late < len(q.words) && q.words[late].told < since {
		late++
	}
	n := min(most, len(q.words)-late)
	words = append(words, q.words[late:late+n]...)
	q.words = append(q.words[:0], q.words[late+n:]...)
	if len(q.words) == 0 {
		q.words = nil
	}
	return words, late
}

// putBack puts words that weren't sent in front again.
func (q *queue) putBack(words []queued) (dropped int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.words = append(words[:len(words):len(words)], q.words...)
	if dropped = len(q.words) - maxQueueWords; dropped > 0 {
		q.words = q.words[dropped:]
	}
	return max(dropped, 0)
}

func (q *queue) len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.words)
}

// Tell says words to all peers that are there. It doesn't wait: what can't be said within wordLife, or finds no room, is dropped and counted.
func (g *Group) Tell(words []verdict.Word) {
	if len(words) == 0 {
		return
	}
	now := g.o.Now()
	waiting := make([]queued, 0, len(words))
	for i := range words {
		if !sendable(&words[i]) {
			g.counts.unsayable.Add(1)
			continue
		}
		waiting = append(waiting, queued{words[i], now})
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, p := range g.peers {
		if p.alive {
			g.dropped(p, p.queue.put(waiting), "no room")
		}
	}
}

// dropped counts words that a peer won't hear, and says so.
func (g *Group) dropped(p *peer, n int, why string) {
	if n == 0 {
		return
	}
	if why == "no room" {
		g.counts.fullWords.Add(uint64(n))
	} else {
		g.counts.lateWords.Add(uint64(n))
	}
	g.log.limited("peers: words about brokers that a peer won't hear", "peer", p.name, "words", n, "why", why)
}

// runTeller says to a peer what waits for it.
func (g *Group) runTeller(ctx context.Context, p *peer) {
	for {
		if p.queue.len() == 0 { // the teller before, of a peer that was gone for a while, may have left words
			select {
			case <-p.queue.wake:
			case <-ctx.Done():
				return
			}
		}
		if !pause(ctx, gatherTime) {
			return
		}
		for p.queue.len() > 0 {
			if !g.tellBatch(p) && !pause(ctx, tellAgain) {
				return
			}
			if ctx.Err() != nil {
				return
			}
		}
	}
}

// tellBatch sends one message; false if it couldn't.
func (g *Group) tellBatch(p *peer) bool {
	words, late := p.queue.take(maxBatchWords, g.o.Now()-int64(wordLife))
	g.dropped(p, late, "not reached in time")
	if len(words) == 0 {
		return true
	}
	e, node, ok := g.address(p)
	if !ok { // it hasn't told us its time yet
		g.dropped(p, p.queue.putBack(words), "no room")
		return false
	}
	b, n := appendWords(e.append(nil, kindWords), words, g.o.Now())
	if err := g.list.SendReliable(node, b); err != nil {
		g.o.Logger.Debug("peers: not told", "peer", p.name, "error", err)
		g.dropped(p, p.queue.putBack(words), "no room")
		return false
	}
	g.counts.toldWords.Add(uint64(n))
	if n < len(words) {
		g.dropped(p, p.queue.putBack(words[n:]), "no room")
	}
	return true
}

// appendWords appends as many words as a message has room for, of which there is at least one, and their ages.
func appendWords(dst []byte, words []queued, now int64) ([]byte, int) {
	var body []byte
	n := 0
	for n < len(words) && len(body) < maxBatchBytes {
		body = appendWord(body, &words[n].Word, now)
		n++
	}
	return append(binary.AppendUvarint(dst, uint64(n)), body...), n
}

// address is the envelope of the next message to a peer; timed is false until its first beacon has come: no age can be said then.
func (g *Group) address(p *peer) (e envelope, to *memberlist.Node, timed bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	p.seq++
	e = envelope{From: g.name, FromRun: g.run, ToRun: p.run, Seq: p.seq}
	if p.known {
		e.Stamp, e.Held = p.stamp, g.o.Now()-p.heard
	}
	node := p.node
	return e, &node, p.known
}

// pause lets time go by; false if ctx ends.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
