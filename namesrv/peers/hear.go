package peers

import (
	"errors"

	"github.com/waymark-mq/waymark/namesrv/binread"
	"github.com/waymark-mq/waymark/namesrv/verdict"
)

// maxHeardBatches bounds what waits for Options.Heard.
const maxHeardBatches = 64

// batch is what a peer has said in one message.
type batch struct {
	from  string
	words []verdict.Word
}

// drift is by how much a message may seem to be from the future: the two clocks don't run quite alike.
const drift = int64(1e9)

// receive takes a message. It keeps nothing of b.
func (g *Group) receive(b []byte) {
	if len(b) > maxMessageBytes {
		g.counts.badMessages.Add(1)
		return
	}
	r := read(b)
	k, e := r.open()
	switch {
	case errors.Is(r.Err(), errUnknown):
		g.counts.unknownMessages.Add(1)
		return
	case r.Err() != nil:
		g.counts.badMessages.Add(1)
		return
	}
	switch k {
	case kindBeacon:
		g.hearBeacon(&r, e)
	case kindWords:
		g.hearWords(&r, e)
	case kindAsk:
		g.hearAsk(&r, e)
	case kindAnswer:
		g.hearAnswer(&r, e)
	}
	if r.Err() != nil {
		g.counts.badMessages.Add(1)
	}
}

// sender is the peer that a message is from; nil for one that isn't there, or that has begun anew, and for messages that aren't for this
// process or have been here. The caller holds mu.
func (g *Group) sender(e *envelope) *peer {
	p := g.peers[e.From]
	if p == nil || !p.alive || p.run != e.FromRun || e.ToRun != g.run {
		g.counts.stranger.Add(1)
		return nil
	}
	if !p.seen.fresh(e.Seq) {
		g.counts.old.Add(1)
		return nil
	}
	return p
}

// sent is when a message was sent at the earliest, in our time; ok is false for one from the future.
func sent(e *envelope, now int64) (at int64, ok bool) {
	at = e.Stamp + e.Held
	return min(at, now), at <= now+drift
}

// hearWords takes what a peer says of brokers.
func (g *Group) hearWords(r *reader, e envelope) {
	now := g.o.Now()
	at, ok := sent(&e, now)
	if !ok {
		r.Fail(binread.ErrNumber)
		return
	}
	words, unknown := r.words(at)
	if r.Err() != nil {
		return
	}
	g.counts.unknownWords.Add(uint64(unknown))
	if !g.admit(&e, len(words), now) || len(words) == 0 {
		return
	}
	select {
	case g.heard <- batch{e.From, words}:
		g.counts.heardWords.Add(uint64(len(words)))
	default:
		g.counts.unheard.Add(uint64(len(words)))
		g.log.limited("peers: words about brokers come faster than they are taken", "peer", e.From)
	}
}

// admit reports whether a peer may say n words.
func (g *Group) admit(e *envelope, n int, now int64) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	p := g.sender(e)
	if p == nil {
		return false
	}
	if !p.bucket.take(n, now) {
		g.counts.floodedWords.Add(uint64(n))
		g.log.limited("peers: a peer says more about brokers than is taken", "peer", p.name)
		return false
	}
	return true
}

// runHearer calls Options.Heard.
func (g *Group) runHearer() {
	for {
		select {
		case b := <-g.heard:
			g.o.Heard(b.from, b.words)
		case <-g.ctx.Done():
			return
		}
	}
}
