package settings

import (
	"bytes"
	"os"
	"strings"
	"testing"
)

var testEnv = Env{HomeDir: "/home/rmq", RocketmqHome: "/opt/rocketmq"}

// listed parses a text of Text into a map; it fails when a line is no key=value.
func listed(t *testing.T, text []byte) map[string]string {
	t.Helper()
	m := make(map[string]string)
	for line := range strings.Lines(string(text)) {
		name, value, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
		if !ok {
			t.Fatalf("line %q is no key=value", line)
		}
		m[name] = value
	}
	return m
}

// TestDefaultsAreApaches compares with what Apache 5.5.0 answered to 319 when
// started without a file (its user home replaced by /home/rmq).
func TestDefaultsAreApaches(t *testing.T) {
	want, err := os.ReadFile("testdata/apache-5.5.0-319.txt")
	if err != nil {
		t.Fatal(err)
	}
	if got := Default(testEnv).Text(); !bytes.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestUnknownHomeIsNotListed(t *testing.T) {
	text := Default(Env{HomeDir: "/home/rmq"}).Text()
	if n := bytes.Count(text, []byte("\n")); n != 39 || bytes.Contains(text, []byte("rocketmqHome")) {
		t.Errorf("%d lines:\n%s", n, text)
	}
}

func TestKeyTable(t *testing.T) {
	seen := make(map[string]bool)
	pointers := make(map[any]string)
	s := Default(testEnv)
	for _, k := range Keys() {
		if seen[k.Name] {
			t.Errorf("%s: twice", k.Name)
		}
		seen[k.Name] = true
		if other, ok := pointers[k.field(s)]; ok {
			t.Errorf("%s: same field as %s", k.Name, other)
		}
		pointers[k.field(s)] = k.Name
		if !k.NotEmpty || k.Default != "" {
			if err := k.set(&Settings{}, k.Default); err != nil {
				t.Errorf("%s: default: %v", k.Name, err)
			}
		}
		if k.Meaning == "" {
			t.Errorf("%s: no meaning", k.Name)
		}
	}
}

func TestCoreFlags(t *testing.T) {
	s := Default(testEnv)
	if got := s.Core(); got.OrderMessageEnable || !got.ReturnOrderTopicConfigToBroker {
		t.Errorf("defaults: %+v", got)
	}
	next, _, err := s.Update([]byte("orderMessageEnable=true\nreturnOrderTopicConfigToBroker=false\nsupportActingMaster=true\n" +
		"notifyMinBrokerIdChanged=true\ndeleteTopicWithBrokerRegistration=true\nenableTopicList=false\nenableAllTopicList=false\n"))
	if err != nil {
		t.Fatal(err)
	}
	got := next.Core()
	if !got.OrderMessageEnable || got.ReturnOrderTopicConfigToBroker || !got.SupportActingMaster || !got.NotifyMinBrokerIDChanged ||
		!got.DeleteTopicWithBrokerRegistration {
		t.Errorf("changed: %+v", got)
	}
}

func TestProcessEnv(t *testing.T) {
	env := func(pairs ...string) func(string) string {
		return func(name string) string {
			for i := 0; i < len(pairs); i += 2 {
				if pairs[i] == name {
					return pairs[i+1]
				}
			}
			return ""
		}
	}
	for _, c := range []struct {
		name             string
		getenv           func(string) string
		home, installDir string
	}{
		{"environment", env("HOME", "/h", "ROCKETMQ_HOME", "/r"), "/h", "/r"},
		{"no installation directory", env("HOME", "/h"), "/h", ""},
		{"properties win", env("HOME", "/h", "ROCKETMQ_HOME", "/r", "JAVA_OPT", "-Xmx1g -Duser.home=/p -Drocketmq.home.dir=/q"), "/p", "/q"},
		{"the later variable wins", env("JAVA_OPT", "-Duser.home=/a", "JAVA_OPT_EXT", "-Duser.home=/b"), "/b", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := ProcessEnv(c.getenv); got.HomeDir != c.home || got.RocketmqHome != c.installDir {
				t.Errorf("got %+v", got)
			}
		})
	}
}
