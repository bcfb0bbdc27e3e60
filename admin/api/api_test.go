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
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/waymark-mq/waymark/codec"
	"github.com/waymark-mq/waymark/namesrv"
	"github.com/waymark-mq/waymark/namesrv/settings"
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
	s, err := namesrv.New(namesrv.Options{Settings: c, Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
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

// A topic's route is shown with the registration that made it, whose connection it came on, and what was refused.
func TestWhyATopicIsAsItIs(t *testing.T) {
	f := start(t)
	b, tool := f.dial(), f.dial()
	b.register("a", 1, []string{"T", "pad"}, "__ZONE_NAME", "z1")
	b.register("a", 2, []string{"T", "pad"}, "__ZONE_NAME", "z1")
	b.register("b", 1, []string{"T", "pad"}, "heartbeatTimeoutMillis", "5000")
	tool.ask(codec.ResponseSuccess, codec.RequestWipeWritePermOfBroker, "", "brokerName", "a")
	tool.ask(codec.ResponseSystemError, codec.RequestRegisterBroker, registration(1, []string{"T"}), header("b", "brokerId", "3", "brokerAddr", "late:1")...)
	var got struct {
		Topic  string
		Queues []struct {
			Broker, Cluster, Zone string
			Perm, ReadQueues      int
			TopicsFrom            int64
			Members               []struct {
				ID                            int64
				Address, HAAddress            string
				SilentSeconds, TimeoutSeconds float64
				Owner                         struct {
					ID   uint64
					Peer string
					Open bool
				}
				Registration struct {
					FirstAt, At         time.Time
					Peer                string
					DataVersion         struct{ Timestamp, Counter int64 }
					Topics              int
					Applied, Recognised int
				}
			}
			Why struct {
				LastChange, LastRefused, LastPermission *struct {
					Kind, Peer, Address string
					Seq                 uint64
				}
			}
		}
	}
	f.get(200, "topics/T", &got)
	if got.Topic != "T" || len(got.Queues) != 2 {
		t.Fatalf("%+v", got)
	}
	qa, qb := got.Queues[0], got.Queues[1]
	ma := qa.Members[0]
	if qa.Broker != "a" || qa.Cluster != "c1" || qa.Zone != "z1" || qa.Perm != 4 || qa.ReadQueues != 4 || qa.TopicsFrom != 0 {
		t.Errorf("queues of a: %+v", qa)
	}
	if ma.Address != "a:10911" || ma.HAAddress != "a:10912" || ma.TimeoutSeconds != 120 || ma.Owner.Peer != b.addr() || !ma.Owner.Open || ma.Owner.ID == 0 {
		t.Errorf("member of a: %+v", ma)
	}
	r := ma.Registration
	if r.DataVersion.Counter != 2 || r.DataVersion.Timestamp != 1700000000000 || r.Applied != 2 || r.Topics != 2 || r.Peer != b.addr() ||
		time.Since(r.FirstAt) > time.Minute || r.At.Before(r.FirstAt) {
		t.Errorf("registration of a: %+v", r)
	}
	if w := qa.Why; w.LastChange.Kind != "changed" || w.LastPermission.Kind != "write_permission_wiped" || w.LastPermission.Peer != tool.addr() || w.LastRefused != nil {
		t.Errorf("why a: %+v", w)
	}
	if w := qb.Why; w.LastRefused.Kind != "refused" || w.LastRefused.Address != "late:1" || w.LastRefused.Peer != tool.addr() || w.LastPermission != nil {
		t.Errorf("why b: %+v", w)
	}
	if qb.Members[0].TimeoutSeconds != 5 {
		t.Errorf("member of b: %+v", qb.Members[0])
	}
}

// Why there is no topic: never, deleted, gone with its broker, taken off by a registration.
func TestWhyThereIsNoTopic(t *testing.T) {
	f := start(t)
	b, tool := f.dial(), f.dial()
	b.register("a", 1, []string{"Mine", "Deleted", "pad"})
	tool.ask(codec.ResponseSuccess, codec.RequestDeleteTopicInNamesrv, "", "topic", "Deleted")
	tool.ask(codec.ResponseSuccess, codec.RequestUnregisterBroker, "", header("a")...)
	for topic, want := range map[string]struct{ reason, kind, broker string }{
		"Never":   {"never_seen", "", ""},
		"Deleted": {"deleted", "topic_deleted", ""},
		"Mine":    {"broker_removed", "unregistered", "a"},
	} {
		var got struct {
			Error struct{ Code, Message string }
			Why   struct {
				Reason string
				Event  struct{ Kind, Broker, Peer string }
			}
		}
		f.get(404, "topics/"+topic, &got)
		peer := ""
		if want.kind != "" {
			peer = tool.addr()
		}
		if got.Error.Code != "topic_not_found" || got.Error.Message == "" || got.Why.Reason != want.reason ||
			got.Why.Event.Kind != want.kind || got.Why.Event.Broker != want.broker || got.Why.Event.Peer != peer {
			t.Errorf("%s: %+v", topic, got)
		}
	}
}

// Names may hold any character: each is found by its escaped name, and pages by it.
func TestNamesOfAnyCharacters(t *testing.T) {
	f := start(t)
	names := []string{"%RETRY%group", "a/b", "a b", "ä😀", `quo"te`, "..", ".", "?x=1&y#z", "+", "%2F", "<script>", "a//b/"}
	f.dial().register("na/me %41", 1, names)
	f.dial().ask(codec.ResponseSuccess, codec.RequestPutKVConfig, "", "namespace", "n/s", "key", "k/%", "value", "v\n\x00")
	for _, name := range names {
		var got struct{ Topic string }
		if f.get(200, "topics/"+url.PathEscape(name), &got); got.Topic != name {
			t.Errorf("%q: %q", name, got.Topic)
		}
	}
	var broker struct{ Name string }
	if f.get(200, "brokers/"+url.PathEscape("na/me %41"), &broker); broker.Name != "na/me %41" {
		t.Errorf("broker %q", broker.Name)
	}
	var kv struct{ Entries []struct{ Key, Value string } }
	if f.get(200, "kv/"+url.PathEscape("n/s"), &kv); len(kv.Entries) != 1 || kv.Entries[0].Key != "k/%" || kv.Entries[0].Value != "v\n\x00" {
		t.Errorf("KV %+v", kv)
	}
	var all []string
	for after, more := "", true; more; {
		var page struct {
			Topics []struct{ Name string }
			Next   *string
		}
		f.get(200, "topics?limit=5&after="+url.QueryEscape(after), &page)
		for _, topic := range page.Topics {
			all = append(all, topic.Name)
		}
		if more = page.Next != nil; more {
			after = *page.Next
		}
	}
	slices.Sort(names)
	if !slices.Equal(all, names) {
		t.Errorf("pages have %q, want %q", all, names)
	}
	// Through a server and its mux too, which have an opinion on dots and slashes.
	mux := http.NewServeMux()
	mux.Handle(Prefix, f.api)
	server := httptest.NewServer(mux)
	defer server.Close()
	for _, name := range []string{"%RETRY%group", "a/b", "a//b/", "..", "%2F"} {
		answer, err := http.Get(server.URL + Prefix + "topics/" + strings.ReplaceAll(url.PathEscape(name), ".", "%2E"))
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		if answer.StatusCode != http.StatusOK {
			t.Errorf("%q: %s", name, answer.Status)
		}
	}
}

// Every list is cut into pages of the size asked for, each part once, and goes on behind the last.
func TestLists(t *testing.T) {
	f := start(t)
	b := f.dial()
	const n = 7
	for i := range n {
		b.register(fmt.Sprint("b", i), 1, []string{fmt.Sprint("T", i), "pad"}, "clusterName", fmt.Sprint("c", i))
		b.ask(codec.ResponseSuccess, codec.RequestPutKVConfig, "", "namespace", fmt.Sprint("n", i), "key", "k", "value", "v")
		b.ask(codec.ResponseSuccess, codec.RequestPutKVConfig, "", "namespace", "n0", "key", fmt.Sprint("k", i), "value", "v")
	}
	for range n - 1 {
		f.dial().ask(codec.ResponseTopicNotExist, codec.RequestGetRouteInfoByTopic, "", "topic", "none")
	}
	for _, tt := range []struct {
		path, list, name string
		want             int
	}{
		{"clusters?", "clusters", "name", n},
		{"brokers?", "brokers", "name", n},
		{"brokers?cluster=c3&", "brokers", "name", 1},
		{"brokers?cluster=none&", "brokers", "name", 0},
		{"topics?", "topics", "name", n + 1},
		{"topics?prefix=T&", "topics", "name", n},
		{"kv?", "namespaces", "name", n},
		{"kv/n0?", "entries", "key", n + 1},
		{"connections?", "connections", "id", n},
	} {
		for _, limit := range []int{1, 3, 1000} {
			seen := map[string]bool{}
			for after, pages := "", 0; ; pages++ {
				var page map[string]json.RawMessage
				f.get(200, fmt.Sprintf("%slimit=%d&after=%s", tt.path, limit, url.QueryEscape(after)), &page)
				var items []map[string]any
				if err := json.Unmarshal(page[tt.list], &items); err != nil || len(items) > limit || pages > n+2 {
					t.Fatalf("%s: page %d of %d, limit %d, %v", tt.path, pages, len(items), limit, err)
				}
				for _, item := range items {
					seen[fmt.Sprint(item[tt.name])] = true
				}
				if page["next"] == nil {
					break
				}
				if after = string(page["next"]); after[0] == '"' {
					after, _ = strconv.Unquote(after)
				}
			}
			if len(seen) != tt.want {
				t.Errorf("%s limit %d: %d parts, want %d: %v", tt.path, limit, len(seen), tt.want, seen)
			}
		}
	}
	var brokers struct {
		Brokers []struct {
			Topics       int
			TopicsByPerm map[string]int
		}
	}
	if f.get(200, "brokers?limit=1", &brokers); brokers.Brokers[0].Topics != 2 || brokers.Brokers[0].TopicsByPerm["6"] != 2 {
		t.Errorf("%+v", brokers)
	}
	var config struct{ Config []struct{ Key, Value string } }
	if f.get(200, "config", &config); len(config.Config) < 30 || config.Config[0].Key >= config.Config[1].Key {
		t.Errorf("%d settings", len(config.Config))
	}
}

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
	s.Drain()
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
