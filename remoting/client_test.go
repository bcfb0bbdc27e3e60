package remoting

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/waymark-mq/waymark/codec"
)

const waitLimit = 20 * time.Second

// server runs serve on the first connection to it and returns its address.
func server(t *testing.T, serve func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if conn, err := l.Accept(); err == nil {
			serve(conn)
			_ = conn.Close()
		}
	}()
	t.Cleanup(func() {
		_ = l.Close()
		<-ended
	})
	return l.Addr().String()
}

func dial(t *testing.T, serve func(net.Conn)) *Client {
	t.Helper()
	addr := server(t, serve)
	c, err := Dial(within(t, waitLimit), addr, Options{MaxFrameBytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func within(t *testing.T, limit time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	t.Cleanup(cancel)
	return ctx
}

// request reads one request and returns its opaque and the value of its field n.
func request(r io.Reader) (opaque int32, n string) {
	f := frameReader{r: r, maxBytes: 1 << 20}
	frame, err := f.next()
	var c codec.Command
	if err != nil || c.Parse(frame) != nil {
		return -1, ""
	}
	v, _ := c.Field("n")
	return c.Opaque, string(v)
}

func answer(opaque int32, flag int32, body string) []byte {
	return codec.AppendFrame(nil, codec.SerializeROCKETMQ, &codec.Header{Opaque: opaque, Flag: flag}, []byte(body))
}

func ask(n string) codec.Header {
	return codec.Header{Code: 105, ExtFields: []codec.ExtField{{Name: "n", Value: n}}}
}

func bodyInto(s *string) func(*codec.Command) error {
	return func(c *codec.Command) error {
		*s = string(c.Body)
		return nil
	}
}

// Answers find their calls in whatever order they come, among requests of the peer and answers that nobody waits for.
func TestAnswersComeInAnyOrder(t *testing.T) {
	const calls = 50
	c := dial(t, func(conn net.Conn) {
		r := bufio.NewReader(conn)
		var out [][]byte
		for range calls {
			opaque, n := request(r)
			out = append(out, answer(opaque, codec.FlagResponse, "to "+n), answer(opaque+1000, codec.FlagResponse, "nobody's"), answer(opaque, 0, "no answer"))
		}
		slices.Reverse(out)
		_, _ = conn.Write(bytes.Join(out, nil))
	})
	ctx := within(t, waitLimit)
	var wg sync.WaitGroup
	for i := range calls {
		wg.Go(func() {
			var got string
			if err := c.Call(ctx, ask(strconv.Itoa(i)), nil, bodyInto(&got)); err != nil || got != fmt.Sprint("to ", i) {
				t.Errorf("call %d: %q, %v", i, got, err)
			}
		})
	}
	wg.Wait()
}

// A call that isn't waited for any longer isn't used later, and harms no other.
func TestCancelledCall(t *testing.T) {
	goOn := make(chan struct{})
	c := dial(t, func(conn net.Conn) {
		r := bufio.NewReader(conn)
		first, _ := request(r)
		<-goOn
		second, _ := request(r)
		_, _ = conn.Write(append(answer(first, codec.FlagResponse, "late"), answer(second, codec.FlagResponse, "in time")...))
	})
	ctx, cancel := context.WithCancel(t.Context())
	cancelled := make(chan error, 1)
	go func() {
		cancelled <- c.Call(ctx, ask("1"), nil, func(*codec.Command) error { t.Error("used"); return nil })
	}()
	for pending := 0; pending == 0; runtime.Gosched() {
		c.mu.Lock()
		pending = len(c.pending)
		c.mu.Unlock()
	}
	cancel()
	if err := <-cancelled; !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	close(goOn)
	var got string
	if err := c.Call(within(t, waitLimit), ask("2"), nil, bodyInto(&got)); err != nil || got != "in time" {
		t.Errorf("%q, %v", got, err)
	}
}

// The end of the connection, in whatever way, ends calls under way and later ones with what happened.
func TestConnectionThatEnds(t *testing.T) {
	good := string(answer(1, codec.FlagResponse, "body"))
	for _, tt := range []struct {
		name, sent string
		want       error
	}{
		{"at once", "", errEnded},
		{"inside a length", good[:3], io.ErrUnexpectedEOF},
		{"inside a frame", good[:len(good)-1], io.ErrUnexpectedEOF},
		{"a longer frame than allowed", "\x00\x10\x00\x01", codec.ErrFrameLong},
		{"HTTP", "HTTP/1.1 400 Bad Request\r\n\r\n", codec.ErrFrameLong},
		{"a header beyond its frame", "\x00\x00\x00\x08\x00\x00\x00\x7fabcd", codec.ErrFrameHeaderLength},
		{"a header that is none", "\x00\x00\x00\x08\x00\x00\x00\x04abcd", codec.ErrHeaderSyntax},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := dial(t, func(conn net.Conn) {
				request(conn)
				_, _ = io.WriteString(conn, tt.sent)
			})
			for range 2 {
				err := c.Call(within(t, waitLimit), ask(""), nil, func(*codec.Command) error { t.Error("used"); return nil })
				if !errors.Is(err, tt.want) {
					t.Errorf("%v, want %v", err, tt.want)
				}
			}
		})
	}
	c := dial(t, func(conn net.Conn) { _, _ = io.Copy(io.Discard, conn) })
	c.Close()
	if err := c.Call(t.Context(), ask(""), nil, nil); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
}

// A frame's claim alone takes no memory, and what a large one took isn't kept.
// A peer that sends what nobody asked for is read so far and no farther; a few such frames between answers are passed over.
func TestUnaskedFrames(t *testing.T) {
	const most = 3
	taken := make(chan int, 1)
	addr := server(t, func(conn net.Conn) {
		for range 4 { // each answer has most frames before it that are none
			opaque, _ := request(conn)
			var b []byte
			for i := range most {
				b = append(b, answer(opaque+int32(i), codec.FlagResponse*int32(i&1), "")...)
			}
			_, _ = conn.Write(append(b, answer(opaque, codec.FlagResponse, "")...))
		}
		n := 0
		for range 1 << 20 {
			if _, err := conn.Write(answer(1, 0, strings.Repeat("x", 1<<16))); err != nil {
				break
			}
			n++
		}
		taken <- n
	})
	c, err := Dial(within(t, waitLimit), addr, Options{MaxUnasked: most})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	ctx := within(t, waitLimit)
	for i := range 4 {
		if err := c.Call(ctx, codec.Header{}, nil, func(*codec.Command) error { return nil }); err != nil {
			t.Fatalf("call %d: %v", i, err)
		}
	}
	if n := <-taken; n >= 1<<20 {
		t.Error("all of it was read")
	}
	if err := c.Call(ctx, codec.Header{}, nil, nil); !errors.Is(err, ErrProtocol) {
		t.Errorf("then: %v", err)
	}
}

func TestFrameMemory(t *testing.T) {
	f := frameReader{r: strings.NewReader("\x7f\xff\xff\x00abc"), maxBytes: math.MaxInt32}
	if _, err := f.next(); err != io.ErrUnexpectedEOF || f.buf.Cap() > 4096 {
		t.Errorf("%v, %d bytes", err, f.buf.Cap())
	}
	large, small := answer(1, 1, strings.Repeat("x", 2*keptBytes)), answer(2, 1, "y")
	f = frameReader{r: bytes.NewReader(slices.Concat(large, small)), maxBytes: 1 << 30}
	for range 2 {
		if _, err := f.next(); err != nil {
			t.Fatal(err)
		}
	}
	if f.buf.Cap() > keptBytes {
		t.Errorf("%d bytes are kept", f.buf.Cap())
	}
}

// A peer that reads nothing ends a call at its deadline, while it writes too.
func TestPeerThatReadsNothing(t *testing.T) {
	release := make(chan struct{})
	c := dial(t, func(net.Conn) { <-release })
	defer close(release)
	body := make([]byte, 64<<20) // more than sockets hold
	err := c.Call(within(t, 50*time.Millisecond), ask(""), body, nil)
	if err == nil || !strings.Contains(err.Error(), "remoting: request 105") {
		t.Error(err)
	}
}

func TestDialFails(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	_ = l.Close()
	if _, err := Dial(within(t, waitLimit), addr, Options{}); err == nil || !strings.Contains(err.Error(), addr) {
		t.Error(err)
	}
}
