package nsctl

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/waymark-mq/waymark/admin"
	"github.com/waymark-mq/waymark/admin/api"
	"github.com/waymark-mq/waymark/codec"
	"github.com/waymark-mq/waymark/namesrv"
	"github.com/waymark-mq/waymark/namesrv/settings"
	"github.com/waymark-mq/waymark/namesrv/tlsconfig"
	"github.com/waymark-mq/waymark/remoting"
)

const waitLimit = 20 * time.Second

// fixture is a nameserver of ours, with the API beside it, and a peer of it.
type fixture struct {
	*namesrv.Server
	t    *testing.T
	peer *remoting.Client
	side string // host:port of the HTTP side

	registered int
}

func start(t *testing.T) *fixture {
	t.Helper()
	return startWith(t, nil)
}

// startWith starts one that serves TLS too, if certificate isn't nil.
func startWith(t *testing.T, certificate *tlsconfig.Source) *fixture {
	t.Helper()
	c := settings.Default(settings.Env{HomeDir: t.TempDir()})
	c.BindAddress, c.ListenPort, c.EventLoops = "127.0.0.1", 0, 1
	s, err := namesrv.New(namesrv.Options{Settings: c, TLS: certificate, Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), waitLimit)
		defer cancel()
		if err := s.Stop(ctx); err != nil {
			t.Error(err)
		}
	})
	side, err := admin.Listen(admin.Options{Addr: "127.0.0.1:0", Source: s, API: api.New(s), Drain: s.Drain})
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- side.Serve() }()
	t.Cleanup(func() {
		side.Close()
		<-ended
	})
	peer, err := remoting.Dial(t.Context(), s.Addr(), remoting.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(peer.Close)
	return &fixture{Server: s, t: t, peer: peer, side: side.Addr()}
}

// ask sends a request with fields, name and value in turn, and wants success.
func (f *fixture) ask(code int32, body string, fields ...string) {
	f.t.Helper()
	h := codec.Header{Code: code, Version: codec.ServerVersion}
	for i := 0; i+1 < len(fields); i += 2 {
		h.ExtFields = append(h.ExtFields, codec.ExtField{Name: fields[i], Value: fields[i+1]})
	}
	ctx, cancel := context.WithTimeout(f.t.Context(), waitLimit)
	defer cancel()
	err := f.peer.Call(ctx, h, []byte(body), func(c *codec.Command) error {
		if c.Code != codec.ResponseSuccess {
			return fmt.Errorf("code %d %s", c.Code, c.Remark)
		}
		return nil
	})
	if err != nil {
		f.t.Fatal(err)
	}
}

// register registers a master with topics of 4 queues.
func (f *fixture) register(name string, topics ...string) {
	f.t.Helper()
	var table []string
	for _, topic := range append(topics, "pad") {
		name := codec.AppendString(nil, topic)
		table = append(table, fmt.Sprintf(`%s:{"topicName":%[1]s,"perm":6,"readQueueNums":4,"writeQueueNums":4,"topicSysFlag":0}`, name))
	}
	f.registered++ // an address has one broker
	addr := fmt.Sprint("10.0.0.1:", 10910+f.registered)
	f.ask(codec.RequestRegisterBroker,
		`{"topicConfigSerializeWrapper":{"dataVersion":{"counter":1,"stateVersion":0,"timestamp":1700000000000},"topicConfigTable":{`+strings.Join(table, ",")+`}}}`,
		"clusterName", "c1", "brokerName", name, "brokerAddr", addr, "haServerAddr", addr, "brokerId", "0", "compressed", "false")
}

func (f *fixture) putKV(key, value string) {
	f.t.Helper()
	f.ask(codec.RequestPutKVConfig, "", "namespace", orderNamespace, "key", key, "value", value)
}

// result is what a run wrote and how it ended.
type result struct {
	code           int
	stdout, stderr string
}

func runWith(ctx context.Context, args ...string) result { return runPausing(ctx, pause, args...) }

// runPausing runs a command for which time passes as pause lets it.
func runPausing(ctx context.Context, pause func(context.Context, time.Duration) error, args ...string) result {
	var out, errs bytes.Buffer
	t := &tool{Process: Process{Args: args, Getenv: func(string) string { return "" }, Stdout: &out, Stderr: &errs}, pause: pause, sidePort: defaultAdminPort}
	code := t.run(ctx)
	return result{code, out.String(), errs.String()}
}

func run(t *testing.T, args ...string) result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), waitLimit)
	defer cancel()
	return runWith(ctx, args...)
}

// want compares a run with what it was to write, once what no two runs have in common is named.
func (r result) want(t *testing.T, code int, stdout, stderr string, names ...string) {
	t.Helper()
	clean := func(s string) string {
		s = passing.ReplaceAllStringFunc(s, func(m string) string {
			if strings.Contains(m, "T") {
				return "<time>"
			}
			return "<age>"
		})
		s = strings.NewReplacer(names...).Replace(s)
		s = ports.ReplaceAllString(s, "<peer>")
		return strings.TrimSpace(blanks.ReplaceAllString(s, " "))
	}
	if got := clean(r.stdout); r.code != code || got != stdout {
		t.Errorf("exit %d, want %d; got\n%s\nwant\n%s", r.code, code, got, stdout)
	}
	if got := clean(r.stderr); got != stderr {
		t.Errorf("stderr\n%s\nwant\n%s", got, stderr)
	}
}

var (
	passing = regexp.MustCompile(`\d{4}-\d\d-\d\dT[\d:.]+Z|\b\d+(\.\d+)?m?s\b`)
	ports   = regexp.MustCompile(`127\.0\.0\.1:\d+`)
	blanks  = regexp.MustCompile(` +`)
)

func when(second int) time.Time { return time.Unix(int64(second), 0) }

// serveSide serves an HTTP side that is none of ours and returns its host:port.
func serveSide(t *testing.T, h http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return strings.TrimPrefix(s.URL, "http://")
}

func canceled(t *testing.T) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}
