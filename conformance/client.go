package conformance

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"
)

const (
	answerWait  = 20 * time.Second       // for an answer that has to come
	silenceWait = 100 * time.Millisecond // after a later request was answered: nothing comes any more
)

// conn is a peer's connection. It is used by one goroutine.
type conn struct {
	c      net.Conn
	r      *bufio.Reader
	opaque int32
	early  map[int32]*Answer // answers that came before they were asked for
}

func dial(addr string) (*conn, error) {
	c, err := net.DialTimeout("tcp", addr, answerWait)
	if err != nil {
		return nil, fmt.Errorf("conformance: %w", err)
	}
	return newConn(c), nil
}

func newConn(c net.Conn) *conn { return &conn{c: c, r: bufio.NewReader(c), early: map[int32]*Answer{}} }

// dialTarget connects in the target's way, if it has one.
func dialTarget(t Target) (*conn, error) {
	d, ok := t.(Dialer)
	if !ok {
		return dial(t.Addr())
	}
	c, err := d.Dial()
	if err != nil {
		return nil, fmt.Errorf("conformance: %w", err)
	}
	return newConn(c), nil
}

func (c *conn) close() { c.c.Close() }

func (c *conn) nextOpaque() int32 {
	c.opaque++
	return c.opaque
}

func (c *conn) send(frame []byte) error {
	c.c.SetWriteDeadline(time.Now().Add(answerWait))
	_, err := c.c.Write(frame)
	return err
}

// answer waits for the answer with that opaque. Answers to other requests that
// come first are kept: the protocol leaves their order open.
func (c *conn) answer(opaque int32) (*Answer, error) {
	if a, ok := c.early[opaque]; ok {
		delete(c.early, opaque)
		return a, nil
	}
	for {
		a, err := c.next(answerWait)
		if err != nil || a.Closed || a.Opaque == opaque {
			return a, err
		}
		c.early[a.Opaque] = a
	}
}

// next is the next frame that comes, Closed if the server ended the connection.
func (c *conn) next(wait time.Duration) (*Answer, error) {
	c.c.SetReadDeadline(time.Now().Add(wait))
	f, err := readFrame(c.r)
	if err != nil {
		if isEnd(err) {
			return &Answer{Closed: true}, nil
		}
		return nil, err
	}
	return parseAnswer(f)
}

// silent tells whether no answer to what was sent comes: neither before nor
// shortly after the answer to a request that is sent afterwards.
func (c *conn) silent() (*Answer, error) {
	s := Step{Code: 0}
	opaque := int32(1 << 30)
	f, err := s.frame(opaque)
	if err != nil {
		return nil, err
	}
	if err := c.send(f); err != nil {
		return &Answer{Closed: true}, nil
	}
	answered := false
	for wait := answerWait; ; wait = silenceWait {
		a, err := c.next(wait)
		switch {
		case err != nil && answered && errors.Is(err, os.ErrDeadlineExceeded):
			return nil, nil
		case err != nil || a.Closed || answered || a.Opaque != opaque:
			return a, err
		}
		answered = true
	}
}

// end ends the connection and waits until the server has done so too.
func (c *conn) end() error {
	defer c.close()
	if err := c.c.(interface{ CloseWrite() error }).CloseWrite(); err != nil {
		return nil // the server was first
	}
	for {
		a, err := c.next(answerWait)
		if err != nil {
			return fmt.Errorf("conformance: the server does not end the connection: %w", err)
		}
		if a.Closed {
			return nil
		}
		c.early[a.Opaque] = a
	}
}

// waitEnd waits until the server ends the connection.
func (c *conn) waitEnd(wait time.Duration) error {
	a, err := c.next(wait)
	if err != nil {
		return fmt.Errorf("conformance: the connection was to end: %w", err)
	}
	if !a.Closed {
		return fmt.Errorf("conformance: the connection was to end, but an answer came: %s", a)
	}
	return nil
}

func isEnd(err error) bool {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return true
	}
	var ne net.Error
	return errors.As(err, &ne) && !ne.Timeout()
}
