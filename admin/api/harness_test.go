package api

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/waymark-mq/waymark/codec"
	"github.com/waymark-mq/waymark/namesrv"
	"github.com/waymark-mq/waymark/namesrv/settings"
	"github.com/waymark-mq/waymark/namesrv/tlsconfig"
)

const waitLimit = 20 * time.Second

// fixture is a nameserver with the API beside it.
type fixture struct {
	*namesrv.Server
	t   *testing.T
	api http.Handler
}

func start(t *testing.T, changes ...func(*settings.Settings)) *fixture {
	t.Helper()
	c := settings.Default(settings.Env{HomeDir: t.TempDir()})
	c.BindAddress, c.ListenPort, c.EventLoops = "127.0.0.1", 0, 2
	for _, change := range changes {
		change(c)
	}
	logger := slog.New(slog.DiscardHandler)
	properties, err := tlsconfig.Read(map[string]string{"tls.config.file": filepath.Join(t.TempDir(), "none")}, func(string) string { return "" })
	if err != nil {
		t.Fatal(err)
	}
	source, err := tlsconfig.Open(properties, logger)
	if err != nil {
		t.Fatal(err)
	}
	s, err := namesrv.New(namesrv.Options{Settings: c, Logger: logger, TLS: source})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	f := &fixture{s, t, New(s)}
	t.Cleanup(f.stop)
	return f
}

func (f *fixture) stop() {
	ctx, cancel := context.WithTimeout(context.Background(), waitLimit)
	defer cancel()
	if err := f.Stop(ctx); err != nil {
		f.t.Error(err)
	}
}

// get asks for a path below Prefix and wants a status.
func (f *fixture) get(status int, path string, into any) string {
	f.t.Helper()
	w := httptest.NewRecorder()
	f.api.ServeHTTP(w, httptest.NewRequest(http.MethodGet, Prefix+path, nil))
	body := w.Body.String()
	if w.Code != status {
		f.t.Fatalf("%s: %d, want %d: %s", path, w.Code, status, body)
	}
	if !json.Valid(w.Body.Bytes()) || w.Header().Get("Content-Type") != "application/json" {
		f.t.Fatalf("%s: %s: no JSON: %s", path, w.Header().Get("Content-Type"), body)
	}
	if into != nil {
		if err := json.Unmarshal(w.Body.Bytes(), into); err != nil {
			f.t.Fatalf("%s: %v: %s", path, err, body)
		}
	}
	return body
}

// peer is a connection to the nameserver.
type peer struct {
	t    *testing.T
	conn net.Conn
}

func (f *fixture) dial() *peer {
	f.t.Helper()
	conn, err := net.DialTimeout("tcp", f.Addr(), waitLimit)
	if err != nil {
		f.t.Fatal(err)
	}
	_ = conn.SetDeadline(time.Now().Add(waitLimit))
	f.t.Cleanup(func() { _ = conn.Close() })
	return &peer{f.t, conn}
}

func (p *peer) addr() string { return p.conn.LocalAddr().String() }

// ask sends a request, with fields given as name, value, name, value, and wants a code.
func (p *peer) ask(want, code int32, body string, fields ...string) {
	p.t.Helper()
	h := codec.Header{Code: code, Opaque: 1, Version: codec.ServerVersion, Language: codec.LanguageGo}
	for i := 0; i+1 < len(fields); i += 2 {
		h.ExtFields = append(h.ExtFields, codec.ExtField{Name: fields[i], Value: fields[i+1]})
	}
	if _, err := p.conn.Write(codec.AppendFrame(nil, codec.SerializeJSON, &h, []byte(body))); err != nil {
		p.t.Fatal(err)
	}
	var length [4]byte
	if _, err := io.ReadFull(p.conn, length[:]); err != nil {
		p.t.Fatal(err)
	}
	n, err := codec.FrameLength(append(length[:], 0, 0, 0, 0), codec.DefaultMaxFrameBytes)
	if err != nil {
		p.t.Fatal(err)
	}
	frame := append(length[:], make([]byte, n-4)...)
	if _, err := io.ReadFull(p.conn, frame[4:]); err != nil {
		p.t.Fatal(err)
	}
	f, err := codec.ParseFrame(frame)
	var c codec.Command
	if err == nil {
		err = c.Parse(f)
	}
	if err != nil || c.Code != want {
		p.t.Fatalf("code %d %v: answer %d, %v; want %d", code, fields, c.Code, err, want)
	}
}

// register registers a master with topics of 4 queues; fields replace or add header fields.
func (p *peer) register(name string, counter int, topics []string, fields ...string) {
	p.t.Helper()
	p.ask(codec.ResponseSuccess, codec.RequestRegisterBroker, registration(counter, topics), header(name, fields...)...)
}

func header(name string, fields ...string) []string {
	all := []string{"clusterName", "c1", "brokerName", name, "brokerAddr", name + ":10911", "haServerAddr", name + ":10912", "brokerId", "0", "compressed", "false"}
	for i := 0; i+1 < len(fields); i += 2 {
		if at := slices.Index(all, fields[i]); at >= 0 {
			all[at+1] = fields[i+1]
		} else {
			all = append(all, fields[i], fields[i+1])
		}
	}
	return all
}

func registration(counter int, topics []string) string {
	var table []string
	for _, name := range topics {
		table = append(table, fmt.Sprintf(`%q:{"topicName":%[1]q,"perm":6,"readQueueNums":4,"writeQueueNums":4,"topicSysFlag":0}`, name))
	}
	return fmt.Sprintf(`{"topicConfigSerializeWrapper":{"dataVersion":{"counter":%d,"stateVersion":0,"timestamp":1700000000000},"topicConfigTable":{%s}}}`,
		counter, strings.Join(table, ","))
}
