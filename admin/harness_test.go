package admin

import (
	"bufio"
	"context"
	"encoding/binary"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/waymark-mq/waymark/codec"
	"github.com/waymark-mq/waymark/namesrv"
	"github.com/waymark-mq/waymark/namesrv/settings"
)

// waitLimit bounds every wait of these tests; nothing comes near it unless it is broken.
const waitLimit = 20 * time.Second

func quiet() *slog.Logger { return slog.New(slog.NewTextHandler(io.Discard, nil)) }

// startNameserver runs a nameserver on two loops until the test ends.
func startNameserver(t *testing.T, changes ...func(*settings.Settings)) *namesrv.Server {
	t.Helper()
	c := settings.Default(settings.Env{HomeDir: t.TempDir()})
	c.BindAddress, c.ListenPort, c.EventLoops = "127.0.0.1", 0, 2
	for _, change := range changes {
		change(c)
	}
	s, err := namesrv.New(namesrv.Options{Settings: c, Logger: quiet()})
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
	return s
}

// peer is a connection to a nameserver.
type peer struct {
	t    *testing.T
	conn net.Conn
	r    *bufio.Reader
}

func dial(t *testing.T, s *namesrv.Server) *peer {
	t.Helper()
	conn, err := net.Dial("tcp", s.Addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(waitLimit))
	return &peer{t, conn, bufio.NewReader(conn)}
}

// call sends a request with fields, name and value in turn, and waits for its answer.
func (p *peer) call(code int32, body string, fields ...string) {
	p.t.Helper()
	h := codec.Header{Code: code, Version: codec.ServerVersion, Opaque: 1}
	for i := 0; i < len(fields); i += 2 {
		h.ExtFields = append(h.ExtFields, codec.ExtField{Name: fields[i], Value: fields[i+1]})
	}
	if _, err := p.conn.Write(codec.AppendFrame(nil, codec.SerializeJSON, &h, []byte(body))); err != nil {
		p.t.Fatal(err)
	}
	var n [4]byte
	if _, err := io.ReadFull(p.r, n[:]); err != nil {
		p.t.Fatal(err)
	}
	if _, err := p.r.Discard(int(binary.BigEndian.Uint32(n[:]))); err != nil {
		p.t.Fatal(err)
	}
}

// register registers a broker of these names with one topic.
func (p *peer) register(cluster, name, addr string) {
	p.t.Helper()
	body := `{"filterServerList":[],"topicConfigSerializeWrapper":{"dataVersion":{"counter":1,"stateVersion":0,"timestamp":1},"topicConfigTable":{` +
		`"Base":{"order":false,"perm":6,"readQueueNums":4,"topicFilterType":"SINGLE_TAG","topicName":"Base","topicSysFlag":0,"writeQueueNums":4},` +
		`"Pad":{"order":false,"perm":6,"readQueueNums":4,"topicFilterType":"SINGLE_TAG","topicName":"Pad","topicSysFlag":0,"writeQueueNums":4}}}}`
	p.call(codec.RequestRegisterBroker, body, "clusterName", cluster, "brokerName", name, "brokerAddr", addr, "brokerId", "0", "haServerAddr", addr)
}

// serve runs the HTTP side on a free loopback port and returns its address.
func serve(t *testing.T, o Options) string {
	t.Helper()
	o.Addr = "127.0.0.1:0"
	if o.Logger == nil {
		o.Logger = quiet()
	}
	s, err := Listen(o)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- s.Serve() }()
	t.Cleanup(func() {
		s.Close()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return "http://" + s.Addr()
}

// do sends a request and returns status and body.
func do(t *testing.T, method, url string, headers ...string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	client := http.Client{Timeout: waitLimit}
	defer client.CloseIdleConnections()
	answer, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(body)
}

// scrape returns what /metrics says.
func scrape(t *testing.T, url string) string {
	t.Helper()
	status, text := do(t, "GET", url+"/metrics")
	if status != http.StatusOK {
		t.Fatalf("status %d: %s", status, text)
	}
	return text
}

// wantLine wants a line of a scrape.
func wantLine(t *testing.T, text, line string) {
	t.Helper()
	if !strings.Contains(text, "\n"+line+"\n") {
		t.Errorf("no line %q", line)
	}
}

// fakeSource is a server in any state.
type fakeSource struct {
	restored namesrv.Restored
	state    namesrv.State
	alive    func(ctx context.Context) error
	metrics  func(ctx context.Context) *namesrv.Metrics
}

func (f *fakeSource) State() namesrv.State { return f.state }

func (f *fakeSource) Restored() (namesrv.Restored, bool) { return f.restored, f.restored.Brokers > 0 }

func (f *fakeSource) Alive(ctx context.Context) error {
	if f.alive == nil {
		return nil
	}
	return f.alive(ctx)
}

func (f *fakeSource) Metrics(ctx context.Context) *namesrv.Metrics {
	if f.metrics == nil {
		return &namesrv.Metrics{State: f.state}
	}
	return f.metrics(ctx)
}
