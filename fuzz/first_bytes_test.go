package fuzz

import (
	"bytes"
	"io"
	"log/slog"
	"testing"

	"github.com/waymark-mq/waymark/codec"
	"github.com/waymark-mq/waymark/netpoll"
)

// FuzzFirstBytes: however the first bytes of a connection are cut, it gets as far and ends or stays open; it is never
// ended before its first frame if that could still become a good one.
func FuzzFirstBytes(f *testing.F) {
	h := codec.Header{Code: 105, Version: codec.ServerVersion, ExtFields: []codec.ExtField{{Name: "topic", Value: "TopicA"}}}
	frames := codec.AppendFrame(codec.AppendFrame(nil, codec.SerializeJSON, &h, []byte("body")), codec.SerializeROCKETMQ, &h, nil)
	for _, first := range []string{
		string(frames), "PROXY TCP4 192.0.2.1 192.0.2.2 1000 2000\r\n" + string(frames), "PROXY UNKNOWN\r\n\x16\x03\x01",
		"\r\n\r\n\x00\r\nQUIT\n\x21\x11\x00\x0c\xc0\x00\x02\x01\xc0\x00\x02\x02\x03\xe8\x07\xd0" + string(frames), "\r\n\r\nhelp\r\n",
		"GET / HTTP/1.1\r\n\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\x00", "SSH-2.0-x\r\n",
		"\x03\x00\x00\x13\x0e\xe0\x00\x00", "\x00\x00\x00\x85\xffSMBr\x00\x00\x00\x00", "\x00\x00\x00\x08\x04\xd2\x16\x2f",
		"\x00\x00\x00\x2b\x00\x12\x00\x03\x00\x00\x00\x01\x00\x09rdkafka", "\x00\x3a\x00\x00\x01\x00\x00\x00\x01\x36\x01\x2c", "\x00\x00\x00\x04\x00\x00\x00\x00",
	} {
		f.Add([]byte(first), []byte{1, 2, 4, 9})
	}
	f.Fuzz(func(t *testing.T, stream, cuts []byte) {
		whole, cut := newFirstBytes(), newFirstBytes()
		whole.feed(stream)
		rest := stream
		for _, n := range cuts {
			n := min(int(n), len(rest))
			cut.feed(rest[:n])
			rest = rest[n:]
		}
		cut.feed(rest)
		if (whole.ended == nil) != (cut.ended == nil) || !bytes.Equal(whole.frames, cut.frames) {
			t.Fatalf("%d bytes of frames and %v in one piece, %d and %v in several", len(whole.frames), whole.ended, len(cut.frames), cut.ended)
		}
		if bytes.HasPrefix(stream, []byte("PROXY")) || bytes.HasPrefix(stream, []byte("\r\n\r\n\x00")) || len(stream) > 0 && stream[0] == 0x16 {
			return
		}
		if whole.ended != nil && len(whole.frames) == 0 && firstFrameIsGood(append(bytes.Clone(stream), make([]byte, maxFrameBytes)...)) {
			t.Fatalf("ended for %v, though a good frame could still come", whole.ended)
		}
	})
}

func firstFrameIsGood(stream []byte) bool {
	n, err := codec.FrameLength(stream, maxFrameBytes)
	if err != nil {
		return false
	}
	frame, err := codec.ParseFrame(stream[:n])
	return err == nil && new(codec.Command).Parse(frame) == nil
}

// firstBytes is a connection, as the event loop treats it, to a handler that keeps good frames and refuses others.
type firstBytes struct {
	pipe    *netpoll.Pipe
	frames  []byte
	ended   error
	command codec.Command
}

func newFirstBytes() *firstBytes {
	f := &firstBytes{}
	f.pipe = netpoll.NewPipe(f, netpoll.Options{MaxFrameBytes: maxFrameBytes, Logger: slog.New(slog.NewTextHandler(io.Discard, nil)), Now: func() int64 { return 1 }})
	return f
}

func (f *firstBytes) feed(b []byte) {
	if f.ended == nil && len(b) > 0 {
		_, f.ended = f.pipe.Feed(b)
	}
}

func (*firstBytes) Open(*netpoll.Conn, int64)         {}
func (*firstBytes) Close(*netpoll.Conn, error, int64) {}

func (f *firstBytes) Frame(_ *netpoll.Conn, dst, frame []byte, _ int64) ([]byte, error) {
	parsed, err := codec.ParseFrame(frame)
	if err == nil {
		err = f.command.Parse(parsed)
	}
	if err == nil {
		f.frames = append(f.frames, frame...)
	}
	return dst, err
}
