package netpoll

import (
	"os"
	"sync"
	"sync/atomic"

	"github.com/panjf2000/gnet/v2"
)

// anchor is a connection of our own to each loop. It tells the loop's handle when the engine
// starts, and later whether the loop has looked at its sockets: a byte written to it
// is read after what came before it on other connections, since the kernel reports
// sockets in the order in which they became ready. A task would prove less: the
// engine may run thousands without a look.
type anchor struct {
	engine gnet.EventLoop // written in OnOpen, read after the engine has started
	mine   *os.File       // our end

	mu      sync.Mutex
	waiting []func() // to be run when the byte has been read
}

// ask has fn run on the loop once it has read what came before. Any goroutine.
func (a *anchor) ask(fn func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.waiting = append(a.waiting, fn)
	if len(a.waiting) == 1 {
		_, _ = a.mine.Write([]byte{0}) // fails only once the server is closed
	}
}

// answer runs what waits, on the loop.
func (a *anchor) answer(g gnet.Conn) {
	if n := g.InboundBuffered(); n > 0 {
		_, _ = g.Discard(n)
	}
	a.mu.Lock()
	waiting := a.waiting
	a.waiting = nil
	a.mu.Unlock()
	for _, fn := range waiting {
		fn()
	}
}

// Barrier calls done, on a loop, once every loop has read what had come on its connections before this
// call (of a connection with more than one read's worth, a part). Not after Close has begun. Any goroutine.
func (s *Server) Barrier(done func()) {
	var left atomic.Int64
	left.Store(int64(len(s.loops)))
	for _, l := range s.loops {
		l.anchor.ask(func() {
			defer l.recovered(nil)
			l.stamp()
			if left.Add(-1) == 0 {
				done()
			}
		})
	}
}
