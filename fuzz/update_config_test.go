package fuzz

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/waymark-mq/waymark/namesrv/settings"
)

// FuzzUpdateConfig: no body of UPDATE_NAMESRV_CONFIG reaches a refused key, adds
// a key that nobody knows or a line to what is shown or saved, and what is saved
// reads back as what is shown.
func FuzzUpdateConfig(f *testing.F) {
	for _, body := range []string{
		"a=b", "listenPort=1", "productEnvName=\\u0041\\\n b", "config\\\nStorePath=x", "\xff=\\ud83d",
		"freeKey = 2\nenableTopicList:false\n", "orderConfStrict true", "freeKey=a\\nkvConfigPath=/x",
	} {
		f.Add([]byte(body))
	}
	file := filepath.Join(f.TempDir(), "namesrv.properties")
	if err := os.WriteFile(file, []byte("freeKey=1\n"), 0o600); err != nil {
		f.Fatal(err)
	}
	s, _, err := settings.Load(settings.Env{HomeDir: "/home/rmq", RocketmqHome: "/opt/rocketmq"}, file)
	if err != nil {
		f.Fatal(err)
	}
	before := string(s.Text())
	known := shown(f, before)
	for _, k := range settings.Keys() {
		known[k.Name] = ""
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		next, _, err := s.Update(body)
		if string(s.Text()) != before {
			t.Fatalf("%q changed the settings in use", body)
		}
		if err != nil {
			return
		}
		if next.KVConfigPath != s.KVConfigPath || next.ConfigStorePath != s.ConfigStorePath || next.ConfigBlackList != s.ConfigBlackList || next.RocketmqHome != s.RocketmqHome {
			t.Fatalf("%q changed a refused key", body)
		}
		text := shown(t, string(next.Text()))
		for name := range text {
			if _, ok := known[name]; !ok {
				t.Fatalf("%q added %q", body, name)
			}
		}
		saved := map[string]string{}
		entries, err := parseProperties(next.FileText())
		for _, e := range entries {
			saved[e.Key] = e.Value
		}
		if err != nil || len(entries) != len(text) || !maps.Equal(saved, text) {
			t.Fatalf("%q: shown\n%s\nsaved\n%s\n%v", body, next.Text(), next.FileText(), err)
		}
	})
}

// shown reads key=value lines; each key stands on one.
func shown(t testing.TB, text string) map[string]string {
	t.Helper()
	values := map[string]string{}
	for line := range strings.Lines(text) {
		name, value, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
		if _, twice := values[name]; !ok || twice {
			t.Fatalf("line %q in\n%s", line, text)
		}
		values[name] = value
	}
	return values
}
