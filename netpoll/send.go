package netpoll

import (
	"net"

	"github.com/panjf2000/gnet/v2"
	"github.com/valyala/bytebufferpool"
)

// Send queues a copy of b to be written, from any goroutine. It reports whether b was taken: not when the connection is
// gone, and not when too much is unsent already, which closes it. So does a Send before the first frame that comes while TLS
// is being agreed on: it can't be sent in the clear.
func (c *Conn) Send(b []byte) bool {
	if c.gone.Load() {
		return false
	}
	buf := bytebufferpool.Get()
	buf.B = append(buf.B, b...)
	return c.SendBuffer(buf)
}

// SendBuffer is Send without the copy: b belongs to this package from now on, taken or not, and goes back to
// bytebufferpool's common pool when its bytes have left.
func (c *Conn) SendBuffer(b *bytebufferpool.ByteBuffer) bool {
	l, n := c.loop, int64(len(b.B))
	if c.gone.Load() || n == 0 || !l.enter() {
		bytebufferpool.Put(b)
		return n == 0
	}
	defer l.leave()
	if queued := c.queued.Add(n); queued+c.unsent.Load() > int64(l.server.opts.MaxConnUnsentBytes) {
		c.queued.Add(-n)
		bytebufferpool.Put(b)
		c.CloseWith(ErrUnsentLimit)
		return false
	}
	l.async.Add(n)
	if l.pipe != nil || c.TLS() {
		l.post(func() { l.sendHere(c, b) })
		return true
	}
	// The callback runs exactly once, on the loop, also for a connection that is gone. If AsyncWrite itself fails
	// (the wake-up did, not the queueing), it still may, so that the buffer must not be touched here.
	done := func(_ gnet.Conn, err error) error {
		l.sent(c, b, err)
		return nil
	}
	if n > pieceBytes {
		_ = c.sock.AsyncWritev(appendPieces(nil, b.B), done)
	} else {
		_ = c.sock.AsyncWrite(b.B, done)
	}
	return true
}

// sendHere is a SendBuffer to what gnet can't write to by itself.
func (l *loop) sendHere(c *Conn, b *bytebufferpool.ByteBuffer) {
	err := net.ErrClosed
	if !c.gone.Load() {
		_, err = c.io.Write(b.B)
	}
	l.sent(c, b, err)
	if err != nil {
		l.end(c, err)
	}
}

// sent is the end of a SendBuffer, on the loop: the bytes are in the socket or in gnet's own buffer, or lost.
func (l *loop) sent(c *Conn, b *bytebufferpool.ByteBuffer, err error) {
	n := int64(len(b.B))
	bytebufferpool.Put(b)
	c.queued.Add(-n)
	l.async.Add(-n)
	if err != nil || c.gone.Load() {
		return
	}
	l.stamp()
	l.counts.writes++
	l.counts.bytesOut += uint64(n)
	c.lastNanos = l.deadlineNow()
	l.lookUnsent(c)
}
