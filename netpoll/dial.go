package netpoll

import (
	"context"
	"io"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// NotifierOptions configure a Notifier. A zero value means the default written beside it.
type NotifierOptions struct {
	ConnectTimeout time.Duration // 3 s
	SendTimeout    time.Duration // 300 ms
	IdleTimeout    time.Duration // 120 s without a frame for an address end its connection
	QueueFrames    int           // 64 frames waiting for one address
	MaxAddrs       int           // 1,024 addresses at a time
	Logger         *slog.Logger  // slog.Default()
}

func (o *NotifierOptions) setDefaults() {
	setDefault(&o.ConnectTimeout, 3*time.Second)
	setDefault(&o.SendTimeout, 300*time.Millisecond)
	setDefault(&o.IdleTimeout, 120*time.Second)
	setDefault(&o.QueueFrames, 64)
	setDefault(&o.MaxAddrs, 1024)
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
}

// Notifier sends one-way frames to addresses it connects to, off any event loop. Each address has a goroutine with a
// bounded queue and one connection that is kept for the next frame; an address that doesn't answer delays no other.
// Frames for one address leave in order. What can't be sent is dropped, counted, and logged now and then.
type Notifier struct {
	opts NotifierOptions
	log  *limitedLog
	ctx  context.Context
	end  context.CancelFunc

	mu    sync.Mutex // guards peers and ended; held for a map look-up and a send that can't block
	peers map[string]chan []byte
	ended bool
	wg    sync.WaitGroup

	sent, failed, dropped atomic.Uint64
}

// NotifierStats count frames.
type NotifierStats struct {
	Sent    uint64 // given to the kernel
	Failed  uint64 // not connected or not written
	Dropped uint64 // refused: a queue was full, too many addresses, or closed
}

// NewNotifier makes a Notifier; it starts nothing until the first frame.
func NewNotifier(o NotifierOptions) *Notifier {
	o.setDefaults()
	n := &Notifier{opts: o, log: newLimitedLog(o.Logger, monotonicNanos), peers: map[string]chan []byte{}}
	n.ctx, n.end = context.WithCancel(context.Background())
	return n
}

// Notify queues frame for addr (host:port) and returns at once. frame must not be changed afterwards.
func (n *Notifier) Notify(addr string, frame []byte) {
	n.mu.Lock()
	defer n.mu.Unlock()
	queue := n.peers[addr]
	if queue == nil {
		if n.ended || len(n.peers) >= n.opts.MaxAddrs {
			n.drop(addr)
			return
		}
		queue = make(chan []byte, n.opts.QueueFrames)
		n.peers[addr] = queue
		n.wg.Add(1)
		go n.serve(addr, queue)
	}
	select {
	case queue <- frame:
	default:
		n.drop(addr)
	}
}

func (n *Notifier) drop(addr string) {
	n.dropped.Add(1)
	n.log.warn("notify dropped", "netpoll: notification dropped", "addr", addr)
}

// Stats may be called at any time.
func (n *Notifier) Stats() NotifierStats {
	return NotifierStats{Sent: n.sent.Load(), Failed: n.failed.Load(), Dropped: n.dropped.Load()}
}

// Close ends all connections; frames still queued are lost. It returns when no goroutine is left.
func (n *Notifier) Close() {
	n.mu.Lock()
	n.ended = true
	n.mu.Unlock()
	n.end()
	n.wg.Wait()
}

// link is a connection to a peer; gone is closed when the peer has ended it.
type link struct {
	net.Conn
	gone chan struct{}
}

// serve is the goroutine of one address.
func (n *Notifier) serve(addr string, queue chan []byte) {
	defer n.wg.Done()
	var l *link
	idle := time.NewTimer(n.opts.IdleTimeout)
	defer idle.Stop()
	for {
		var gone chan struct{}
		if l != nil {
			gone = l.gone
		}
		select {
		case frame := <-queue:
			l = n.send(addr, l, frame)
			if l == nil {
				n.failQueued(queue)
			}
			idle.Reset(n.opts.IdleTimeout)
		case <-gone:
			l.close()
			l = nil
		case <-idle.C:
			if n.forget(addr, queue) {
				l.close()
				return
			}
			idle.Reset(n.opts.IdleTimeout)
		case <-n.ctx.Done():
			l.close()
			n.forget(addr, queue)
			return
		}
	}
}

// forget takes addr off the list if nothing waits for it.
func (n *Notifier) forget(addr string, queue chan []byte) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(queue) > 0 {
		return false
	}
	delete(n.peers, addr)
	return true
}

// send writes frame over l, or over a new connection, and returns what to use next; nil after a failure.
func (n *Notifier) send(addr string, l *link, frame []byte) *link {
	if l != nil {
		if l.write(frame, n.opts.SendTimeout) == nil {
			n.sent.Add(1)
			return l
		}
		l.close() // it had died unnoticed; once more over a new one
	}
	l, err := n.connect(addr)
	if err == nil {
		if err = l.write(frame, n.opts.SendTimeout); err == nil {
			n.sent.Add(1)
			return l
		}
		l.close()
	}
	n.failed.Add(1)
	n.log.warn("notify", "netpoll: notification failed", "addr", addr, "err", err)
	return nil
}

// failQueued gives up the frames that wait behind a failed one: trying each would take a timeout each.
func (n *Notifier) failQueued(queue chan []byte) {
	for {
		select {
		case <-queue:
			n.failed.Add(1)
		default:
			return
		}
	}
}

func (n *Notifier) connect(addr string) (*link, error) {
	d := net.Dialer{Timeout: n.opts.ConnectTimeout, KeepAlive: -1}
	conn, err := d.DialContext(n.ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	l := &link{Conn: conn, gone: make(chan struct{})}
	n.wg.Add(1)
	go func() { // peers send nothing; reading shows when they are gone, which writing doesn't
		defer n.wg.Done()
		_, _ = io.Copy(io.Discard, conn)
		close(l.gone)
	}()
	return l, nil
}

func (l *link) write(frame []byte, timeout time.Duration) error {
	select {
	case <-l.gone:
		return net.ErrClosed
	default:
	}
	_ = l.SetWriteDeadline(time.Now().Add(timeout))
	_, err := l.Write(frame)
	return err
}

// close ends the connection, after which its reader ends; a nil link is none.
func (l *link) close() {
	if l != nil {
		_ = l.Conn.Close()
	}
}
