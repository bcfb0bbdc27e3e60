package namesrv

import (
	"sync"

	"github.com/valyala/bytebufferpool"

	"github.com/waymark-mq/waymark/codec"
	"github.com/waymark-mq/waymark/netpoll"
)

// lane holds a connection's write requests in the order they came. The end of
// the connection is the last of them, so it can't overtake its own registration.
type lane struct {
	mu    sync.Mutex
	items []write
	busy  bool // handed to the decoders, or held by one
}

// write is one request of the write lane: a frame to be decoded, or what the loop has
// decoded already (104 and the end of the connection).
type write struct {
	frame   keptFrame // freed when decoded
	decoded change    // if there is no frame
	slow    bool      // decoding may take long
	asked   asked
}

// bytes is what the request counts in the write budget.
func (w *write) bytes() int64 {
	if w.frame == nil {
		return w.decoded.bytes + requestOverhead
	}
	return int64(len(w.frame.Bytes())) + requestOverhead
}

// requestOverhead is about what a waiting request costs besides its frame.
const requestOverhead = 512

// parse reads the request in the kept frame. The loop has accepted the same bytes.
func (w *write) parse(c *codec.Command) error {
	f, err := codec.ParseFrame(w.frame.Bytes())
	if err != nil {
		return err
	}
	return c.Parse(f)
}

// add appends a request and reports whether the lane has to be handed to the decoders.
func (l *lane) add(w write) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.items = append(l.items, w)
	if l.busy {
		return false
	}
	l.busy = true
	return true
}

// slow reports whether decoding the oldest request may take long.
func (l *lane) slow() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.items) > 0 && l.items[0].slow
}

// first takes the oldest request; ok is false, and the lane free again, if there is none.
func (l *lane) first() (w write, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.items) == 0 {
		l.items, l.busy = nil, false
		return write{}, false
	}
	w, l.items[0] = l.items[0], write{}
	l.items = l.items[1:]
	return w, true
}

// enqueue puts a write request into its connection's lane. Loop only.
func (s *Server) enqueue(sess *session, w write) {
	sess.writes = true
	s.keepAlive(sess)
	sess.hold()
	s.writeBytes.Add(w.bytes())
	if sess.lane.add(w) {
		s.decoders.hand(sess)
	}
}

// release ends a write request's hold on its connection's order and on the budget.
func (s *Server) release(sess *session, bytes int64) {
	s.writeBytes.Add(-bytes)
	if sess != nil {
		sess.release()
	}
}

// keptFrame is a whole frame that outlives its event. It has one owner at a time: the lane, then a decoder, which frees it.
type keptFrame interface {
	Bytes() []byte
	Free()
}

// keepFrame makes the frame in hand outlive its event: a large one changes hands, others are copied. Loop only.
func keepFrame(c *netpoll.Conn, frame []byte) keptFrame {
	if f, ok := c.TakeFrame(frame); ok {
		return f
	}
	return copyFrame(frame)
}

// copiedFrame is a frame in a buffer of the common pool.
type copiedFrame bytebufferpool.ByteBuffer

func copyFrame(frame []byte) *copiedFrame {
	b := bytebufferpool.Get()
	b.B = append(b.B[:0], frame...)
	return (*copiedFrame)(b)
}

// maxPooledBytes is the size up to which a buffer is kept for the next frame.
const maxPooledBytes = 1 << 20

func (f *copiedFrame) Bytes() []byte { return f.B }

func (f *copiedFrame) Free() {
	if cap(f.B) <= maxPooledBytes {
		bytebufferpool.Put((*bytebufferpool.ByteBuffer)(f))
	}
}
