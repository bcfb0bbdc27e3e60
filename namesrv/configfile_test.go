package namesrv

import (
	"os"
	"strings"
	"testing"

	"github.com/waymark-mq/waymark/namesrv/settings"
)

func TestRequest318Answers(t *testing.T) {
	const refused, malformed = `16 "Can not update config in black list."`, `1 "string2Properties error"`
	runRequests(t, []requestRow{
		{name: "no body", r: configure(""), want: "0"},
		{name: "known key", r: configure("enableTopicList=false"), want: "0"},
		{name: "same value", r: configure("enableTopicList=true"), want: "0"},
		{name: "unknown key", r: configure("someKey=x"), want: "0"},
		{name: "comments only", r: configure("# a\n! b\n"), want: "0"},
		{name: "bad escape", r: configure(`a=\u00zz`), want: malformed},
		{name: "ill-typed number", r: configure("waitSecondsForService=x"), want: `1 "settings: waitSecondsForService: …`},
		{name: "ill-typed bool", r: configure("enableTopicList=yes"), want: `1 "settings: enableTopicList: …`},
		{name: "control character in a value", r: configure(`productEnvName=center\nkvConfigPath=/tmp/x`), want: `1 "settings: productEnvName: …`},
		{name: "configStorePath", r: configure("configStorePath=/tmp/x"), want: refused},
		{name: "kvConfigPath", r: configure("kvConfigPath=/tmp/x"), want: refused},
		{name: "rocketmqHome", r: configure("rocketmqHome=/tmp/x"), want: refused},
		{name: "configBlackList", r: configure("configBlackList=x"), want: refused},
		{name: "blank before the key", r: configure("  kvConfigPath=/tmp/x"), want: refused},
		{name: "colon", r: configure("kvConfigPath : /tmp/x"), want: refused},
		{name: "blank as separator", r: configure("kvConfigPath /tmp/x"), want: refused},
		{name: "tab", r: configure("\tkvConfigPath\t/tmp/x"), want: refused},
		{name: "continued key", r: configure("kvConfig\\\n   Path=/tmp/x"), want: refused},
		{name: "escaped letter", r: configure(`\u006bvConfigPath=/tmp/x`), want: refused},
		{name: "needless backslash", r: configure(`kv\Config\Path=/tmp/x`), want: refused},
		{name: "CR LF", r: configure("enableTopicList=true\r\nkvConfigPath=/tmp/x\r\n"), want: refused},
		{name: "lone CR", r: configure("enableTopicList=true\rkvConfigPath=/tmp/x"), want: refused},
		{name: "first of two", r: configure("kvConfigPath=/tmp/x\nenableTopicList=true"), want: refused},
		{name: "key without value", r: configure("kvConfigPath"), want: refused},
	})
}

func TestConfiguredBlackList(t *testing.T) {
	home := t.TempDir()
	file := home + "/namesrv.properties"
	mustWrite(t, file, "configBlackList=configBlackList;configStorePath;kvConfigPath;listenPort\n")
	c, _, err := settings.Load(settings.Env{HomeDir: home}, file)
	if err != nil {
		t.Fatal(err)
	}
	s := newTestServer(t, home, Options{Settings: c})
	s.mustStart()
	s.dial().want(configure("listenPort=1"), `16 "Can not update config in black list."`)
}

// A refused request applies nothing and writes nothing.
func TestRefused318ChangesNothing(t *testing.T) {
	for _, body := range []string{
		"enableTopicList=false\nkvConfigPath=/tmp/x",
		"enableTopicList=false\nwaitSecondsForService=x",
		"enableTopicList=false\n" + `a=\u00`,
		"unknown=1\nenableTopicList=maybe",
	} {
		s := start(t)
		c := s.dial()
		before := c.call(ask(319)).body
		if a := c.call(configure(body)); a.code == 0 {
			t.Errorf("%q was accepted", body)
		}
		if after := c.call(ask(319)).body; after != before {
			t.Errorf("%q changed\n%s\nto\n%s", body, before, after)
		}
		c.want(ask(224, "cluster", "c"), `0 {"topicList":[]}`)
		if _, err := os.Stat(s.configPath()); err == nil {
			t.Errorf("%q wrote a file", body)
		}
	}
}

// Hot keys act with the answer.
func TestHotKeys(t *testing.T) {
	s := start(t)
	c := s.dial()
	world(c)
	c.want(put("ORDER_TOPIC_CONFIG", "Base", "a:4"), "0")
	other := s.dial()
	for _, tt := range []struct {
		body string
		r    request
		want string
	}{
		{"enableTopicList=false", ask(224, "cluster", cluster), `1 "disable"`},
		{"enableTopicList=TRUE", ask(313), `0 {"topicList":["Sub"]}`},
		{"enableAllTopicList=false", ask(206), `1 "disable"`},
		{"returnOrderTopicConfigToBroker=false", broker("a").again().request(), "0 {}"},
		{"returnOrderTopicConfigToBroker=true", broker("a").again().again().request(), `0 {} {"table":{"Base":"a:4"}}`},
		{"orderMessageEnable=true", routeOf("Base"), "0 " + brokersStandard + `,"filterServerTable":{},"orderTopicConf":"a:4"` + restOfRoute},
		{"orderConfStrict=true", put("ORDER_TOPIC_CONFIG", "Base", "x"), `1 "order configuration \"x\" is not broker:queues joined by semicolons"`},
	} {
		c.want(configure(tt.body), "0")
		other.want(tt.r, tt.want)
	}
}

