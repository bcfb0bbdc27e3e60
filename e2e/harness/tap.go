package harness

import (
	"encoding/json"
	"fmt"
	"net"
	"slices"
	"sync"
)

// Tap stands between peers and a nameserver. It passes on every frame as it is, ends a connection when either side
// does, and keeps what was said.
type Tap struct {
	Addr string // where peers find the nameserver

	target   string
	listener net.Listener

	mu        sync.Mutex
	open      map[net.Conn]bool
	closed    bool
	exchanges []*Exchange
}

// Exchange is a request that a peer has sent and the answer to it.
type Exchange struct {
	Conn   int  // number of the peer's connection, from 0
	Binary bool // the request has a header of the kind ROCKETMQ instead of JSON
	Code   int
	Fields map[string]string
	Body   []byte
	Answer *Answer // nil before it came, and for ever after a one-way request

	opaque int32
}

// NewTap listens on a loopback port for peers of the nameserver at target.
func NewTap(target string) (*Tap, error) {
	listener, err := net.Listen("tcp4", Loopback(0))
	if err != nil {
		return nil, fmt.Errorf("harness: %w", err)
	}
	t := &Tap{Addr: listener.Addr().String(), target: target, listener: listener, open: map[net.Conn]bool{}}
	go t.accept()
	return t, nil
}

// Close ends all connections.
func (t *Tap) Close() {
	_ = t.listener.Close()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
	for conn := range t.open {
		_ = conn.Close()
	}
}

// Exchanges returns the requests of some codes so far, in the order in which they were sent over each connection.
func (t *Tap) Exchanges(codes ...int) []Exchange {
	t.mu.Lock()
	defer t.mu.Unlock()
	var found []Exchange
	for _, e := range t.exchanges {
		if slices.Contains(codes, e.Code) {
			found = append(found, *e)
		}
	}
	return found
}

func (t *Tap) accept() {
	for number := 0; ; number++ {
		peer, err := t.listener.Accept()
		if err != nil { // closed
			return
		}
		go t.connect(number, peer)
	}
}

func (t *Tap) connect(number int, peer net.Conn) {
	server, err := net.DialTimeout("tcp", t.target, askLimit)
	if err != nil || !t.hold(peer, server) {
		_ = peer.Close()
		if err == nil {
			_ = server.Close()
		}
		return
	}
	go t.pass(peer, server, func(f *frame) error { return t.keepRequest(number, f) })
	t.pass(server, peer, func(f *frame) error { return t.keepAnswer(number, f) })
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.open, peer)
	delete(t.open, server)
}

// hold takes note of connections to be closed at the end; false when that has come.
func (t *Tap) hold(conns ...net.Conn) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, conn := range conns {
		t.open[conn] = true
	}
	return !t.closed
}

// pass copies frames from one side to the other until either ends.
func (t *Tap) pass(from, to net.Conn, keep func(*frame) error) {
	defer from.Close()
	defer to.Close()
	for {
		f, err := readFrame(from)
		if err != nil {
			return
		}
		// Kept before it is passed on: who has got an answer finds its request.
		if err := keep(f); err != nil {
			return
		}
		if _, err := to.Write(f.raw); err != nil {
			return
		}
	}
}

func (t *Tap) keepRequest(conn int, f *frame) error {
	e := &Exchange{Conn: conn, Binary: f.kind == binaryHeader, Body: f.body}
	var err error
	if e.Binary {
		e.Code, e.opaque, _, e.Fields, err = parseBinaryHeader(f.header)
	} else {
		var header askHeader
		err = json.Unmarshal(f.header, &header)
		e.Code, e.opaque, e.Fields = header.Code, header.Opaque, header.ExtFields
	}
	if err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.exchanges = append(t.exchanges, e)
	return nil
}

func (t *Tap) keepAnswer(conn int, f *frame) error {
	answer, err := parseAnswer(f)
	if err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, e := range t.exchanges {
		if e.Conn == conn && e.opaque == answer.Opaque && e.Answer == nil {
			e.Answer = answer
			return nil
		}
	}
	return nil
}
