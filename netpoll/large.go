package netpoll

// LargeFrame is the memory of a frame that came in several reads. Its connection's loop appends to it what each read brings;
// after Conn.TakeFrame it is the taker's, on any goroutine, who frees it when done.
type LargeFrame struct {
	b     []byte // what has come of the frame
	pool  *framePool
	owned bool // the pool's, which wants it back
}

// ringBytes is how much of an incomplete frame stays in gnet's ring: most are small requests cut in two, and a peer that
// sends only a few bytes of what it promised shall not hold memory out of the pool.
const ringBytes = 16 * kib

// Bytes is the whole frame.
func (f *LargeFrame) Bytes() []byte { return f.b }

// Free gives the memory to the next large frame, once. Any goroutine.
func (f *LargeFrame) Free() {
	poison(f.b)
	f.pool.put(f)
}

// len is the number of bytes that have come; none of a connection without a large frame.
func (f *LargeFrame) len() int {
	if f == nil {
		return 0
	}
	return len(f.b)
}

// capacity is the memory to be had, beyond what the pool owns, for a frame of which have bytes are there: no more than three
// times as much, whatever length was promised.
func capacity(have, want int) int {
	if want > 3*have {
		return 2 * have
	}
	return want
}

// rounded makes sizes such that frames of nearly the same length fit each other's memory.
func rounded(n int) int {
	const step = 64 * kib
	return (n + step - 1) / step * step
}

// TakeFrame makes the frame in hand the caller's, uncopied, if it lies in memory of its own; ok is false for others, which
// have to be copied. From within Frame only, with the frame that it was given.
func (c *Conn) TakeFrame(frame []byte) (f *LargeFrame, ok bool) {
	f = c.large
	// In hand means that the connection wants the length of the next one already.
	if f == nil || c.want > lengthBytes || len(frame) != len(f.b) || &frame[0] != &f.b[0] {
		return nil, false
	}
	c.large = nil
	return f, true
}

// dropLarge gives back the memory of a frame that was handled or will never be whole.
func (c *Conn) dropLarge() {
	if f := c.large; f != nil {
		c.large = nil
		f.pool.put(f)
	}
}

// cutLarge handles the large frame at the head, all of which is there. old and moved are as in assemble.
func (l *loop) cutLarge(c *Conn, old, limit int) (moved int, err error) {
	if moved, err = l.assemble(c, old); err != nil {
		return moved, err
	}
	_, err = l.frames(c, c.large.b, limit)
	c.dropLarge() // unless it was taken, or the connection is gone
	c.halfNanos = 0
	return moved, err
}

// assemble moves what has come of the frame at the head out of gnet's buffers. old is the input that lies in gnet's ring,
// apart from new bytes: each piece is taken by itself, since a peek across would copy.
func (l *loop) assemble(c *Conn, old int) (moved int, err error) {
	for {
		n := min(c.want-c.large.len(), c.io.InboundBuffered())
		if n == 0 {
			return moved, nil
		}
		if moved < old {
			n = min(n, old-moved)
		}
		b, err := c.io.Peek(n)
		if err != nil {
			return moved, err
		}
		l.appendLarge(c, b)
		_, _ = c.io.Discard(n)
		moved += n
	}
}

// appendLarge copies a part of the frame at the head, behind what has come already.
func (l *loop) appendLarge(c *Conn, b []byte) {
	f := c.large
	have := f.len() + len(b)
	if f == nil || have > cap(f.b) {
		bigger := l.pool.get(have, c.want)
		if f != nil {
			bigger.b = append(bigger.b, f.b...)
			l.counts.assembled += uint64(len(f.b))
			c.dropLarge()
		}
		c.large, f = bigger, bigger
	}
	f.b = append(f.b, b...)
	l.counts.assembled += uint64(len(b))
}
