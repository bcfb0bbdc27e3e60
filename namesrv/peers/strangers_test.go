package peers

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"net"
	"strings"
	"testing"

	"github.com/hashicorp/memberlist"
)

// streams is a transport of which connections come.
type streams struct {
	memberlist.NodeAwareTransport
	come chan net.Conn
}

func (s *streams) StreamCh() <-chan net.Conn { return s.come }
func (s *streams) Shutdown() error           { return nil }

// TestStrangersKeepNobodyOut: who holds as many connections as there may be doesn't keep out who comes after him.
func TestStrangersKeepNobodyOut(t *testing.T) {
	var log bytes.Buffer
	network := &streams{come: make(chan net.Conn)}
	gt := newGate(network, 1, newMemberLog(slog.New(slog.NewTextHandler(&log, nil)), func() int64 { return 0 }))
	t.Cleanup(func() { _ = gt.Shutdown() })
	come := func() (outside, inside net.Conn) {
		outside, c := net.Pipe()
		t.Cleanup(func() { _ = outside.Close() })
		network.come <- c
		return outside, <-gt.StreamCh()
	}
	first, _ := come()
	for range maxInbound - 1 {
		come()
	}
	peer, inside := come()
	go func() { _, _ = io.WriteString(peer, "word") }()
	b := make([]byte, 4)
	if _, err := io.ReadFull(inside, b); err != nil || string(b) != "word" {
		t.Errorf("the newest says %q, %v", b, err)
	}
	if _, err := first.Read(b); !errors.Is(err, io.EOF) {
		t.Errorf("the oldest: %v, want its end", err)
	}
	_ = gt.Shutdown()
	if n := gt.full.Load(); n != 1 || strings.Count(log.String(), "too many connections") != 1 {
		t.Errorf("%d were closed, want 1; log:\n%s", n, log.String())
	}
}
