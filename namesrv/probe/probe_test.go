package probe_test

import (
	"context"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/waymark-mq/waymark/codec"
	"github.com/waymark-mq/waymark/namesrv/access"
	"github.com/waymark-mq/waymark/namesrv/probe"
	"github.com/waymark-mq/waymark/namesrv/verdict"
)

// limit is far more than anything here takes; short is for what has to run out.
const limit, short = 30 * time.Second, 50 * time.Millisecond

// prober may connect to any address.
func prober(t *testing.T, timeout time.Duration) *probe.Prober {
	t.Helper()
	all, err := access.ParseList("0.0.0.0/0 ::/0")
	if err != nil {
		t.Fatal(err)
	}
	return probe.New(timeout, all)
}

func at(addr string) verdict.Target { return verdict.Target{Broker: verdict.Broker{BrokerAddr: addr}} }

// broker accepts connections and has serve deal with each.
func broker(t *testing.T, serve func(net.Conn)) (addr string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				serve(c)
			}()
		}
	}()
	return l.Addr().String()
}

// answer reads requests and answers each with what reply makes of its opaque.
func answer(t *testing.T, c net.Conn, reply func(opaque int32) []byte) {
	for {
		head := make([]byte, 4)
		if _, err := io.ReadFull(c, head); err != nil {
			return
		}
		n, err := codec.FrameLength(head, 1<<16)
		if err != nil {
			t.Error(err)
			return
		}
		b := append(head, make([]byte, n-4)...)
		if _, err := io.ReadFull(c, b[4:]); err != nil {
			return
		}
		f, err := codec.ParseFrame(b)
		if err != nil {
			t.Error(err)
			return
		}
		var cmd codec.Command
		if err := cmd.Parse(f); err != nil {
			t.Error(err)
			return
		}
		if cmd.Code != codec.RequestGetSystemTopicListFromBroker || cmd.IsOneway() {
			t.Errorf("asked with %d, flag %d", cmd.Code, cmd.Flag)
		}
		if _, err := c.Write(reply(cmd.Opaque)); err != nil {
			return
		}
	}
}

func response(code, opaque int32) []byte {
	return codec.AppendFrame(nil, codec.SerializeJSON, &codec.Header{Code: code, Flag: codec.FlagResponse, Opaque: opaque}, []byte(`{"topicList":[]}`))
}

func TestAsk(t *testing.T) {
	for _, c := range []struct {
		name    string
		serve   func(t *testing.T, c net.Conn)
		timeout time.Duration
		want    verdict.Outcome
	}{
		{"answers", func(t *testing.T, c net.Conn) {
			answer(t, c, func(o int32) []byte { return response(codec.ResponseSuccess, o) })
		}, limit, verdict.Answered},
		{"refuses without credentials", func(t *testing.T, c net.Conn) {
			answer(t, c, func(o int32) []byte { return response(codec.ResponseSystemError, o) })
		}, limit, verdict.Answered},
		{"sends a request of its own first", func(t *testing.T, c net.Conn) {
			answer(t, c, func(o int32) []byte {
				own := codec.AppendFrame(nil, codec.SerializeJSON, &codec.Header{Code: 40, Opaque: o}, nil)
				return append(own, response(codec.ResponseSuccess, o)...)
			})
		}, limit, verdict.Answered},
		{"accepts and says nothing, as a frozen process's kernel does", func(t *testing.T, c net.Conn) { _, _ = io.Copy(io.Discard, c) }, short, verdict.Silent},
		{"answers what wasn't asked", func(t *testing.T, c net.Conn) {
			answer(t, c, func(o int32) []byte { return response(codec.ResponseSuccess, o+7) })
		}, short, verdict.Silent},
		{"accepts and closes, as a proxy without a backend does", func(*testing.T, net.Conn) {}, limit, verdict.Silent},
		{"speaks HTTP", func(_ *testing.T, c net.Conn) { _, _ = io.WriteString(c, "HTTP/1.1 400 Bad Request\r\n\r\n") }, limit, verdict.Silent},
		{"promises a frame of 2 GiB", func(_ *testing.T, c net.Conn) {
			_, _ = c.Write([]byte{0x7f, 0xff, 0xff, 0xff, 0, 0, 0, 9})
			_, _ = io.Copy(io.Discard, c)
		}, limit, verdict.Silent},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, link := prober(t, c.timeout).Ask(t.Context(), at(broker(t, func(conn net.Conn) { c.serve(t, conn) })), nil)
			if got.Outcome != c.want || (link != nil) != (c.want == verdict.Answered) {
				t.Errorf("outcome %d, link %v; want %d", got.Outcome, link, c.want)
			}
			if link != nil {
				if !got.At.IsLoopback() {
					t.Errorf("%v has answered", got.At)
				}
				link.Close()
			}
			if (got.Why == "") != (c.want == verdict.Answered) {
				t.Errorf("why %q", got.Why)
			}
		})
	}
}

