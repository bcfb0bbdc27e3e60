package settings

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func checkText(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "namesrv.properties")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	findings, err := CheckFile(Env{}, file)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, f := range findings {
		lines = append(lines, fmt.Sprintf("%d %s=%s known=%v effect=%d fatal=%v %s", f.Line, f.Key, f.Value, f.Known, f.Effect, f.Fatal, f.Problem))
	}
	return strings.Join(lines, "\n")
}

// All that is wrong in a file is found at once, with the line.
func TestCheckFileFindsAll(t *testing.T) {
	text := "# comment\nlistenPort = 9877 \nlistenport=1\nscanNotActiveBrokerInterval=soon\nbindAddress=\\\n  127.0.0.1\n" +
		"enableTopicList=true\nenableTopicList=yes\nserverWorkerThreads=8\nadminAllowList=nowhere/99\nx=\\u12\ny=1\n"
	want := []string{
		"2 listenPort=9877 known=true effect=1 fatal=false ",
		"3 listenport=1 known=false effect=0 fatal=false unknown key, kept without effect",
		"4 scanNotActiveBrokerInterval=soon known=true effect=",
		"5 bindAddress=127.0.0.1 known=true effect=1 fatal=false ",
		"7 enableTopicList=true known=true effect=0 fatal=false without effect: line 8 has the key again",
		"8 enableTopicList=yes known=true effect=0 fatal=true ",
		"9 serverWorkerThreads=8 known=true effect=2 fatal=false ",
		"10 adminAllowList=nowhere/99 known=true effect=0 fatal=true ",
		"11 = known=false effect=0 fatal=true malformed",
	}
	got := strings.Split(checkText(t, text), "\n")
	if len(got) != len(want) {
		t.Fatalf("got\n%s", strings.Join(got, "\n"))
	}
	for i := range want {
		if !strings.HasPrefix(got[i], want[i]) {
			t.Errorf("got  %s\nwant %s…", got[i], want[i])
		}
	}
	if got := checkText(t, ""); !strings.Contains(got, "empty") {
		t.Errorf("of an empty file: %q", got)
	}
	if _, err := CheckFile(Env{}, filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("a file that isn't there is in order")
	}
}

// What CheckFile lets through, Load takes, and the other way round.
func TestCheckFileAgreesWithLoad(t *testing.T) {
	var names []string
	for _, k := range Keys() {
		names = append(names, k.Name)
	}
	file := filepath.Join(t.TempDir(), "namesrv.properties")
	rapid.Check(t, func(t *rapid.T) {
		text := "# \n"
		for range rapid.IntRange(0, 5).Draw(t, "lines") {
			key := rapid.SampledFrom(append(names, "other")).Draw(t, "key")
			text += key + "=" + rapid.SampledFrom([]string{"", "true", "0", "-1", "70000", "99999999999", "text", " 7 ", "\\u0001", "\\u00", "127.0.0.1"}).Draw(t, "value") + "\n"
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		findings, err := CheckFile(Env{}, file)
		if err != nil {
			t.Fatal(err)
		}
		fatal := false
		for _, f := range findings {
			fatal = fatal || f.Fatal
		}
		if _, _, err := Load(Env{}, file); (err != nil) != fatal {
			t.Fatalf("%q: Load says %v, findings %+v", text, err, findings)
		}
	})
}
