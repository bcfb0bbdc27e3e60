package clients

import (
	"bufio"
	"encoding/binary"
	"io"
	"net"
	"sync"
	"testing"

	"github.com/waymark-mq/waymark/codec"
)

// fakeServer answers each request as answer says; a nil answer ends the connection. Requests of all connections are handled one at a time.
type fakeServer struct {
	addr   string
	answer func(n int, c *codec.Command) *codec.Header // n counts requests from 0 on

	mu       sync.Mutex
	requests int
}

func startFake(t *testing.T, answer func(n int, c *codec.Command) *codec.Header) *fakeServer {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &fakeServer{addr: l.Addr().String(), answer: answer}
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			serving.Go(func() { s.serve(c) })
		}
	})
	t.Cleanup(func() {
		l.Close()
		serving.Wait()
	})
	return s
}

func (s *fakeServer) serve(c net.Conn) {
	defer c.Close()
	r := bufio.NewReader(c)
	for {
		var length [4]byte
		if _, err := io.ReadFull(r, length[:]); err != nil {
			return
		}
		b := append(length[:], make([]byte, binary.BigEndian.Uint32(length[:]))...)
		if _, err := io.ReadFull(r, b[4:]); err != nil {
			return
		}
		f, err := codec.ParseFrame(b)
		if err != nil {
			return
		}
		var cmd codec.Command
		if err := cmd.Parse(f); err != nil {
			return
		}
		h := s.next(&cmd)
		if h == nil {
			return
		}
		if _, err := c.Write(codec.AppendFrame(nil, f.Type, h, make([]byte, 100))); err != nil {
			return
		}
	}
}

func (s *fakeServer) next(c *codec.Command) *codec.Header {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests++
	return s.answer(s.requests-1, c)
}

// seen is the number of requests so far.
func (s *fakeServer) seen() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests
}

// well answers code 0.
func well(c *codec.Command) *codec.Header {
	return &codec.Header{Opaque: c.Opaque, Flag: codec.FlagResponse, Version: 513}
}
