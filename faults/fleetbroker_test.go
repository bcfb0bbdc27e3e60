//go:build faults && linux

package faults

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/waymark-mq/waymark/codec"
	"github.com/waymark-mq/waymark/e2e/harness"
)

const (
	fleetPeriod   = 2 * time.Second  // between two registrations of a broker
	fleetPatience = 2 * time.Minute  // of a broker with an answer: it never ends a connection for that
	fleetRedial   = time.Second      // until a broker tries again to connect, and for how long it tries
	fleetSilence  = 10 * time.Minute // after which a nameserver would expire a broker by itself: not in this test
)

// sharedTopic is one that all brokers of a fleet have.
const sharedTopic = "Shared"

// fleetBroker is a master broker on a host of its own: it registers with all nameservers again and again, and answers probes.
type fleetBroker struct {
	t       *testing.T
	name    string
	host    *harness.Host
	servers []*fleetServer
	version atomic.Int64 // of its topics: of each there is one more

	running  sync.WaitGroup
	stopped  chan struct{}
	listener net.Listener
	mu       sync.Mutex
	open     map[net.Conn]*fleetServer // nil: of a probe. A nil map: it is stopped
}

const fleetBrokerPort = "10911"

func (b *fleetBroker) addr() string { return net.JoinHostPort(b.host.Addr, fleetBrokerPort) }

// topics are those of a version.
func (b *fleetBroker) topics(version int64) []string {
	topics := []string{sharedTopic}
	for i := range version {
		topics = append(topics, fmt.Sprintf("%s-topic-%d", b.name, i))
	}
	return topics
}

// boot begins its life.
func (b *fleetBroker) boot() {
	b.t.Helper()
	var err error
	if b.listener, err = b.host.Listen(fleetBrokerPort); err != nil {
		b.t.Fatal(err)
	}
	b.stopped, b.open = make(chan struct{}), map[net.Conn]*fleetServer{}
	b.running.Go(b.accept)
	for _, s := range b.servers {
		b.running.Go(func() { b.registerWith(s) })
	}
}

// crash ends it as the end of its host does: no connection is closed in order, and nothing is sent again.
func (b *fleetBroker) crash() {
	b.mu.Lock()
	open := b.open
	b.open = nil
	b.mu.Unlock()
	if open == nil {
		return
	}
	close(b.stopped)
	_ = b.listener.Close()
	for conn := range open {
		_ = conn.(*net.TCPConn).SetLinger(0)
		_ = conn.Close()
	}
	b.running.Wait()
}

// hangUp closes its connection to a server, in order. It comes back on another.
func (b *fleetBroker) hangUp(s *fleetServer) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for conn, to := range b.open {
		if to == s {
			_ = conn.Close()
		}
	}
}

// keep notes a connection, to a server or of a probe; false if it is stopped: the connection is closed.
func (b *fleetBroker) keep(conn net.Conn, to *fleetServer) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.open == nil {
		_ = conn.Close()
		return false
	}
	b.open[conn] = to
	return true
}

func (b *fleetBroker) drop(conn net.Conn) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.open, conn)
	_ = conn.Close()
}

// pause reports whether it still runs afterwards.
func (b *fleetBroker) pause(d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-b.stopped:
		return false
	}
}

// registerWith keeps it registered with a server.
func (b *fleetBroker) registerWith(s *fleetServer) {
	for again := true; again; again = b.pause(fleetRedial) {
		conn, err := b.host.Dial(s.addr, fleetRedial)
		if err != nil {
			continue
		}
		if !b.keep(conn, s) {
			return
		}
		c := newClient(b.t, conn)
		for again := true; again; again = b.pause(fleetPeriod) {
			version := b.version.Load()
			r := registration(b.name, fleetSilence, int(version), b.topics(version)...).with("brokerAddr", b.addr()).with("haServerAddr", b.addr())
			a, err := c.tryCall(r, fleetPatience)
			if err != nil {
				break // the connection has ended
			}
			if a.Code != codec.ResponseSuccess {
				b.t.Errorf("%s is refused by %s: %d %s", b.name, s.name, a.Code, a.Remark)
			}
		}
		b.drop(conn)
	}
}

func (b *fleetBroker) accept() {
	for {
		conn, err := b.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err == nil && b.keep(conn, nil) {
			b.running.Go(func() { b.answer(conn) })
		}
	}
}

// answer answers whatever is asked on a connection.
func (b *fleetBroker) answer(conn net.Conn) {
	defer b.drop(conn)
	r := bufio.NewReader(conn)
	for {
		header, _, err := readFrame(r)
		if err != nil {
			return
		}
		var asked struct{ Opaque int32 }
		if err := json.Unmarshal(header, &asked); err != nil {
			b.t.Errorf("%s is asked %q: %v", b.name, header, err)
			return
		}
		h := codec.Header{Flag: codec.FlagResponse, Opaque: asked.Opaque, Version: codec.ServerVersion}
		if _, err := conn.Write(codec.AppendFrame(nil, codec.SerializeJSON, &h, nil)); err != nil {
			return
		}
	}
}
