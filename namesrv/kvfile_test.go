package namesrv

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/waymark-mq/waymark/namesrv/settings"
)

func TestRequestsKV(t *testing.T) {
	const order = "ORDER_TOPIC_CONFIG"
	before := []request{put(order, "T", "a:4"), put("n", "k", "v")}
	runRequests(t, []requestRow{
		{name: "100", r: put(order, "T", "a:4;b:4"), want: "0"},
		{name: "100 anything in the order namespace", r: put(order, "T", "rubbish"), want: "0"},
		{name: "100 no namespace", r: ask(100, "key", "k", "value", "v"), want: `1 "namespace or key is null"`},
		{name: "100 no key", r: ask(100, "namespace", "n", "value", "v"), want: `1 "namespace or key is null"`},
		{name: "100 no fields", r: ask(100), want: `1 "namespace or key is null"`},
		{name: "100 no value", r: ask(100, "namespace", "n", "key", "k"), want: "0"},
		{name: "101", before: before, r: get("n", "k"), want: "0 {value=v}"},
		{name: "101 no such key", before: before, r: get("n", "x"), want: `22 "No config item, Namespace: n Key: x" {}`},
		{name: "101 no such namespace", r: get("x", "k"), want: `22 "No config item, Namespace: x Key: k" {}`},
		{name: "101 no namespace", before: before, r: ask(101, "key", "k"), want: `22 "No config item, Namespace: null Key: k" {}`},
		{name: "101 no key", before: before, r: ask(101, "namespace", "n"), want: `22 "No config item, Namespace: n Key: null" {}`},
		{name: "101 no fields", r: ask(101), want: `22 "No config item, Namespace: null Key: null" {}`},
		{name: "101 put without a value", before: []request{ask(100, "namespace", "n", "key", "k")}, r: get("n", "k"),
			want: `22 "No config item, Namespace: n Key: k" {}`},
		{name: "101 empty value", before: []request{put("n", "k", "")}, r: get("n", "k"), want: "0 {value=}", jsonOnly: true},
		{name: "102", before: before, r: del("n", "k"), want: "0"},
		{name: "102 no such key", r: del("n", "k"), want: "0"},
		{name: "102 no key", r: ask(102, "namespace", "n"), want: "0"},
		{name: "102 no fields", r: ask(102), want: "0"},
		{name: "219", before: before, r: listKV(order), want: `0 {"table":{"T":"a:4"}}`},
		{name: "219 emptied", before: append(before, del("n", "k")), r: listKV("n"), want: `0 {"table":{}}`},
		{name: "219 only a null", before: []request{ask(100, "namespace", "n", "key", "k")}, r: listKV("n"), want: `0 {"table":{}}`},
		{name: "219 unknown", r: listKV("x"), want: `22 "No config item, Namespace: x"`},
		{name: "219 no namespace", r: ask(219, "x", "y"), want: `22 "No config item, Namespace: null"`},
		{name: "219 no fields", r: ask(219), want: `22 "No config item, Namespace: null"`},
	})
}

// A key with empty names is a key like others; requests without names don't touch it.
func TestEmptyNames(t *testing.T) {
	c := start(t).dial()
	c.want(put("", "", "v"), "0")
	for _, r := range []request{ask(102), ask(102, "namespace", ""), ask(216), configure("")} {
		c.want(r, "0")
	}
	c.want(get("", ""), "0 {value=v}")
	c.want(del("", ""), "0")
	c.want(get("", ""), `22 "No config item, Namespace:  Key: " {}`)
}

// Acknowledged is on the disk, in Apache's form; the former content is kept.
func TestKVIsOnDiskWhenAnswered(t *testing.T) {
	s := start(t)
	c := s.dial()
	for i, tt := range []struct {
		r    request
		file string
	}{
		{put("ORDER_TOPIC_CONFIG", "TS", "broker-c:4"), `{"configTable":{"ORDER_TOPIC_CONFIG":{"TS":"broker-c:4"}}}`},
		{put("n", "k", "v"), `{"configTable":{"ORDER_TOPIC_CONFIG":{"TS":"broker-c:4"},"n":{"k":"v"}}}`},
		{put("n", "k", "w"), `{"configTable":{"ORDER_TOPIC_CONFIG":{"TS":"broker-c:4"},"n":{"k":"w"}}}`},
		{del("n", "k"), `{"configTable":{"ORDER_TOPIC_CONFIG":{"TS":"broker-c:4"},"n":{}}}`},
		{del("x", "k"), `{"configTable":{"ORDER_TOPIC_CONFIG":{"TS":"broker-c:4"},"n":{}}}`},
	} {
		former := ""
		if i > 0 {
			former = mustRead(t, s.kvPath())
		}
		c.want(tt.r, "0")
		if got := mustRead(t, s.kvPath()); got != tt.file {
			t.Errorf("file\n got %s\nwant %s", got, tt.file)
		}
		if former != "" && former != tt.file {
			if got := mustRead(t, s.kvPath()+".bak"); got != former {
				t.Errorf(".bak\n got %s\nwant %s", got, former)
			}
		}
	}
}

