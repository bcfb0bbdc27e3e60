// Package remoting is a client of the RocketMQ remoting protocol: one connection, on which many requests may be under way.
package remoting

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/waymark-mq/waymark/codec"
)

// ErrClosed is the error of calls on a Client that was closed.
var ErrClosed = errors.New("remoting: connection closed")

// ErrProtocol is the error of calls on a connection that was closed because of what the peer has sent: no frame, too long a one, or more that
// nobody asked for than Options allow.
var ErrProtocol = errors.New("the peer doesn't keep to the protocol")

// Options are how to connect.
type Options struct {
	TLS           *tls.Config // nil: none
	MaxFrameBytes int         // of an answer; 0: codec.DefaultMaxFrameBytes
	// MaxUnasked is how many frames that no call waits for are passed over between two answers; one more ends the connection. 0: any number.
	// Answers to calls that were given up count, too.
	MaxUnasked int
}

// Client is a connection. Its methods are for any goroutine. It reads one answer at a time and grows its memory only with what
// has come, so that a peer makes it hold no more than one frame.
type Client struct {
	conn net.Conn

	mu      sync.Mutex // of what follows, and of writes
	opaque  int32
	pending map[int32]*call
	err     error // why it has ended; nil: it hasn't
	out     []byte
}

// call is a request under way. Whoever takes it out of pending ends it.
type call struct {
	use  func(*codec.Command) error
	done chan error // room for one
}

// Dial connects to host:port, and through TLS if o says so. ctx bounds that alone.
func Dial(ctx context.Context, addr string, o Options) (*Client, error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("remoting: %w", err)
	}
	if o.TLS != nil {
		inside := tls.Client(conn, o.TLS)
		if err := inside.HandshakeContext(ctx); err != nil {
			_ = conn.Close()
			return nil, fmt.Errorf("remoting: TLS with %s: %w", addr, err)
		}
		conn = inside
	}
	if o.MaxFrameBytes == 0 {
		o.MaxFrameBytes = codec.DefaultMaxFrameBytes
	}
	c := &Client{conn: conn, pending: map[int32]*call{}}
	go c.read(&frameReader{r: bufio.NewReader(conn), maxBytes: o.MaxFrameBytes}, o.MaxUnasked)
	return c, nil
}

// Peer is the address that it is connected to.
func (c *Client) Peer() netip.Addr {
	a, _ := netip.ParseAddrPort(c.conn.RemoteAddr().String()) // a TCP connection's is one
	return a.Addr().Unmap()
}

// Close ends the connection and the calls under way.
func (c *Client) Close() { c.end(ErrClosed) }

// Call sends a request, whose opaque is set here, and waits for its answer, until ctx ends. use is called with it on the
// goroutine that reads, so it must be short and make no call; the command and what it hands out are good until it returns. Its
// error is Call's. Any other error means that use was not called.
func (c *Client) Call(ctx context.Context, h codec.Header, body []byte, use func(*codec.Command) error) error {
	w := &call{use: use, done: make(chan error, 1)}
	opaque, err := c.send(ctx, h, body, w)
	if err != nil {
		return err
	}
	select {
	case err := <-w.done:
		return err
	case <-ctx.Done():
		if c.take(opaque) == nil {
			return <-w.done // the answer is being used
		}
		return fmt.Errorf("remoting: no answer to request %d: %w", h.Code, ctx.Err())
	}
}

// writeTime bounds a write to a peer that doesn't read, for calls without a deadline.
const writeTime = 30 * time.Second

func (c *Client) send(ctx context.Context, h codec.Header, body []byte, w *call) (opaque int32, err error) {
	if err := ctx.Err(); err != nil {
		return 0, fmt.Errorf("remoting: request %d: %w", h.Code, err)
	}
	deadline, ok := ctx.Deadline()
	if !ok {
		deadline = time.Now().Add(writeTime)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return 0, c.err
	}
	c.opaque++
	h.Opaque = c.opaque
	c.out = codec.AppendFrame(c.out[:0], codec.SerializeJSON, &h, body)
	c.pending[h.Opaque] = w
	_ = c.conn.SetWriteDeadline(deadline)
	if _, err := c.conn.Write(c.out); err != nil {
		delete(c.pending, h.Opaque)
		err = fmt.Errorf("remoting: request %d: %w", h.Code, err)
		c.endLocked(err) // part of a frame may have left
		return 0, err
	}
	return h.Opaque, nil
}

// take returns the call of that opaque, nil if somebody else has it.
func (c *Client) take(opaque int32) *call {
	c.mu.Lock()
	defer c.mu.Unlock()
	w := c.pending[opaque]
	delete(c.pending, opaque)
	return w
}

func (c *Client) end(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.endLocked(err)
}

func (c *Client) endLocked(err error) {
	if c.err != nil {
		return
	}
	c.err = err
	_ = c.conn.Close()
	for opaque, w := range c.pending {
		delete(c.pending, opaque)
		w.done <- err
	}
}

// read hands answers to their calls until the connection ends. Answers that nobody waits for any more, and requests of the
// peer, are passed over, so many between two answers (0: any number).
func (c *Client) read(frames *frameReader, maxUnasked int) {
	defer func() { // a fault that an answer brings about ends its connection alone
		if r := recover(); r != nil {
			c.end(fmt.Errorf("remoting: fault in an answer of %s: %v", c.conn.RemoteAddr(), r))
		}
	}()
	var cmd codec.Command
	unasked := 0
	for {
		w, err := c.next(frames, &cmd)
		if w != nil {
			unasked = 0
			w.done <- w.use(&cmd)
			continue
		}
		if unasked++; err == nil && maxUnasked > 0 && unasked > maxUnasked {
			err = fmt.Errorf("%w: %d frames that nobody asked for", ErrProtocol, unasked)
		}
		if err != nil {
			c.end(fmt.Errorf("remoting: connection to %s: %w", c.conn.RemoteAddr(), err))
			return
		}
	}
}

// next reads a frame and returns the call that it answers, nil if there is none.
func (c *Client) next(frames *frameReader, cmd *codec.Command) (*call, error) {
	f, err := frames.next()
	if err != nil {
		return nil, err
	}
	if err := cmd.Parse(f); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrProtocol, err)
	}
	if !cmd.IsResponse() {
		return nil, nil
	}
	return c.take(cmd.Opaque), nil
}
