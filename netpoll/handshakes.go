package netpoll

import (
	"fmt"
	"net"
	"runtime"
	"sync"
	"sync/atomic"
)

// handshakes bounds what TLS handshakes take from everybody else. Each has a goroutine, which costs little until its turn
// comes; maxHandshakes may have begun and hold the memory of one, and of these only half as many as there are processors
// compute at a time, so that a flood of hellos leaves the other half to the loops. Waiting for the peer takes no such place.
type handshakes struct {
	most    int64         // begun or waiting to
	pending atomic.Int64  // of these, now
	begun   chan struct{} // one place for each that may have begun
	compute chan struct{} // one place for each that may compute
	ended   sync.WaitGroup
}

// waitingHandshakes is how many handshakes may wait to begin for each that may have begun.
const waitingHandshakes = 4

func (h *handshakes) init(most int) {
	h.most = int64(most) * (1 + waitingHandshakes)
	h.begun = make(chan struct{}, most)
	h.compute = make(chan struct{}, max(1, runtime.GOMAXPROCS(0)/2))
}

// start begins e's handshake; false if too many are under way.
func (h *handshakes) start(e *tlsEnd) bool {
	if h.pending.Add(1) > h.most {
		h.pending.Add(-1)
		return false
	}
	h.ended.Add(1)
	go h.run(e)
	return true
}

func (h *handshakes) run(e *tlsEnd) {
	defer h.ended.Done()
	err := h.shake(e)
	h.pending.Add(-1)
	e.of.loop.post(func() { e.of.loop.handshaken(e, err) })
}

func (h *handshakes) shake(e *tlsEnd) (err error) {
	select {
	case h.begun <- struct{}{}:
		defer func() { <-h.begun }()
	case <-e.wire.gone:
		return net.ErrClosed
	}
	h.compute <- struct{}{}
	defer func() {
		if r := recover(); r != nil {
			e.of.loop.server.logPanic(e.of, r)
			err = fmt.Errorf("%w: %v", ErrPanic, r)
		}
		<-h.compute
	}()
	err = e.conn.Handshake()
	e.wire.over = true
	return err
}
