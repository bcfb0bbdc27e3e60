package namesrv

import "sync"

// decoders turn write requests into commands for the writer, off the event loops. A lane
// is with one decoder at a time, which keeps its order; different lanes go in parallel.
type decoders struct {
	mu     sync.Mutex
	cond   *sync.Cond
	ready  []*session // lanes with something in them, each once
	slow   []*session // those of them whose next request may take long
	turn   int        // lanes taken while slow ones waited
	closed bool
	wg     sync.WaitGroup
}

// start runs n decoders with the function that each applies to a request, made on its goroutine.
func (d *decoders) start(n int, newDecoder func() func(*session, write)) {
	d.cond = sync.NewCond(&d.mu)
	for range n {
		d.wg.Add(1)
		go func() {
			defer d.wg.Done()
			d.run(newDecoder())
		}()
	}
}

// hand gives a lane to the decoders.
func (d *decoders) hand(s *session) {
	slow := s.lane.slow()
	d.mu.Lock()
	if slow {
		d.slow = append(d.slow, s)
	} else {
		d.ready = append(d.ready, s)
	}
	d.mu.Unlock()
	d.cond.Signal()
}

// run works off one request of a lane and puts the lane back behind the others,
// so that a connection with many waiting holds nobody up.
func (d *decoders) run(decode func(*session, write)) {
	for {
		s, ok := d.next()
		if !ok {
			return
		}
		if w, ok := s.lane.first(); ok {
			decode(s, w)
			d.hand(s)
		}
	}
}

// slowTurn is how many quick lanes go before a slow one when both wait.
const slowTurn = 16

// next waits for a lane; ok is false once the decoders are stopped and nothing is left.
func (d *decoders) next() (s *session, ok bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for len(d.ready)+len(d.slow) == 0 {
		if d.closed {
			return nil, false
		}
		d.cond.Wait()
	}
	from := &d.ready
	if len(d.slow) > 0 {
		if d.turn++; len(d.ready) == 0 || d.turn > slowTurn {
			from, d.turn = &d.slow, 0
		}
	}
	s, (*from)[0] = (*from)[0], nil
	*from = (*from)[1:]
	return s, true
}

// stop waits until all lanes are worked off.
func (d *decoders) stop() {
	d.mu.Lock()
	d.closed = true
	d.mu.Unlock()
	d.cond.Broadcast()
	d.wg.Wait()
}
