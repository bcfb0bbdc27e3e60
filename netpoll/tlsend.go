package netpoll

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"

	"github.com/valyala/bytebufferpool"
)

// tlsEnd is the transport of a connection inside TLS: its loop reads and writes plain bytes, records go over the transport
// below. A connection stays on its loop for life; only the handshake, whose arithmetic takes a millisecond and whose calls
// wait for the peer, runs on a goroutine.
//
// Concurrency contract
//
//	handshake:  conn is the goroutine's (handshakes.run). The loop hands it what comes (wire.push) and writes what it sends.
//	afterwards: all of it is the loop's. The task that tells the loop of the end hands conn over.
//	memory:     in aliases the loop's plain buffer during a read event; what the event leaves is copied into rest.
type tlsEnd struct {
	conn  *tls.Conn
	wire  tlsWire
	of    *Conn
	lower transport

	ready bool   // the handshake went well
	since int64  // when the hello came, in the time of deadlines
	in    []byte // plain input that is not handled
	rest  *bytebufferpool.ByteBuffer
	err   error // why nothing more can be read; what came before is handled first
}

const (
	recordBytes = 16 * kib  // most plain bytes of a record
	sealBytes   = 256 * kib // plain bytes turned into records at a time
)

func newTLSEnd(c *Conn, config *tls.Config, compute chan struct{}) *tlsEnd {
	e := &tlsEnd{of: c, lower: c.io, since: c.loop.deadlineNow()}
	e.wire.init(e, compute)
	e.conn = tls.Server(&e.wire, config)
	return e
}

// receive takes what has come from the transport below and returns the number of plain bytes that it brought: none before
// the end of the handshake.
func (e *tlsEnd) receive() int {
	if e.err != nil { // nothing is read behind the peer's last word
		e.wire.drop()
		return 0
	}
	if !e.ready {
		e.wire.push()
		return 0
	}
	before := len(e.in)
	if e.rest == nil {
		e.in = e.of.loop.plain[:0]
	}
	for e.err == nil {
		e.in = slices.Grow(e.in, recordBytes)
		n, err := e.conn.Read(e.in[len(e.in):cap(e.in)])
		e.in = e.in[:len(e.in)+n]
		if errors.Is(err, os.ErrDeadlineExceeded) {
			break // all that came was read
		}
		e.err = err
	}
	if e.rest == nil && cap(e.in) <= keepOutBytes {
		e.of.loop.plain = e.in[:0]
	}
	_ = e.flush() // what was answered below: an alert, new keys
	return len(e.in) - before
}

// settle ends a read event: what it leaves gets memory of its own.
func (e *tlsEnd) settle() {
	switch {
	case len(e.in) == 0:
		e.free()
	case e.rest == nil:
		e.rest = bytebufferpool.Get()
		e.rest.B = append(e.rest.B[:0], e.in...)
		e.in = e.rest.B
	default:
		e.rest.B = e.in // it may have grown
	}
}

func (e *tlsEnd) free() {
	e.in = nil
	if e.rest != nil {
		bytebufferpool.Put(e.rest)
		e.rest = nil
	}
}

// reason is why the connection ends when nothing more can be read.
func (e *tlsEnd) reason() error {
	if errors.Is(e.err, io.EOF) {
		return io.EOF
	}
	return fmt.Errorf("%w: %w", ErrTLSRecord, e.err)
}

// goodbye tells the peer that nothing follows.
func (e *tlsEnd) goodbye() {
	if e.ready {
		_ = e.conn.CloseWrite()
		_ = e.flush()
	}
}

// partial reports that a record has begun and isn't complete.
func (e *tlsEnd) partial() bool { return e.ready && e.wire.records.partial() }

// InboundBuffered implements transport; during the handshake it is what waits for that.
func (e *tlsEnd) InboundBuffered() int {
	if !e.ready {
		return e.wire.waiting()
	}
	return len(e.in)
}

// Peek implements transport.
func (e *tlsEnd) Peek(n int) ([]byte, error) {
	if n <= 0 || n > len(e.in) {
		return nil, io.ErrShortBuffer
	}
	return e.in[:n], nil
}

// Discard implements transport.
func (e *tlsEnd) Discard(n int) (int, error) {
	if !e.ready {
		e.wire.drop()
		return n, nil
	}
	e.in = e.in[min(n, len(e.in)):]
	return n, nil
}

// Write implements transport. Before the end of the handshake there is nothing to write into.
func (e *tlsEnd) Write(p []byte) (int, error) {
	if err := e.seal(p); err != nil {
		return 0, err
	}
	return len(p), e.flush()
}

// Writev implements transport: one write for each sealBytes.
func (e *tlsEnd) Writev(pieces [][]byte) (n int, err error) {
	for _, p := range pieces {
		if err := e.seal(p); err != nil {
			return n, err
		}
		n += len(p)
	}
	return n, e.flush()
}

// seal turns p into records. They are written when they are many, and by flush.
func (e *tlsEnd) seal(p []byte) error {
	if !e.ready {
		return errNotSecure
	}
	for len(p) > 0 {
		part := p[:min(len(p), sealBytes)]
		if _, err := e.conn.Write(part); err != nil {
			e.of.loop.sealed = e.of.loop.sealed[:0] // nobody else's
			return err
		}
		if p = p[len(part):]; len(e.of.loop.sealed) < sealBytes {
			continue
		}
		if err := e.flush(); err != nil {
			return err
		}
	}
	return nil
}

// OutboundBuffered implements transport: records that the kernel hasn't taken.
func (e *tlsEnd) OutboundBuffered() int { return e.lower.OutboundBuffered() }

// flush writes the records that were made.
func (e *tlsEnd) flush() error {
	l := e.of.loop
	if len(l.sealed) == 0 {
		return nil
	}
	sealed := l.sealed
	l.sealed = l.sealed[:0]
	if e.of.gone.Load() {
		return net.ErrClosed
	}
	if len(sealed) <= pieceBytes {
		_, err := e.lower.Write(sealed)
		return err
	}
	_, err := e.lower.Writev(appendPieces(nil, sealed))
	return err
}
