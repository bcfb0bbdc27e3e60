package fuzz

import (
	"fmt"
	"testing"

	"github.com/waymark-mq/waymark/codec"
)

// maxFrameBytes is small, so that the search meets the limit.
const maxFrameBytes = 4 << 10

// FuzzFrameStream: a stream of bytes gives the same frames however it was cut,
// and no frame has more bytes than the stream.
func FuzzFrameStream(f *testing.F) {
	h := codec.Header{Code: 105, Version: codec.ServerVersion, ExtFields: []codec.ExtField{{Name: "topic", Value: "TopicA"}}}
	both := codec.AppendFrame(nil, codec.SerializeJSON, &h, []byte("body"))
	both = codec.AppendFrame(both, codec.SerializeROCKETMQ, &h, nil)
	f.Add(both, []byte{1, 3, 4, 50})
	f.Add(codec.FinishFrame(codec.AppendSuccessStart(nil, codec.SerializeJSON, -1), 0), []byte{8})
	f.Add([]byte("GET / HTTP/1.1\r\n\r\n"), []byte{2})
	f.Add([]byte{0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 3}, []byte{})
	f.Fuzz(func(t *testing.T, stream, cuts []byte) {
		var whole, cut frameReader
		whole.feed(stream)
		rest := stream
		for _, n := range cuts {
			n := min(int(n), len(rest))
			cut.feed(rest[:n])
			rest = rest[n:]
		}
		cut.feed(rest)
		if len(whole.seen) != len(cut.seen) {
			t.Fatalf("%d frames in one piece, %d in several", len(whole.seen), len(cut.seen))
		}
		for i := range whole.seen {
			if whole.seen[i] != cut.seen[i] {
				t.Fatalf("frame %d: %s in one piece, %s in several", i, whole.seen[i], cut.seen[i])
			}
		}
		if whole.consumed > len(stream) || whole.consumed != cut.consumed {
			t.Fatalf("%d and %d bytes consumed of %d", whole.consumed, cut.consumed, len(stream))
		}
	})
}

// frameReader cuts frames from a stream as a connection does, and notes what it saw.
type frameReader struct {
	buffer   []byte
	consumed int
	seen     []string
	closed   bool
	command  codec.Command
}

func (r *frameReader) feed(piece []byte) {
	r.buffer = append(r.buffer, piece...)
	for !r.closed && len(r.buffer) >= 4 {
		n, err := codec.FrameLength(r.buffer, maxFrameBytes)
		if err != nil {
			r.end(err)
			return
		}
		if len(r.buffer) < n {
			return
		}
		r.frame(r.buffer[:n])
		r.buffer = r.buffer[n:]
		r.consumed += n
	}
}

func (r *frameReader) frame(b []byte) {
	f, err := codec.ParseFrame(b)
	if err == nil {
		err = r.command.Parse(f)
	}
	if err != nil {
		r.end(err)
		return
	}
	r.seen = append(r.seen, fmt.Sprintf("%d %+v %q", f.Type, headerOf(&r.command), r.command.Body))
}

func (r *frameReader) end(err error) {
	r.seen = append(r.seen, err.Error())
	r.closed = true
}