// The text of 319 and the file: one key=value line each, sorted; what was saved is what is shown.
func TestRequest319AndFile(t *testing.T) {
	s := start(t)
	c := s.dial()
	before := c.call(ask(319))
	if before.code != 0 || before.remark != nil || before.fields != nil {
		t.Errorf("answer %s", before)
	}
	lines := strings.Split(strings.TrimSuffix(before.body, "\n"), "\n")
	if len(lines) != 39 {
		t.Errorf("%d lines, want Apache's 39", len(lines))
	}
	for i := 1; i < len(lines); i++ {
		if lines[i-1] >= lines[i] {
			t.Errorf("not sorted: %s before %s", lines[i-1], lines[i])
		}
	}
	c.want(configure("productEnvName=te\\u0020st\nlistenPort=1234\nenableTopicList=false"), "0")
	after := c.call(ask(319)).body
	for _, line := range []string{"productEnvName=te st\n", "listenPort=1234\n", "enableTopicList=false\n", "kvConfigPath=" + s.kvPath() + "\n"} {
		if !strings.Contains(after, line) {
			t.Errorf("%q is missing in\n%s", line, after)
		}
	}
	c2, _, err := settings.Load(settings.Env{HomeDir: s.home}, s.configPath())
	if err != nil {
		t.Fatalf("the saved file: %v", err)
	}
	if got := string(c2.Text()); got != after {
		t.Errorf("the file reads as\n%s\nwant\n%s", got, after)
	}
	first := mustRead(t, s.configPath())
	c.want(configure("enableTopicList=true"), "0")
	if got := mustRead(t, s.configPath()+".bak"); got != first {
		t.Errorf(".bak\n got %s\nwant %s", got, first)
	}
}

// With -c on the saved file the values survive a restart; without, they don't.
func TestConfigSurvivesRestart(t *testing.T) {
	s := start(t)
	c := s.dial()
	c.want(configure("waitSecondsForService=7\nneedWaitForService=true\nproductEnvName=\\u00fc"), "0")
	file := s.configPath()
	s.stop()
	loaded, _, err := settings.Load(settings.Env{HomeDir: s.home}, file)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name string
		c    *settings.Settings
		want string
	}{
		{"with -c", loaded, `1 "name server not ready"`},
		{"without", settings.Default(settings.Env{HomeDir: s.home}), noRoute + "T" + noRouteHelp},
	} {
		t.Run(tt.name, func(t *testing.T) {
			again := newTestServer(t, s.home, Options{Settings: tt.c})
			again.mustStart()
			c := again.dial()
			c.want(routeOf("T"), tt.want)
			if body := c.call(ask(319)).body; strings.Contains(body, "waitSecondsForService=7\n") != (tt.name == "with -c") {
				t.Errorf("settings\n%s", body)
			}
		})
	}
}

// An unwritable file: code 1, and nothing is applied.
func TestUnwritableConfigFile(t *testing.T) {
	s := start(t)
	c := s.dial()
	s.breakFile(t, s.configPath())
	c.wantPrefix(configure("enableTopicList=false"), `1 "configuration can't be written: `)
	c.want(ask(224, "cluster", "c"), `0 {"topicList":[]}`)
	if body := c.call(ask(319)).body; !strings.Contains(body, "enableTopicList=true\n") {
		t.Errorf("settings\n%s", body)
	}
	s.mendFile(t, s.configPath())
	c.want(configure("enableTopicList=false"), "0")
	c.want(ask(224, "cluster", "c"), `1 "disable"`)
}

// Updates come one after the other: each starts from the one before.
func TestPipelinedUpdates(t *testing.T) {
	s := start(t)
	c := s.dial()
	last := c.send(configure("enableTopicList=false"), put("n", "k", "v"), configure("enableAllTopicList=false"), configure("waitSecondsForService=3"))
	for i := range int32(4) {
		if got := c.wait(last - i).String(); got != "0" {
			t.Errorf("answer %s", got)
		}
	}
	body := c.call(ask(319)).body
	for _, line := range []string{"enableTopicList=false\n", "enableAllTopicList=false\n", "waitSecondsForService=3\n"} {
		if !strings.Contains(body, line) {
			t.Errorf("%q is missing in\n%s", line, body)
		}
	}
}
