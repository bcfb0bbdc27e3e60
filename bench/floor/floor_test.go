package floor

import (
	"bytes"
	"context"
	"io"
	"net"
	"testing"
	"time"

	"github.com/waymark-mq/waymark/codec"
)

// TestCutAnywhere feeds frames in pieces of every size.
func TestCutAnywhere(t *testing.T) {
	var stream []byte
	for _, body := range []int{0, 1, 300, 7} {
		stream = codec.AppendFrame(stream, codec.SerializeJSON, &codec.Header{Code: 105}, make([]byte, body))
	}
	for size := 1; size <= len(stream); size++ {
		var kept []byte // what wasn't taken
		frames, skip := 0, 0
		for at := 0; at < len(stream); at += size {
			kept = append(kept, stream[at:min(at+size, len(stream))]...)
			n, used, rest := cut(kept, skip)
			frames, skip, kept = frames+n, rest, kept[used:]
			if len(kept) >= 4 {
				t.Fatalf("pieces of %d bytes: %d bytes are left", size, len(kept))
			}
		}
		if frames != 4 || skip != 0 || len(kept) != 0 {
			t.Fatalf("pieces of %d bytes: %d frames, %d bytes to come, %d left", size, frames, skip, len(kept))
		}
	}
	if _, _, skip := cut([]byte{0xff, 0, 0, 0}, 0); skip >= 0 {
		t.Error("a negative length is taken")
	}
}

func TestAnswerIsAFrame(t *testing.T) {
	for _, size := range []int{MinSize, MinSize + 1, 940} {
		b, err := Answer(size)
		if err != nil {
			t.Fatal(err)
		}
		f, err := codec.ParseFrame(b)
		if err != nil {
			t.Fatal(err)
		}
		var c codec.Command
		if err := c.Parse(f); err != nil || c.Code != 0 || !c.IsResponse() || len(b) != size {
			t.Errorf("%d bytes: code %d, %v", len(b), c.Code, err)
		}
	}
	if _, err := Answer(MinSize - 1); err == nil {
		t.Error("an answer smaller than its header")
	}
}

func TestRunAnswersEachFrame(t *testing.T) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	l.Close()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- Run(ctx, addr, 1, 500) }()
	var c net.Conn
	for deadline := time.Now().Add(10 * time.Second); ; {
		if c, err = net.Dial("tcp4", addr); err == nil {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
		select {
		case err := <-ended:
			t.Fatal(err)
		case <-time.After(5 * time.Millisecond):
		}
	}
	frame := codec.AppendFrame(nil, codec.SerializeJSON, &codec.Header{Code: 103}, make([]byte, 200_000))
	if _, err := c.Write(bytes.Repeat(frame, 3)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(c, make([]byte, 3*500)); err != nil {
		t.Error(err)
	}
	c.Close()
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
