package netpoll

import "github.com/waymark-mq/waymark/codec"

// traffic is one read event: new bytes are there, or the connection may go on.
func (l *loop) traffic(c *Conn) {
	l.stamp()
	defer l.recovered(c)
	c.lastNanos = l.deadlineNow()
	secure := c.tls.Load()
	if secure != nil {
		if l.counts.bytesIn += uint64(secure.receive()); c.gone.Load() {
			return
		}
	}
	in := c.inbound()
	if secure == nil {
		l.counts.bytesIn += uint64(in - c.held)
	}
	switch {
	case c.closing:
		l.dropInput(c)
	case c.paused > 0 || l.isStalled(c):
		l.setHeld(c, in)
		l.boundHeld(c)
	case in < c.want: // nothing new can be cut: don't even look
		l.leaveInput(c, c.old())
	default:
		l.cut(c)
	}
	if secure != nil {
		l.settleTLS(c, secure)
	}
}

// inbound is the number of input bytes that are there and not handled.
func (c *Conn) inbound() int { return c.io.InboundBuffered() + c.large.len() }

// inRecord reports that a TLS record has come in part.
func (c *Conn) inRecord() bool {
	e := c.tls.Load()
	return e != nil && e.partial()
}

// old is the input from before this event that lies in gnet's ring, where a peek may have to copy.
func (c *Conn) old() int { return max(0, c.held-c.large.len()) }

// resume goes on with a connection that was stalled or paused.
func (l *loop) resume(c *Conn) {
	defer l.recovered(c)
	if c.closing || c.paused > 0 || l.isStalled(c) {
		return
	}
	l.cut(c)
}

// isStalled looks whether a stalled connection still is.
func (l *loop) isStalled(c *Conn) bool {
	if c.stalled {
		l.lookUnsent(c)
		c.stalled = c.unsent.Load() > int64(l.highWater())
	}
	return c.stalled
}

// highWater is the number of unsent bytes above which a connection gets no further answers.
func (l *loop) highWater() int {
	if l.overloaded() {
		return min(lowWaterBytes, l.server.opts.HighWaterBytes)
	}
	return l.server.opts.HighWaterBytes
}

// cut handles all whole frames that are there and writes their answers at once.
func (l *loop) cut(c *Conn) {
	before := l.counts.frames
	l.cutAll(c)
	if l.finish != nil && l.counts.frames != before {
		l.finish()
	}
}

func (l *loop) cutAll(c *Conn) {
	l.out, l.tail = l.out[:0], nil
	l.lookUnsent(c)
	limit := l.highWater()
	old := c.old()
	var err error
	for err == nil && c.paused == 0 {
		if c.stalled = c.unsent.Load() > int64(limit); c.stalled {
			break
		}
		in := c.inbound()
		if in == 0 || in < c.want {
			break
		}
		var moved int // bytes that left gnet's buffers
		if c.large != nil {
			moved, err = l.cutLarge(c, old, limit)
		} else {
			moved, err = l.cutRead(c, l.peekSize(c, in, old), limit)
		}
		if c.gone.Load() {
			return
		}
		old = max(0, old-moved)
	}
	if !l.flush(c) {
		return
	}
	if err != nil {
		l.endCut(c, err)
		return
	}
	l.leaveInput(c, old)
}

// endCut is the end of the frames of c, or the beginning of TLS.
func (l *loop) endCut(c *Conn, err error) {
	if err == ErrTLSHello {
		if config := l.server.tlsConfig(); config != nil {
			l.startTLS(c, config)
			return
		}
	}
	l.endFlushed(c, err)
}

// cutRead handles the whole frames among the first n bytes of gnet's buffers.
func (l *loop) cutRead(c *Conn, n, limit int) (used int, err error) {
	b, err := c.io.Peek(n)
	if err != nil {
		return 0, err
	}
	used, err = l.frames(c, b, limit)
	if used > 0 && !c.gone.Load() {
		_, _ = c.io.Discard(used)
		c.halfNanos = 0
	}
	return used, err
}

// peekSize keeps a peek from copying: new input is one piece of memory; older input is taken alone, or, when the frame
// at the head reaches from the old into the new, just that frame.
func (l *loop) peekSize(c *Conn, in, old int) int {
	switch {
	case old == 0:
		return in
	case c.want > old:
		return c.want
	}
	return min(old, max(c.want, 64*kib))
}

