package namesrv

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/waymark-mq/waymark/namesrv/audit"
	"github.com/waymark-mq/waymark/namesrv/logfile"
	"github.com/waymark-mq/waymark/namesrv/settings"
)

func audited(path string) func(*settings.Settings) {
	return func(c *settings.Settings) { c.AuditLogPath, c.AuditLogMaxMegabytes = path, 1 }
}

// auditLines stops the server and returns its audit file's lines, without what differs from run to run: time, ports, numbers
// of connections.
func (s *testServer) auditLines(path string) []string {
	s.t.Helper()
	s.stop()
	var lines []string
	last := time.Time{}
	for line := range strings.Lines(mustRead(s.t, path)) {
		var r map[string]any
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			s.t.Fatalf("%s: %v", line, err)
		}
		at, err := time.Parse(time.RFC3339Nano, r["time"].(string))
		if err != nil || at.Before(last) {
			s.t.Errorf("time %v after %v, %v", at, last, err)
		}
		if r["event"] != "lines missing" { // that is said when the next line, which may be made already, can be written
			last = at
		}
		for _, k := range []string{"time", "conn", "via", "language", "version"} {
			delete(r, k)
		}
		b, _ := json.Marshal(r)
		lines = append(lines, string(b))
	}
	return lines
}

func wantLines(t *testing.T, got, want []string) {
	t.Helper()
	for i := range max(len(got), len(want)) {
		var g, w string
		if i < len(got) {
			g = got[i]
		}
		if i < len(want) {
			w = want[i]
		}
		if g != w {
			t.Errorf("line %d\n got %s\nwant %s", i+1, g, w)
		}
	}
}

// Each change is a line: who, from where, what, before and after, result, in the order in which it took effect.
func TestAudit(t *testing.T) {
	path := filepath.Join(t.TempDir(), "deep", "audit.log")
	s := start(t, audited(path))
	c := s.proxied(inside)
	c.register(broker("a"), broker("a").again().again()) // the second is the same again: no line
	c.want(put("n", "k", "v1"), "0")
	c.want(put("n", "k", "v2"), "0")
	c.want(put("n", "k", "v2"), "0")
	c.want(del("n", "k"), "0")
	c.want(del("n", "k"), "0")
	c.want(ask(205, "brokerName", "a"), "0 {wipeTopicCount=2}")
	c.want(ask(327, "brokerName", "nobody"), "0 {addTopicCount=0}")
	c.want(ask(216, "topic", "Base"), "0")
	c.want(configure("enableTopicList=false\nunknown=1"), "0")
	c.wantCode(configure("kvConfigPath=/tmp/x"), 16)
	c.wantCode(ask(100, "namespace", "n"), 1)
	c.wantCode(ask(217, "topic", "T").with("no JSON"), 1)
	c.want(broker("a").unregister(), "0")
	c.want(broker("a").unregister(), "0")
	const who = `"from":"10.1.2.3:1000"`
	of := `"code":103,"event":"broker registered",` + who + `,"name":"REGISTER_BROKER","result":0,`
	queues := func(perm int) string {
		return fmt.Sprintf(`{"brokers":1,"queues":[{"broker":"a","perm":%d,"read":4,"write":4}]}`, perm)
	}
	wantLines(t, s.auditLines(path), []string{
		`{"after":` + told("a", 120_000, bothTopics) + `,"before":null,` + of + `"what":{"addr":"a:10911","broker":"a","brokerId":"0","cluster":"DefaultCluster","topics":2,"topicsChanged":2}}`,
		`{"after":"v1","before":null,"code":100,"event":"change",` + who + `,"name":"PUT_KV_CONFIG","result":0,"what":{"key":"k","namespace":"n"}}`,
		`{"after":"v2","before":"v1","code":100,"event":"change",` + who + `,"name":"PUT_KV_CONFIG","result":0,"what":{"key":"k","namespace":"n"}}`,
		`{"after":"v2","before":"v2","code":100,"event":"change",` + who + `,"name":"PUT_KV_CONFIG","result":0,"what":{"key":"k","namespace":"n"}}`,
		`{"after":null,"before":"v2","code":102,"event":"change",` + who + `,"name":"DELETE_KV_CONFIG","result":0,"what":{"key":"k","namespace":"n"}}`,
		`{"after":null,"before":null,"code":102,"event":"change",` + who + `,"name":"DELETE_KV_CONFIG","result":0,"what":{"key":"k","namespace":"n"}}`,
		`{"after":{"4":2},"before":{"6":2},"code":205,"event":"change",` + who + `,"name":"WIPE_WRITE_PERM_OF_BROKER","result":0,"what":{"broker":"a","topicsChanged":2}}`,
		`{"code":327,"event":"change",` + who + `,"name":"ADD_WRITE_PERM_OF_BROKER","result":0,"what":{"broker":"nobody"}}`,
		`{"after":null,"before":` + queues(4) + `,"code":216,"event":"change",` + who + `,"name":"DELETE_TOPIC_IN_NAMESRV","result":0,"what":{"topic":"Base","topicsChanged":1}}`,
		`{"after":{"enableTopicList":"false"},"before":{"enableTopicList":"true"},"code":318,"event":"change",` + who + `,"name":"UPDATE_NAMESRV_CONFIG","result":0,"what":{"body":"enableTopicList=false\nunknown=1"}}`,
		`{"code":318,"event":"failed",` + who + `,"name":"UPDATE_NAMESRV_CONFIG","remark":"Can not update config in black list.","result":16,"what":{"body":"kvConfigPath=/tmp/x"}}`,
		`{"code":100,"event":"failed",` + who + `,"name":"PUT_KV_CONFIG","remark":"namespace or key is null","result":1,"what":{"namespace":"n"}}`,
		`{"code":217,"event":"failed",` + who + `,"name":"REGISTER_TOPIC_IN_NAMESRV","remark":"com.alibaba.fastjson2.JSONException: codec: route body: json at byte 0: want null","result":1,"what":{"topic":"T"}}`,
		`{"after":null,"before":` + told("a", 120_000, padWiped) + `,"code":104,"event":"broker unregistered",` + who +
			`,"name":"UNREGISTER_BROKER","result":0,"what":{"addr":"a:10911","broker":"a","brokerId":"0","cluster":"DefaultCluster","topics":1,"topicsGone":1}}`,
	})
}