// Many puts at once share writes; each is on the disk when answered, and the last value of a key wins.
func TestPipelinedPuts(t *testing.T) {
	s := start(t)
	c := s.dial()
	var requests []request
	for i := range 300 {
		requests = append(requests, put("n", fmt.Sprint("k", i%3), fmt.Sprint(i)))
	}
	last := c.send(requests...)
	for i := range 300 {
		if got := c.wait(last - int32(i)).String(); got != "0" {
			t.Fatalf("put: %s", got)
		}
	}
	if got, want := mustRead(t, s.kvPath()), `{"configTable":{"n":{"k0":"297","k1":"298","k2":"299"}}}`; got != want {
		t.Errorf("file\n got %s\nwant %s", got, want)
	}
	c.want(listKV("n"), `0 {"table":{"k0":"297","k1":"298","k2":"299"}}`)
}

func TestKVSurvivesRestart(t *testing.T) {
	s := start(t)
	c := s.dial()
	c.want(put("n", "k", "ü \" \\ \n"), "0")
	c.want(put("n", "gone", "x"), "0")
	c.want(del("n", "gone"), "0")
	c.want(del("empty", "x"), "0")
	s.stop()
	c = startIn(t, s.home).dial()
	c.want(get("n", "k"), "0 {value=ü \" \\ \n}")
	c.wantCode(get("n", "gone"), 22)
	c.want(listKV("n"), `0 {"table":{"k":"ü \" \\ \n"}}`)
	c.wantCode(listKV("empty"), 22) // a delete makes no namespace
}

// With an unwritable file nothing changes, and the answer says so.
func TestUnwritableKVFile(t *testing.T) {
	s := start(t)
	c := s.dial()
	c.want(put("n", "k", "v"), "0")
	s.breakFile(t, s.kvPath())
	for _, r := range []request{put("n", "k", "w"), put("m", "k", "v"), del("n", "k")} {
		c.wantPrefix(r, `1 "KV configuration can't be written: `)
	}
	c.want(get("n", "k"), "0 {value=v}")
	c.wantCode(listKV("m"), 22)
	if got := len(s.logged("KV configuration not written")); got != 1 {
		t.Errorf("%d lines say that the file was not written, want 1 in a minute", got)
	}
	// Whole again, it takes what comes next, and only that.
	s.mendFile(t, s.kvPath())
	c.want(put("n", "x", "y"), "0")
	if got, want := mustRead(t, s.kvPath()), `{"configTable":{"n":{"k":"v","x":"y"}}}`; got != want {
		t.Errorf("file\n got %s\nwant %s", got, want)
	}
}

// breakFile makes a file unwritable for anybody, root included: a folder stands in its place.
func (s *testServer) breakFile(t *testing.T, path string) {
	t.Helper()
	_ = os.Remove(path)
	if err := os.MkdirAll(path+"/x", 0o755); err != nil {
		t.Fatal(err)
	}
}

func (s *testServer) mendFile(t *testing.T, path string) {
	t.Helper()
	if err := os.RemoveAll(path); err != nil {
		t.Fatal(err)
	}
}

// orderConfStrict refuses what would make clients fail. Off, everything is stored, and told once a minute.
func TestOrderConf(t *testing.T) {
	values := []struct {
		value string
		good  bool
	}{
		{"a:4", true}, {"a:4;b:8", true}, {"broker-a", false}, {"a:x", false}, {"a:4;;b:4", false}, {"a:0", false},
		{"a:-1", false}, {"a:4;", false}, {":4", false}, {"", false}, {"a:99999999999", false},
	}
	for _, strict := range []bool{true, false} {
		s := start(t, func(c *settings.Settings) { c.OrderConfStrict = strict })
		c := s.dial()
		for _, tt := range values {
			want := int32(0)
			if strict && !tt.good {
				want = 1
			}
			c.wantCode(put("ORDER_TOPIC_CONFIG", "T", tt.value), want)
			c.wantCode(put("other", "T", tt.value), 0)
		}
		if got := len(s.logged("order configuration would make clients fail")); got != 1 {
			t.Errorf("strict %v: %d lines about bad values, want 1 in a minute", strict, got)
		}
		if got := s.orderConfs.Load(); got != 9 {
			t.Errorf("strict %v: %d bad values counted, want 9", strict, got)
		}
	}
}

