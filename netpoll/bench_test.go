package netpoll

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"testing"
)

// BenchmarkPipeEcho is what netpoll itself costs for each frame: cutting, the handler call, one append, one write per batch.
func BenchmarkPipeEcho(b *testing.B) {
	for _, depth := range []int{1, 32} {
		b.Run(fmt.Sprintf("depth=%d", depth), func(b *testing.B) {
			p := NewPipe(newEcho().NewLoop(), Options{Logger: quietLogger()})
			batch := bytes.Repeat(frameOf("a request of about the usual size, which is some one hundred and fifty bytes"), depth)
			b.SetBytes(int64(len(batch)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := p.Feed(batch); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkSocketEcho is one connection, one batch in flight, over loopback.
func BenchmarkSocketEcho(b *testing.B) {
	benchmarkEcho(b, func(b *testing.B) net.Conn { return dial(b, startServer(b, newEcho(), Options{})) })
}

// BenchmarkTLSEcho is BenchmarkSocketEcho inside TLS.
func BenchmarkTLSEcho(b *testing.B) {
	benchmarkEcho(b, func(b *testing.B) net.Conn { return dialTLS(b, startServer(b, newEcho(), withTLS(Options{}))) })
}

func benchmarkEcho(b *testing.B, connect func(*testing.B) net.Conn) {
	for _, depth := range []int{1, 32} {
		b.Run(fmt.Sprintf("depth=%d", depth), func(b *testing.B) {
			c := connect(b)
			batch := bytes.Repeat(frameOf("a request"), depth)
			answers := make([]byte, len(batch))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := c.Write(batch); err != nil {
					b.Fatal(err)
				}
				if _, err := io.ReadFull(c, answers); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkTLSHandshake is a connection with its handshake and one request, the client's side included.
func BenchmarkTLSHandshake(b *testing.B) {
	s := startServer(b, newEcho(), withTLS(Options{}))
	frame := frameOf("a request")
	for b.Loop() {
		c := dialTLS(b, s)
		send(b, c, frame)
		expect(b, c, frame)
		_ = c.Close()
	}
}

func TestPipeAllocatesNothing(t *testing.T) {
	p := NewPipe(newEcho().NewLoop(), Options{Logger: quietLogger()})
	batch := bytes.Repeat(frameOf("request"), 8)
	if n := testing.AllocsPerRun(100, func() { _, _ = p.Feed(batch) }); n != 0 {
		t.Fatalf("%v allocations for each read event", n)
	}
}