// Who it was is told with the real address, the proxy's beside it, language and version.
func TestAuditTellsWho(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.log")
	s := start(t, audited(path))
	c := s.proxied(inside)
	c.want(put("n", "k", "v").from(317), "0")
	s.stop()
	var r struct {
		From, Via, Language string
		Conn                uint64
		Version             int
	}
	if err := json.Unmarshal([]byte(mustRead(t, path)), &r); err != nil {
		t.Fatal(err)
	}
	if r.From != inside || r.Via != c.conn.LocalAddr().String() || r.Language != "JAVA" || r.Version != 317 || r.Conn == 0 {
		t.Errorf("%+v", r)
	}
}

// What happens to brokers without a request is told too, and what rules are against.
func TestAuditOfEventsAndRefusals(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.log")
	s := start(t, audited(path), adminList, func(c *settings.Settings) {
		c.BrokerAllowList, c.BrokerAllowListMode = "10.0.0.0/8, 127.0.0.1", "observe"
	})
	in, out := s.proxied(inside), s.proxied(outside)
	in.register(broker("silent").set("heartbeatTimeoutMillis", "10000"))
	gone := s.proxied("10.9.9.9:9")
	gone.register(broker("gone"))
	gone.close()
	eventually(t, "the end of a connection", func() bool { _, ok := s.live(cluster, "gone:10911"); return !ok })
	s.advance(20 * time.Second)
	in2 := s.proxied(inside) // the silent broker's connection was ended
	in2.wantRoute("Base", "none")
	for range 3 {
		out.want(ask(205, "brokerName", "x"), notInAdminList)
		out.wantCode(broker("x").heartbeat(), 0)
	}
	out.send(configure("enableTopicList=false").oneway())
	out.wantCode(ask(106), 0)
	var want []string
	timeouts := map[string]int{"silent": 10_000, "gone": 120_000}
	for _, name := range []string{"silent", "gone"} {
		from := map[string]string{"silent": inside, "gone": "10.9.9.9:9"}[name]
		want = append(want, `{"after":`+told(name, timeouts[name], bothTopics)+`,"before":null,"code":103,"event":"broker registered","from":"`+from+
			`","name":"REGISTER_BROKER","result":0,"what":{"addr":"`+name+`:10911","broker":"`+name+`","brokerId":"0","cluster":"DefaultCluster","topics":2,"topicsChanged":2}}`)
	}
	refused := `{"by":"adminAllowList","code":205,"event":"refused","from":"172.16.0.9:1000","name":"WIPE_WRITE_PERM_OF_BROKER","result":16,"what":{"broker":"x"}}`
	want = append(want,
		`{"after":null,"before":`+told("gone", 120_000, bothTopics)+
			`,"event":"broker closed","from":"10.9.9.9:9","what":{"addr":"gone:10911","broker":"gone","brokerId":"0","cluster":"DefaultCluster","topics":2}}`,
		`{"after":null,"before":`+told("silent", 10_000, bothTopics)+
			`,"event":"broker expired","from":"10.1.2.3:1000","what":{"addr":"silent:10911","broker":"silent","brokerId":"0","cluster":"DefaultCluster","topics":2,"topicsGone":2}}`,
		refused,
		`{"by":"brokerAllowList","code":904,"event":"observed","from":"172.16.0.9:1000","name":"BROKER_HEARTBEAT","what":{"addr":"x:10911","broker":"x","cluster":"DefaultCluster"}}`,
		refused, refused,
		`{"by":"adminAllowList","code":318,"event":"refused","from":"172.16.0.9:1000","name":"UPDATE_NAMESRV_CONFIG","result":16,"what":{"body":"enableTopicList=false"}}`,
	)
	wantLines(t, s.auditLines(path), want)
}

