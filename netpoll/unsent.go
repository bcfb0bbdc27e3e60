package netpoll

import "math"

// What connections owe their peers. gnet copies what a socket refuses, each write into a piece of memory that is free again only when
// all of it has left: so a write is cut, that a peer can't keep megabytes by leaving one byte.

const (
	// pieceBytes is the size of these pieces: as much as gnet's ring holds before it begins to make them.
	pieceBytes = 64 * kib
	mostPieces = 512 // of a buffer; two make a write, and the kernel takes 1,024
)

// appendPieces appends b to pieces, cut.
func appendPieces(pieces [][]byte, b []byte) [][]byte {
	size := max(pieceBytes, (len(b)+mostPieces-1)/mostPieces)
	for ; len(b) > size; b = b[size:] {
		pieces = append(pieces, b[:size])
	}
	if len(b) > 0 {
		pieces = append(pieces, b)
	}
	return pieces
}

// lookUnsent asks the engine what is unsent; fewer bytes than before are progress.
func (l *loop) lookUnsent(c *Conn) { l.setUnsent(c, int64(c.io.OutboundBuffered())) }

func (l *loop) setUnsent(c *Conn, n int64) {
	old := c.unsent.Load()
	if n == old {
		return
	}
	c.unsent.Store(n)
	l.countUnsent(c, old, n)
	if n < old || old == 0 {
		c.moveNanos = l.deadlineNow()
		c.lastNanos = c.moveNanos
	}
	switch {
	case old == 0:
		c.windowNanos, c.windowBytes = c.moveNanos, 0
	case n < old:
		c.windowBytes = uint32(min(int64(c.windowBytes)+old-n, maxWindowBytes))
	}
	if n == 0 {
		l.forgetDraining(c)
	} else if c.drainIndex == 0 {
		l.draining = append(l.draining, c)
		c.drainIndex = int32(len(l.draining))
		if l.ticker.delay > slowTick {
			l.rearm(slowTick)
		}
	}
}

// countUnsent counts n unsent bytes of c, old before, in the loop's sum, as the memory they take: the rest of a piece counts as all
// of it.
func (l *loop) countUnsent(c *Conn, old, n int64) {
	before := old + int64(c.unsentExtra)
	memory := n
	if 0 < n && n < pieceBytes {
		memory = min(max(n, before), pieceBytes)
	}
	l.unsent.Add(memory - before)
	c.unsentExtra = uint32(memory - n)
}

func (l *loop) forgetDraining(c *Conn) {
	if c.drainIndex == 0 {
		return
	}
	last := len(l.draining) - 1
	moved := l.draining[last]
	l.draining[c.drainIndex-1], moved.drainIndex = moved, c.drainIndex
	l.draining[last] = nil
	l.draining = l.draining[:last]
	c.drainIndex = 0
}

// leastDrainPerSec is how many bytes a second a peer that owes some has to take while much is unsent. What takes less, a byte now and
// then, keeps everybody's budget used up; a reader over the slowest of lines takes more.
const leastDrainPerSec = 1 * kib

// maxWindowBytes is more than leastDrainPerSec asks of any window.
const maxWindowBytes = math.MaxUint32

// drains judges c, which owes something: nil, or why it has to end. crowded says that over half of the loop's share is unsent. What a peer
// takes is counted in windows of StallTimeout, the first from when it began to owe.
func (l *loop) drains(c *Conn, crowded bool) error {
	now, limit := l.deadlineNow(), int64(l.server.opts.StallTimeout)
	switch {
	case limit <= 0:
		return nil
	case now-c.moveNanos >= limit:
		return ErrStalled
	case now-c.windowNanos < limit:
		return nil
	}
	least := leastDrainPerSec * float64(now-c.windowNanos) / 1e9
	slow := float64(c.windowBytes) < min(least, maxWindowBytes)
	c.windowNanos, c.windowBytes = now, 0
	if slow && crowded {
		return ErrTooSlow
	}
	return nil
}