// Order configurations in the file that would make clients fail are counted at the start, and the first of them told of.
func TestOrderConfsOfTheFile(t *testing.T) {
	home := t.TempDir()
	s := startIn(t, home)
	c := s.dial()
	c.want(put("ORDER_TOPIC_CONFIG", "Good", "a:4"), "0")
	c.want(put("other", "Bad", "rubbish"), "0")
	for i := range 13 {
		c.want(put("ORDER_TOPIC_CONFIG", fmt.Sprint("Bad", i), "rubbish"), "0")
	}
	s.stop()
	s = startIn(t, home)
	if got := s.metrics().BadOrderConfs; got != 13 {
		t.Errorf("%d counted, want 13", got)
	}
	if got := s.logged("order configuration would make clients fail"); len(got) != 10 || !strings.Contains(got[0], "topic=Bad0 value=rubbish") {
		t.Errorf("%d lines, want 10: %v", len(got), got)
	}
	if got := s.logged("more order configurations would make clients fail"); len(got) != 1 || !strings.Contains(got[0], "count=3") {
		t.Errorf("%v", got)
	}
}

// What names a broker that isn't there is shown as long as it isn't.
func TestOrderConfsOfAbsentBrokers(t *testing.T) {
	s := start(t)
	c := s.dial()
	c.register(broker("a"))
	want := func(n int) {
		t.Helper()
		if got := s.metrics().AbsentOrderBrokers; got != n {
			t.Errorf("%d, want %d", got, n)
		}
	}
	c.want(put("other", "T", "gone:4"), "0")
	want(0)
	c.want(put("ORDER_TOPIC_CONFIG", "T", "a:4"), "0")
	want(0)
	c.want(put("ORDER_TOPIC_CONFIG", "U", "gone:4;a:4;away:4"), "0")
	c.want(put("ORDER_TOPIC_CONFIG", "Unreadable", "rubbish"), "0")
	want(1)
	c.want(broker("a").unregister(), "0")
	want(2)
}

// A value that was stored before orderConfStrict was set is served to nobody while it is on: not with routes, not to brokers, not to
// who asks for it. The good ones beside it are, and what is stored stays.
func TestOrderConfStrictServesNoBadValue(t *testing.T) {
	s := start(t, func(c *settings.Settings) { c.OrderMessageEnable = true })
	c := s.dial()
	world(c)
	c.want(put("ORDER_TOPIC_CONFIG", "Base", "broker-a"), "0")
	c.want(put("ORDER_TOPIC_CONFIG", "Pad", "a:4"), "0")
	c.want(put("other", "Base", "broker-a"), "0")
	onFile := mustRead(t, s.kvPath())
	const good = `{"table":{"Pad":"a:4"}}`
	bad := `{"table":{"Base":"broker-a","Pad":"a:4"}}`
	for i, strict := range []bool{false, true, false} {
		c.want(configure("orderConfStrict="+strconv.FormatBool(strict)), "0")
		table, value, route := bad, "0 {value=broker-a}", true
		if strict {
			table, value, route = good, `22 "No config item, Namespace: ORDER_TOPIC_CONFIG Key: Base" {}`, false
		}
		c.want(get("ORDER_TOPIC_CONFIG", "Base"), value)
		c.want(get("other", "Base"), "0 {value=broker-a}")
		c.want(listKV("ORDER_TOPIC_CONFIG"), "0 "+table)
		c.want(broker("a").counter(int64(i+2)).request(), "0 {} "+table)
		if got := strings.Contains(c.call(routeOf("Base")).body, `"orderTopicConf":"broker-a"`); got != route {
			t.Errorf("strict %v: the bad value comes with its topic's route: %v", strict, got)
		}
		if !strings.Contains(c.call(routeOf("Pad")).body, `"orderTopicConf":"a:4"`) {
			t.Errorf("strict %v: the good value doesn't come with its topic's route", strict)
		}
	}
	if got := mustRead(t, s.kvPath()); got != onFile {
		t.Errorf("the file changed to %s", got)
	}
}