// A flood of refused requests leaves the other lines in the file: a thousand of them are written, then one a second, which tells how many were not.
func TestAuditOfAFlood(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.log")
	s := start(t, audited(path), adminList)
	in, out := s.proxied(inside), s.proxied(outside)
	in.want(put("n", "k", "v"), "0")
	const flood = 1500
	out.flood(flood, func(int) request { return ask(216, "topic", "T") })
	s.advance(time.Second)
	out.want(ask(216, "topic", "T"), notInAdminList)
	in.want(put("n", "k", "w"), "0")
	lines := s.auditLines(path)
	if len(lines) != 1+mostRefusals+2 || !strings.Contains(lines[mostRefusals+1], fmt.Sprintf(`"notWritten":%d`, flood-mostRefusals)) {
		t.Errorf("%d lines, the last but one %s", len(lines), lines[max(0, len(lines)-2)])
	}
}

// A file that can't be written to stops the start; nothing is left running.
func TestUnwritableAuditFile(t *testing.T) {
	home := t.TempDir()
	c := settings.Default(settings.Env{HomeDir: home})
	c.AuditLogPath = home // a folder
	s := newTestServer(t, home, Options{Settings: c})
	if err := s.Start(); err == nil || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), home) {
		t.Errorf("%v", err)
	}
}

// A port that is taken leaves the audit file closed.
func TestAuditFileIsClosedWhenTheStartFails(t *testing.T) {
	taken := start(t)
	home := t.TempDir()
	path := filepath.Join(home, "audit.log")
	c := settings.Default(settings.Env{HomeDir: home})
	c.AuditLogPath = path
	s := newTestServer(t, home, Options{Settings: c})
	_, port, _ := strings.Cut(taken.Addr(), ":")
	_, _ = fmt.Sscan(port, &c.ListenPort)
	if err := s.Start(); err == nil {
		t.Fatal("two servers on one port")
	}
	s.audit.Write(&audit.Record{Event: audit.Changed})
	if got := s.audit.Stats(); got != (logfile.Stats{Lost: 1}) {
		t.Errorf("%+v: the file is still open", got)
	}
}

// Without a file nothing is kept of brokers' requests; operators' are logged all the same.
func TestLogOfOperators(t *testing.T) {
	s := start(t)
	c := s.proxied(inside)
	c.register(broker("a"))
	base := len(s.logged(""))
	for _, tt := range []struct {
		r     request
		parts []string
	}{
		{put("n", "k", "v"), []string{"level=INFO", "code=100", "request=PUT_KV_CONFIG", "by=10.1.2.3:1000", "namespace=n", "key=k"}},
		{del("n", "k"), []string{"code=102", "key=k"}},
		{ask(205, "brokerName", "a"), []string{"code=205", "broker=a", "topicsChanged=2"}},
		{ask(327, "brokerName", "a"), []string{"code=327", "broker=a", "topicsChanged=2"}},
		{ask(216, "topic", "Base"), []string{"code=216", "topic=Base", "topicsChanged=1"}},
		{ask(217, "topic", "New").with(`{"queueDatas":[{"brokerName":"a","perm":6}]}`), []string{"code=217", "topic=New"}},
	} {
		c.wantCode(tt.r, 0)
		base++
		s.wantLines(fmt.Sprint("code ", tt.r.code), base)
		lines := s.logged("changed by an operator's")
		for _, part := range tt.parts {
			if !strings.Contains(lines[len(lines)-1], part) {
				t.Errorf("%s is missing in %s", part, lines[len(lines)-1])
			}
		}
	}
	c.want(configure("enableTopicList=false"), "0")
	if got := s.logged("key=enableTopicList"); len(got) != 1 || !strings.Contains(got[0], "by=10.1.2.3:1000") {
		t.Errorf("%v", got)
	}
	c.wantCode(configure("kvConfigPath=x"), 16)
	c.wantCode(configure("kvConfigPath=x"), 16)
	if got := s.logged("an operator's request has failed"); len(got) != 1 || !strings.Contains(got[0], "result=16") {
		t.Errorf("%v", got)
	}
}

// A file that can't be written to while the server runs costs its lines, which are counted, and a line in the log; the service
// goes on, and so does the file when it can.
func TestAuditFileUnwritableLater(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "audit")
	path := filepath.Join(folder, "audit.log")
	s := start(t, audited(path))
	c := s.dial()
	if err := os.RemoveAll(folder); err != nil {
		t.Fatal(err)
	}
	mustWrite(t, folder, "in the way")
	for range 3 {
		c.want(put("n", "k", "v"), "0")
	}
	eventually(t, "three lines lost", func() bool { return s.AccessStats().AuditLost == 3 })
	if got := s.logged("audit file not written"); len(got) != 1 {
		t.Errorf("%v", got)
	}
	if err := os.Remove(folder); err != nil {
		t.Fatal(err)
	}
	c.want(put("n", "k", "w"), "0")
	lines := s.auditLines(path)
	if len(lines) != 2 || lines[0] != `{"event":"lines missing","lines":3}` || !strings.Contains(lines[1], `"after":"w"`) {
		t.Errorf("%q", lines)
	}
}
