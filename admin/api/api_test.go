package api

import (
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/waymark-mq/waymark/namesrv"
	"github.com/waymark-mq/waymark/namesrv/settings"
)

// A follower that asks behind the last event it has sees each once, and those of its filter only.
func TestEvents(t *testing.T) {
	f := start(t)
	b := f.dial()
	for i := range 5 {
		b.register("a", i, []string{"T", "pad"})
	}
	b.register("b", 1, []string{"T", "pad"})
	type page struct {
		Events []struct {
			Seq               uint64
			Kind, Broker      string
			Time              time.Time
			ID                *int64
			Address, Peer     string
			Topics            int
			Connection        uint64
			Cluster, Text     string
			TopicsChanged     int
			Other, Key, Topic string
		}
		Next, Oldest, Newest, Missed uint64
		Restarted                    bool
		Process                      string
	}
	var got page
	f.get(200, "events?limit=4", &got)
	first := got.Events[0]
	if len(got.Events) != 4 || got.Next != 4 || got.Oldest != 1 || got.Newest != 6 || got.Missed != 0 || got.Restarted {
		t.Errorf("%+v", got)
	}
	if first.Seq != 1 || first.Kind != "registered" || first.Broker != "a" || first.Cluster != "c1" || first.ID == nil || first.Address != "a:10911" ||
		first.Peer != b.addr() || first.Topics != 2 || first.Connection == 0 || first.Text == "" || time.Since(first.Time) > time.Minute {
		t.Errorf("%+v", first)
	}
	var rest page
	if f.get(200, "events?after=4", &rest); len(rest.Events) != 2 || rest.Events[0].Seq != 5 || rest.Next != 6 {
		t.Errorf("%+v", rest)
	}
	var filtered page
	if f.get(200, "events?kind=registered,expired&broker=b", &filtered); len(filtered.Events) != 1 || filtered.Events[0].Seq != 6 {
		t.Errorf("%+v", filtered)
	}
	var foreign page
	if f.get(200, "events?after=99", &foreign); !foreign.Restarted || len(foreign.Events) != 6 {
		t.Errorf("%+v", foreign)
	}
	if got.Process == "" || rest.Process != got.Process {
		t.Errorf("processes %q, %q", got.Process, rest.Process)
	}
	var next page
	if start(t).get(200, "events", &next); next.Process == got.Process {
		t.Errorf("another server has the same process %q", next.Process)
	}
}

// What is asked for wrongly is answered with what was wrong, as JSON.
func TestErrors(t *testing.T) {
	f := start(t)
	for _, tt := range []struct {
		method, path string
		status       int
		code         string
	}{
		{"GET", "nope", 404, "not_found"},
		{"GET", "topics/", 404, "topic_not_found"},
		{"GET", "topics/a/b", 404, "not_found"},
		{"GET", "server/x", 404, "not_found"},
		{"GET", "brokers/nope", 404, "not_found"},
		{"GET", "kv/nope", 404, "not_found"},
		{"GET", "connections/999", 404, "not_found"},
		{"GET", "connections/x", 400, "bad_request"},
		{"GET", "topics?limit=0", 400, "bad_request"},
		{"GET", "topics?limit=1001", 400, "bad_request"},
		{"GET", "topics?limit=x", 400, "bad_request"},
		{"GET", "topics?prefx=T", 400, "bad_request"},
		{"GET", "topics?prefix=T&prefix=U", 400, "bad_request"},
		{"GET", "topics?prefix=%zz", 400, "bad_request"},
		{"GET", "events?after=-1", 400, "bad_request"},
		{"GET", "events?kind=nope", 400, "bad_request"},
		{"GET", "server?limit=1", 400, "bad_request"},
		{"POST", "topics", 405, "method_not_allowed"},
		{"DELETE", "topics/T", 405, "method_not_allowed"},
		{"PUT", "nope", 404, "not_found"},
	} {
		w := httptest.NewRecorder()
		f.api.ServeHTTP(w, httptest.NewRequest(tt.method, Prefix+tt.path, nil))
		var got struct {
			Error struct{ Code, Message string }
		}
		err := json.Unmarshal(w.Body.Bytes(), &got)
		if w.Code != tt.status || err != nil || got.Error.Code != tt.code || got.Error.Message == "" {
			t.Errorf("%s %s: %d %s, %v; want %d %s", tt.method, tt.path, w.Code, w.Body, err, tt.status, tt.code)
		}
		if (w.Header().Get("Allow") != "") != (tt.status == 405) {
			t.Errorf("%s %s: Allow %q", tt.method, tt.path, w.Header().Get("Allow"))
		}
	}
}

// The state is shown before the start, while it serves, drains and after the stop, and the index has every path.
func TestServerThroughItsLife(t *testing.T) {
	c := settings.Default(settings.Env{HomeDir: t.TempDir()})
	c.BindAddress, c.ListenPort, c.EventLoops = "127.0.0.1", 0, 1
	s, err := namesrv.New(namesrv.Options{Settings: c, Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err != nil {
		t.Fatal(err)
	}
	f := &fixture{s, t, New(s)}
	want := func(state string) {
		t.Helper()
		var got struct {
			State, Address string
			UpSeconds      float64
			StartedAt      time.Time
			Build          struct{ Go string }
			Drain          *struct{ Rounds int }
		}
		f.get(200, "server", &got)
		if got.State != state || (got.Address == "") != (state == "starting") || got.Build.Go == "" || time.Since(got.StartedAt) > time.Minute ||
			(got.Drain != nil) != (state == "draining" || state == "stopping") {
			t.Errorf("%s: %+v", state, got)
		}
		var index struct{ Endpoints []struct{ Path string } }
		if f.get(200, "", &index); len(index.Endpoints) != len(endpoints) {
			t.Errorf("index %+v", index)
		}
		for _, e := range endpoints {
			if !strings.Contains(e.path, "{") {
				f.get(200, e.path, nil)
			}
		}
	}
	want("starting")
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	want("serving")
	s.Drain("test")
	want("draining")
	f.stop()
	want("stopping")
}

// No more than so many are answered at a time; further ones hear so at once.
func TestRequestsAreBounded(t *testing.T) {
	f := start(t)
	h := f.api.(*handler)
	for range maxRequests {
		h.slots <- struct{}{}
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, Prefix+"topics", nil))
	if w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" || !json.Valid(w.Body.Bytes()) {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	for range maxRequests {
		<-h.slots
	}
	f.get(200, "topics", nil)
	if n := len(h.slots); n != 0 {
		t.Errorf("%d slots stay taken", n)
	}
}
