package netpoll

import (
	"encoding/binary"
	"net"
	"os"
	"sync"
	"time"

	"github.com/valyala/bytebufferpool"
)

// tlsWire is the connection below crypto/tls. While the handshake runs, its goroutine waits here for what the loop pushes;
// afterwards reading never waits: what isn't there is a deadline that has passed, after which crypto/tls goes on where it was.
type tlsWire struct {
	end     *tlsEnd
	compute chan struct{} // a place in it is the right to use a processor; the goroutine has one but while it waits here
	records recordCount
	over    bool // the handshake is; set by its goroutine before it hands over

	arrived chan struct{} // something was pushed
	gone    chan struct{} // closed by the loop: the connection has ended

	mu    sync.Mutex
	inbox []byte // came during the handshake, not read
}

func (w *tlsWire) init(e *tlsEnd, compute chan struct{}) {
	w.end, w.compute = e, compute
	w.arrived, w.gone = make(chan struct{}, 1), make(chan struct{})
}

// push moves what has come to where the handshake finds it. Loop only.
func (w *tlsWire) push() {
	lower := w.end.lower
	n := lower.InboundBuffered()
	if n == 0 {
		return
	}
	b, err := lower.Peek(n)
	if err != nil {
		return
	}
	w.mu.Lock()
	w.inbox = append(w.inbox, b...)
	w.mu.Unlock()
	_, _ = lower.Discard(n)
	select {
	case w.arrived <- struct{}{}:
	default:
	}
}

// waiting is the number of bytes that came and were not read.
func (w *tlsWire) waiting() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.inbox)
}

// drop throws away what has come. Loop only.
func (w *tlsWire) drop() {
	if n := w.end.lower.InboundBuffered(); n > 0 {
		_, _ = w.end.lower.Discard(n)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.inbox = nil
}

// takeInbox copies from the inbox to p.
func (w *tlsWire) takeInbox(p []byte) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := copy(p, w.inbox)
	if w.inbox = w.inbox[n:]; len(w.inbox) == 0 {
		w.inbox = nil
	}
	return n
}

// Read implements net.Conn.
func (w *tlsWire) Read(p []byte) (n int, err error) {
	if w.over {
		n = w.readNow(p)
	} else {
		n = w.await(p)
	}
	w.records.pass(p[:n])
	switch {
	case n > 0 || len(p) == 0:
		return n, nil
	case w.over:
		return 0, os.ErrDeadlineExceeded
	}
	return 0, net.ErrClosed
}

// await waits for bytes; 0 when the connection has ended.
func (w *tlsWire) await(p []byte) int {
	for {
		if n := w.takeInbox(p); n > 0 {
			return n
		}
		<-w.compute
		open := true
		select {
		case <-w.arrived:
		case <-w.gone:
			open = false
		}
		w.compute <- struct{}{}
		if !open {
			return 0
		}
	}
}

func (w *tlsWire) readNow(p []byte) int {
	if n := w.takeInbox(p); n > 0 { // left over from the handshake
		return n
	}
	lower := w.end.lower
	n := min(len(p), lower.InboundBuffered())
	if n == 0 {
		return 0
	}
	b, err := lower.Peek(n)
	if err != nil {
		return 0
	}
	copy(p, b)
	_, _ = lower.Discard(n)
	return n
}

// Write implements net.Conn. Records pile up in the loop's buffer for tlsEnd.flush; those of the handshake are written by
// the loop as soon as it can.
func (w *tlsWire) Write(p []byte) (int, error) {
	c := w.end.of
	l := c.loop
	if w.over {
		l.sealed = append(l.sealed, p...)
		return len(p), nil
	}
	b := bytebufferpool.Get()
	b.B = append(b.B, p...)
	l.post(func() {
		if !c.gone.Load() {
			_, _ = w.end.lower.Write(b.B) // a failed one closes
			l.lookUnsent(c)
		}
		bytebufferpool.Put(b)
	})
	return len(p), nil
}

// The rest of net.Conn. Deadlines are the loop's.

func (w *tlsWire) Close() error                     { return nil }
func (w *tlsWire) LocalAddr() net.Addr              { return wireAddr{} }
func (w *tlsWire) RemoteAddr() net.Addr             { return wireAddr{} }
func (w *tlsWire) SetDeadline(time.Time) error      { return nil }
func (w *tlsWire) SetReadDeadline(time.Time) error  { return nil }
func (w *tlsWire) SetWriteDeadline(time.Time) error { return nil }

type wireAddr struct{}

func (wireAddr) Network() string { return "tcp" }
func (wireAddr) String() string  { return "" }

// recordCount follows the lengths of TLS records in a stream of bytes.
type recordCount struct {
	header [5]byte // type, version, length of what follows
	have   int     // bytes of the header that have come
	left   int     // bytes of the record that have not
}

func (r *recordCount) pass(b []byte) {
	for len(b) > 0 {
		if r.have < len(r.header) {
			n := copy(r.header[r.have:], b)
			r.have += n
			b = b[n:]
			if r.have == len(r.header) {
				r.left = int(binary.BigEndian.Uint16(r.header[3:]))
			}
		}
		n := min(r.left, len(b))
		r.left -= n
		b = b[n:]
		if r.have == len(r.header) && r.left == 0 {
			r.have = 0
		}
	}
}

// partial reports that the bytes so far end within a record.
func (r *recordCount) partial() bool { return r.have > 0 }