// frames handles the whole frames at the head of b and returns their length. It stops early when the connection must get
// no further answers; c.want says what the next frame needs.
func (l *loop) frames(c *Conn, b []byte, limit int) (used int, err error) {
	large := c.large
	for {
		rest := b[used:]
		if c.stage == stageSecure {
			if err := l.sniffSecure(c, rest); err != nil || c.stage == stageSecure {
				return used, err
			}
		}
		if c.stage != stageFrames {
			skip, ok, err := l.preamble(c, rest)
			if err != nil || !ok {
				return used, err
			}
			used += skip
			continue
		}
		if len(rest) < lengthBytes {
			c.want = lengthBytes
			return used, nil
		}
		n, err := codec.FrameLength(rest, l.server.opts.MaxFrameBytes)
		if err != nil {
			return used, err
		}
		if len(rest) < n {
			c.want = n
			return used, nil
		}
		frame := rest[:n:n]
		c.want = lengthBytes
		l.counts.frames++
		out, err := l.handler.Frame(c, l.out, frame, l.nowNanos)
		if len(out) > len(l.out) { // not the nil that often comes with an error
			l.out = out
		} else {
			l.tail = nil // the end of nothing
		}
		if c.large == large { // else it was taken
			poison(frame)
		}
		used += n
		if err != nil || c.paused > 0 {
			return used, err // cut flushes
		}
		if l.tail != nil || len(l.out)+int(c.unsent.Load()) >= limit {
			if !l.flush(c) || c.unsent.Load() > int64(limit) {
				return used, nil
			}
		}
	}
}

// flush writes the collected answers; false when the connection is gone. gnet copies what the socket refuses, and closes
// the connection inside the write when that fails.
func (l *loop) flush(c *Conn) bool {
	if len(l.out)+len(l.tail) == 0 {
		return !c.gone.Load()
	}
	l.counts.writes++
	l.counts.bytesOut += uint64(len(l.out) + len(l.tail))
	err := l.write(c)
	if l.out = l.out[:0]; cap(l.out) > keepOutBytes {
		l.out = make([]byte, 0, 64*kib)
	}
	if err != nil {
		l.end(c, err)
	}
	if c.gone.Load() {
		return false
	}
	l.lookUnsent(c)
	return true
}

func (l *loop) write(c *Conn) (err error) {
	if l.tail == nil && len(l.out) <= pieceBytes {
		_, err = c.io.Write(l.out)
		return err
	}
	l.pieces = appendPieces(appendPieces(l.pieces[:0], l.out), l.tail)
	_, err = c.io.Writev(l.pieces)
	l.tail = nil
	clear(l.pieces)
	return err
}

// leaveInput settles what stays behind, old bytes of it in gnet's ring: a large frame is assembled, a half one gets its
// deadline, a stalled connection's input its bound.
func (l *loop) leaveInput(c *Conn, old int) {
	in := c.inbound()
	if in > ringBytes && c.stage == stageFrames && !c.stalled && c.paused == 0 {
		if _, err := l.assemble(c, old); err != nil {
			l.end(c, err)
			return
		}
	}
	l.setHeld(c, in)
	if c.stalled {
		l.hurry()
	}
	if in == 0 && !c.inRecord() || c.stalled || c.paused > 0 {
		c.halfNanos = 0
	} else if c.halfNanos == 0 {
		c.halfNanos = l.deadlineNow()
		if due, _ := l.deadline(c); due < c.timer.dueNanos {
			l.deadlines.set(&c.timer, due)
		}
	}
	l.boundHeld(c)
}

// boundHeld ends a connection whose unhandled input is too much: gnet can't stop reading.
func (l *loop) boundHeld(c *Conn) {
	if c.held <= c.want+heldSlackBytes && c.held <= heldSlackBytes {
		return
	}
	budget := l.server.opts.MaxHeldBytes
	if c.stalled || c.paused > 0 {
		if c.held <= c.want+heldSlackBytes {
			return
		}
		if c.held > l.server.opts.MaxFrameBytes+heldSlackBytes {
			l.end(c, ErrInputOverflow)
			return
		}
		budget /= 4
	}
	if l.server.heldBytes() <= budget {
		return
	}
	if c.stalled || c.paused > 0 {
		l.end(c, ErrInputOverflow)
	} else if l.held.Load() > budget/int64(len(l.server.loops)) {
		l.shedHeld()
	}
}

// shedHeld ends the connection that has held its input for longest, since the budget is used up: who sends what it began has
// it handled soon, and it is who doesn't that fills the budget. A loop sheds no more than its share: another's are that loop's.
func (l *loop) shedHeld() {
	var oldest *Conn
	since := func(c *Conn) int64 {
		if c.halfNanos != 0 {
			return c.halfNanos
		}
		return c.lastNanos
	}
	l.deadlines.each(func(c *Conn) {
		if c.held > shedLeastBytes && (oldest == nil || since(c) < since(oldest)) {
			oldest = c
		}
	})
	if oldest != nil {
		l.end(oldest, ErrInputOverflow)
	}
}

func (l *loop) dropInput(c *Conn) {
	if in := c.io.InboundBuffered(); in > 0 {
		_, _ = c.io.Discard(in)
	}
	c.dropLarge()
	c.halfNanos = 0
	l.setHeld(c, 0)
}

// setHeld notes that n bytes of input are unhandled. The loop's sum counts the memory that they take: a large frame's is what was
// made for it (the pool's own is bounded by itself), a ring of gnet's is at most twice what is in it.
func (l *loop) setHeld(c *Conn, n int) {
	if n == c.held {
		return
	}
	extra := 0
	if f := c.large; n > 0 && f != nil && !f.owned {
		extra = cap(f.b) - len(f.b)
	}
	l.held.Add(int64(n-c.held) + int64(extra) - int64(c.heldExtra))
	c.held, c.heldExtra = n, uint32(extra)
}
