package ask

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/waymark-mq/waymark/codec"
)

const waitLimit = 20 * time.Second

// request is what came to the fake.
type request struct {
	*codec.Command
	n int // from 1
}

// serve answers each request of one connection with the bytes that answer returns; nil ends the connection. It returns host:port.
func serve(t *testing.T, answer func(request) []byte) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		conn, err := l.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		r := bufio.NewReader(conn)
		for n := 1; ; n++ {
			c, err := read(r)
			if err != nil {
				return
			}
			out := answer(request{c, n})
			if out == nil {
				return
			}
			if _, err := conn.Write(out); err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() {
		_ = l.Close()
		<-ended
	})
	return l.Addr().String()
}

func read(r io.Reader) (*codec.Command, error) {
	head := make([]byte, 4)
	if _, err := io.ReadFull(r, head); err != nil {
		return nil, err
	}
	frame := append(head, make([]byte, binary.BigEndian.Uint32(head))...)
	if _, err := io.ReadFull(r, frame[4:]); err != nil {
		return nil, err
	}
	f, err := codec.ParseFrame(frame)
	if err != nil {
		return nil, err
	}
	c := &codec.Command{}
	return c, c.Parse(f)
}

func dial(t *testing.T, timeout time.Duration, answer func(request) []byte) *Nameserver {
	t.Helper()
	n, err := Dial(t.Context(), serve(t, answer), Options{Timeout: timeout})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.Close)
	return n
}

// with is an answer to a request, in its form.
func (r request) with(code int32, remark, body string) []byte {
	h := codec.Header{Code: code, Opaque: r.Opaque, Flag: codec.FlagResponse}
	if remark != "" {
		h.Remark, h.HasRemark = remark, true
	}
	return codec.AppendFrame(nil, codec.SerializeJSON, &h, []byte(body))
}

// questions are all that is asked, with an answer that is right.
var questions = []struct {
	name, body string
	code       int32
	ask        func(context.Context, *Nameserver) (string, error)
	want       string
}{
	{"clusters", `{"brokerAddrTable":{"b":{"brokerAddrs":{0:"h:1"},"brokerName":"b","cluster":"c"}},"clusterAddrTable":{"c":["b"]}}`, codec.RequestGetBrokerClusterInfo,
		func(ctx context.Context, n *Nameserver) (string, error) {
			info, err := n.Clusters(ctx)
			if err != nil {
				return "", err
			}
			return fmt.Sprint(info.Clusters, info.Brokers["b"].Addrs), nil
		}, "map[c:[b]] [{0 h:1}]"},
	{"topics", `{"topicList":["T","U"]}`, codec.RequestGetAllTopicListFromNameserver,
		func(ctx context.Context, n *Nameserver) (string, error) {
			topics, err := n.Topics(ctx)
			return strings.Join(topics, " "), err
		}, "T U"},
	{"route", `{"brokerDatas":[],"filterServerTable":{},"queueDatas":[{"brokerName":"b","perm":6,"readQueueNums":4,"topicSysFlag":0,"writeQueueNums":4}]}`, codec.RequestGetRouteInfoByTopic,
		func(ctx context.Context, n *Nameserver) (string, error) {
			route, err := n.Route(ctx, "T")
			if err != nil {
				return "", err
			}
			return route.Queues[0].BrokerName, nil
		}, "b"},
	{"KV", `{"table":{"k":"v"}}`, codec.RequestGetKVListByNamespace,
		func(ctx context.Context, n *Nameserver) (string, error) {
			table, err := n.KV(ctx, "N")
			return strings.Join(slices.Collect(maps.Keys(table)), " "), err
		}, "k"},
}

// Each question is asked by its request, and its answer is read.
func TestQuestions(t *testing.T) {
	for _, q := range questions {
		t.Run(q.name, func(t *testing.T) {
			got, err := q.ask(t.Context(), dial(t, waitLimit, func(r request) []byte {
				if r.Code != q.code {
					return r.with(codec.ResponseSystemError, "not that", "")
				}
				return r.with(codec.ResponseSuccess, "", q.body)
			}))
			if err != nil || got != q.want {
				t.Errorf("%q, %v; want %q", got, err, q.want)
			}
		})
	}
}