func TestAskNobody(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	l.Close()
	for a, want := range map[string]verdict.Outcome{
		addr:                       verdict.Rejected,
		"no port":                  verdict.Impossible,
		"":                         verdict.Impossible,
		"127.0.0.1:99999":          verdict.Impossible,
		"broker.invalid:10911":     verdict.Impossible,
		"[fe80::1%nosuch]:10911":   verdict.Impossible,
		"127.0.0.1:0\x00injection": verdict.Impossible,
	} {
		if got, link := prober(t, limit).Ask(t.Context(), at(a), nil); got.Outcome != want || link != nil {
			t.Errorf("%q: outcome %d, link %v; want %d", a, got.Outcome, link, want)
		}
	}
}

// TestLinkIsKept: the second probe goes over the first one's connection; one that has ended meanwhile is replaced and proves nothing.
func TestLinkIsKept(t *testing.T) {
	conns := make(chan net.Conn, 4)
	addr := broker(t, func(c net.Conn) {
		conns <- c
		answer(t, c, func(o int32) []byte { return response(codec.ResponseSuccess, o) })
	})
	p := prober(t, limit)
	got, link := p.Ask(t.Context(), at(addr), nil)
	if got.Outcome != verdict.Answered {
		t.Fatalf("outcome %d", got.Outcome)
	}
	first := <-conns
	if got, link = p.Ask(t.Context(), at(addr), link); got.Outcome != verdict.Answered || len(conns) != 0 {
		t.Fatalf("outcome %d, %d more connections", got.Outcome, len(conns))
	}
	first.Close()
	if got, link = p.Ask(t.Context(), at(addr), link); got.Outcome != verdict.Answered || len(conns) != 1 {
		t.Fatalf("after the first ended: outcome %d, %d more connections", got.Outcome, len(conns))
	}
	link.Close()
}

// TestLinkThatFloods: what a broker sends unasked between two probes ends its link, and makes the next probe fail, for that reason; it isn't tried again at once.
func TestLinkThatFloods(t *testing.T) {
	addr := broker(t, func(c net.Conn) {
		answer(t, c, func(o int32) []byte {
			b := response(codec.ResponseSuccess, o)
			for range 100 {
				b = codec.AppendFrame(b, codec.SerializeJSON, &codec.Header{Code: 40}, nil)
			}
			return b
		})
	})
	p := prober(t, limit)
	got, link := p.Ask(t.Context(), at(addr), nil)
	if got.Outcome != verdict.Answered {
		t.Fatalf("%+v", got)
	}
	got, link = p.Ask(t.Context(), at(addr), link)
	if got.Outcome != verdict.Silent || link != nil || !strings.Contains(got.Why, "nobody asked for") {
		t.Errorf("%+v, link %v", got, link)
	}
}

// TestAskEnds: a probe ends with its context.
func TestAskEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	addr := broker(t, func(c net.Conn) {
		cancel()
		_, _ = io.Copy(io.Discard, c)
	})
	if got, link := prober(t, limit).Ask(ctx, at(addr), nil); got.Outcome == verdict.Answered || link != nil {
		t.Errorf("outcome %d, link %v", got.Outcome, link)
	}
}
