package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/waymark-mq/waymark/namesrv/settings"
)

// The log goes to standard error, or to namesrv.log in the folder of the setting.
func TestLogGoesWhereTheSettingSays(t *testing.T) {
	home := t.TempDir()
	env := map[string]string{"JAVA_OPT": "-Duser.home=" + home}
	got := start(t, &fakeServer{}, env, "-c", writeConfig(t, "bogus=1\n"))
	if got.exit != 0 || !strings.Contains(got.stderr, "key=\"\\\"bogus\\\"\"") || !strings.Contains(got.stderr, "stopping") {
		t.Errorf("exit %d, %q", got.exit, got.stderr)
	}
	got = start(t, &fakeServer{}, env, "-c", writeConfig(t, "bogus=1\nlogDir=${user.home}/logs/rocketmqlogs\nlogFormat=json\n"))
	text, err := os.ReadFile(filepath.Join(home, "logs", "rocketmqlogs", "namesrv.log"))
	if got.exit != 0 || got.stderr != "" || err != nil {
		t.Fatalf("exit %d, %q, %v", got.exit, got.stderr, err)
	}
	lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	for _, line := range lines {
		if !json.Valid([]byte(line)) {
			t.Errorf("no JSON: %s", line)
		}
	}
	if !strings.Contains(lines[0], "bogus") || !strings.Contains(lines[len(lines)-1], "stopping") {
		t.Errorf("%q", lines)
	}
}

func TestLogLevel(t *testing.T) {
	got := start(t, &fakeServer{}, nil, "-c", writeConfig(t, "bogus=1\nlogLevel=error\n"))
	if got.exit != 0 || got.stderr != "" {
		t.Errorf("exit %d, %q", got.exit, got.stderr)
	}
	if o := got.server.options; o.Level == nil || o.Logger.Enabled(t.Context(), o.Settings.Level()-1) {
		t.Error("the server can't change the level")
	} else if o.Level.Set(-4); !o.Logger.Enabled(t.Context(), -4) {
		t.Error("the level the server sets isn't the log's")
	}
}

// A folder that can't be made is one line, and no start; -p makes none.
func TestLogFolderThatCannotBe(t *testing.T) {
	file := writeConfig(t, "")
	config := writeConfig(t, "logDir="+file+"\n")
	got := start(t, &fakeServer{}, nil, "-c", config)
	if got.exit != exitFailed || strings.Count(got.stderr, "\n") != 1 || !strings.Contains(got.stderr, file) || got.stdout != "" {
		t.Errorf("exit %d, %q, %q", got.exit, got.stderr, got.stdout)
	}
	if got := start(t, &fakeServer{}, nil, "-p", "-c", config); got.exit != 0 || !strings.Contains(got.stdout, "logDir="+file) {
		t.Errorf("-p: exit %d, %q", got.exit, got.stderr)
	}
}

// Where lines are missing a line says so, in the log's format.
func TestMissingLines(t *testing.T) {
	s := settings.Default(settings.Env{})
	if got := string(missing(s, 7)); !strings.Contains(got, "level=WARN") || !strings.HasSuffix(got, "lines=7\n") {
		t.Errorf("%q", got)
	}
	s.LogFormat = "json"
	if got := missing(s, 7); !json.Valid(got) {
		t.Errorf("%q", got)
	}
}