// Whatever else a nameserver answers is an error that names it, in bounded time and size, and never a value.
func TestBadAnswers(t *testing.T) {
	length := func(n uint32) []byte { return binary.BigEndian.AppendUint32(nil, n) }
	evil := strings.Repeat("stack ", 100_000)
	for _, tt := range []struct {
		name    string
		timeout time.Duration
		answer  func(request) []byte
		is      error
		want    string // in the error
	}{
		{"another code", waitLimit, func(r request) []byte { return r.with(codec.ResponseSystemError, "no", "") }, nil, "answer of code 1: no"},
		{"code that nobody knows", waitLimit, func(r request) []byte { return r.with(-7, "", "") }, nil, "answer of code -7"},
		{"long remark", waitLimit, func(r request) []byte { return r.with(codec.ResponseSystemError, evil, "") }, nil, "answer of code 1: stack"},
		{"no body", waitLimit, func(r request) []byte { return r.with(codec.ResponseSuccess, "", "") }, nil, ""},
		{"broken JSON", waitLimit, func(r request) []byte { return r.with(codec.ResponseSuccess, "", `{"table":{"k":`) }, nil, ""},
		{"no JSON", waitLimit, func(r request) []byte { return r.with(codec.ResponseSuccess, "", "<html>") }, nil, ""},
		{"a list", waitLimit, func(r request) []byte { return r.with(codec.ResponseSuccess, "", `[]`) }, nil, ""},
		{"cut frame", waitLimit, func(r request) []byte {
			if r.n > 1 {
				return nil
			}
			whole := r.with(codec.ResponseSuccess, "", "{}")
			return append(length(1000), whole[4:]...)
		}, context.DeadlineExceeded, "no answer"},
		{"end", waitLimit, func(request) []byte { return nil }, nil, "the peer has closed it"},
		{"oversize", waitLimit, func(request) []byte { return length(maxAnswerBytes + 1) }, codec.ErrFrameLong, ""},
		{"HTTP", waitLimit, func(request) []byte { return []byte("HTTP/1.1 400 Bad Request\r\n\r\n") }, codec.ErrFrameLong, ""},
		{"opaque of nobody", 50 * time.Millisecond, func(r request) []byte {
			r.Opaque += 1000
			return r.with(codec.ResponseSuccess, "", `{}`)
		}, context.DeadlineExceeded, "no answer"},
		{"no answer", 50 * time.Millisecond, func(request) []byte { return []byte{} }, context.DeadlineExceeded, "no answer"},
		{"half an answer", 50 * time.Millisecond, func(r request) []byte { return r.with(codec.ResponseSuccess, "", `{}`)[:20] }, context.DeadlineExceeded, "no answer"},
		{"busy for good", waitLimit, func(r request) []byte { return r.with(codec.ResponseSystemBusy, "busy", "") }, nil, "answer of code 2: busy"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.name == "cut frame" {
				tt.timeout = 50 * time.Millisecond
			}
			for _, q := range questions {
				n := dial(t, tt.timeout, tt.answer)
				got, err := q.ask(t.Context(), n)
				if err == nil || got != "" || !strings.Contains(err.Error(), tt.want) || tt.is != nil && !errors.Is(err, tt.is) || !strings.Contains(err.Error(), n.Addr()) {
					t.Errorf("%s: %q, %.300v", q.name, got, err)
				}
				if err != nil && len(err.Error()) > maxRemarkBytes+200 {
					t.Errorf("%s: an error of %d bytes", q.name, len(err.Error()))
				}
			}
		})
	}
}

// A nameserver that is busy is asked again, and no more often than that.
func TestBusyIsAskedAgain(t *testing.T) {
	for busy := 1; busy <= busyTries; busy++ {
		n := dial(t, waitLimit, func(r request) []byte {
			if r.n <= busy {
				return r.with(codec.ResponseSystemBusy, "busy", "")
			}
			return r.with(codec.ResponseSuccess, "", `{"topicList":["T"]}`)
		})
		if topics, err := n.Topics(t.Context()); (err == nil) != (busy < busyTries) || (len(topics) == 1) != (err == nil) {
			t.Errorf("%d times busy: %q, %v", busy, topics, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	n := dial(t, waitLimit, func(r request) []byte {
		cancel()
		return r.with(codec.ResponseSystemBusy, "busy", "")
	})
	if _, err := n.Topics(ctx); err == nil {
		t.Error("asked on when nobody waits")
	}
}

// What isn't there is told from what couldn't be asked.
func TestWhatIsNotThere(t *testing.T) {
	n := dial(t, waitLimit, func(r request) []byte {
		if r.Code == codec.RequestGetRouteInfoByTopic {
			return r.with(codec.ResponseTopicNotExist, "No topic route info", "")
		}
		return r.with(codec.ResponseQueryNotFound, "no such namespace", "")
	})
	if route, err := n.Route(t.Context(), "T"); !errors.Is(err, ErrNoRoute) || route != nil {
		t.Errorf("%+v, %v", route, err)
	}
	if table, err := n.KV(t.Context(), "N"); err != nil || table == nil || len(table) > 0 {
		t.Errorf("%+v, %v", table, err)
	}
	var refused *Refusal
	if _, err := n.Clusters(t.Context()); !errors.As(err, &refused) || refused.Code != codec.ResponseQueryNotFound {
		t.Errorf("%v", err)
	}
}

// A late answer to a question that is given up doesn't become the next one's.
func TestLateAnswer(t *testing.T) {
	var late []byte
	n := dial(t, 100*time.Millisecond, func(r request) []byte {
		if r.n == 1 {
			late = r.with(codec.ResponseSuccess, "", `{"topicList":["late"]}`)
			return []byte{}
		}
		return append(late, r.with(codec.ResponseSuccess, "", `{"topicList":["T"]}`)...)
	})
	if _, err := n.Topics(t.Context()); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatal(err)
	}
	n.timeout = waitLimit
	if topics, err := n.Topics(t.Context()); err != nil || !slices.Equal(topics, []string{"T"}) {
		t.Errorf("%q, %v", topics, err)
	}
}

func TestDialFails(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	_ = l.Close()
	if n, err := Dial(t.Context(), addr, Options{Timeout: waitLimit}); err == nil || n != nil || !strings.Contains(err.Error(), addr) {
		t.Errorf("%v, %v", n, err)
	}
}
