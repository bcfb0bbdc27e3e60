package netpoll

import (
	"crypto/tls"
	"errors"
	"fmt"
)

// TLS reports whether the connection is inside TLS, from its hello on. Any goroutine.
func (c *Conn) TLS() bool { return c.tls.Load() != nil }

// tlsConfig is what a hello that comes now is answered with; nil: TLS is off.
func (s *Server) tlsConfig() *tls.Config {
	if s.opts.TLSConfig == nil {
		return nil
	}
	return s.opts.TLSConfig()
}

// startTLS begins the handshake of a connection whose head is a hello. It is paused until the end of it.
func (l *loop) startTLS(c *Conn, config *tls.Config) {
	h := &l.server.handshakes
	e := newTLSEnd(c, config, h.compute)
	if !h.start(e) {
		l.counts.tlsRefused++
		l.end(c, ErrTLSBusy)
		return
	}
	c.io, c.stage = e, stageTLS
	c.tls.Store(e)
	c.want, c.halfNanos = 0, 0
	c.paused++
	if due, _ := l.deadline(c); due < c.timer.dueNanos {
		l.deadlines.set(&c.timer, due)
	}
	e.receive()
	l.setHeld(c, c.inbound())
	l.boundHeld(c)
}

// handshaken is the end of a handshake, on the loop.
func (l *loop) handshaken(e *tlsEnd, err error) {
	c := e.of
	switch {
	case err == nil:
		l.counts.tlsDone++
	case errors.Is(err, ErrPanic):
		l.counts.panics++
		fallthrough
	default:
		l.counts.tlsFailed++
	}
	if c.gone.Load() {
		return
	}
	c.paused--
	if err != nil {
		e.err = err
		l.endFlushed(c, fmt.Errorf("%w: %w", ErrTLSHandshake, err))
		return
	}
	e.ready = true
	l.counts.tlsConns++
	c.stage, c.want = stageSecure, lengthBytes
	l.setHeld(c, 0) // what was held becomes new input
	l.traffic(c)
}

// settleTLS ends a read event of a connection inside TLS.
func (l *loop) settleTLS(c *Conn, e *tlsEnd) {
	if c.gone.Load() {
		return
	}
	e.settle()
	if e.err != nil && !c.closing {
		l.end(c, e.reason())
	}
}

// closedTLS is the end of a connection inside TLS.
func (l *loop) closedTLS(e *tlsEnd) {
	close(e.wire.gone)
	if e.ready {
		l.counts.tlsConns--
	}
}
