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

// A secret is shown nowhere: neither as it is, nor one that is wrong or has no effect.
func TestCheckFileShowsNoSecret(t *testing.T) {
	const key = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="
	got := checkText(t, "peerKey="+key+"\npeerKey="+key[1:]+"\n")
	if strings.Contains(got, key[1:]) || strings.Count(got, "peerKey=****** ") != 2 {
		t.Errorf("repeated and wrong: %s", got)
	}
	for _, slip := range []string{"peerkey", "peerKeys", "PEERKEY"} {
		if got := checkText(t, slip+"="+key+"\n"); strings.Contains(got, key) || !strings.Contains(got, slip+"=******") {
			t.Errorf("%s: %s", slip, got)
		}
	}
	if got := checkText(t, "peerKey="+key+"\n"); strings.Contains(got, key) || !strings.Contains(got, "fatal=false") {
		t.Errorf("right: %s", got)
	}
}

// What no key is wrong in by itself is found too, at the key that needs the other.
func TestKeysThatNeedAnother(t *testing.T) {
	const need = "peerListenAddress must be set, where the others reach this server"
	for text, want := range map[string]string{
		"listenPort=1\npeers=ns1:7946\n":                              "2 peers=ns1:7946 known=true effect=1 fatal=true " + need,
		"peers=a\npeers=b\npeerListenAddress=\n":                      "2 peers=b known=true effect=1 fatal=true " + need,
		"peers=ns1:7946\npeerListenAddress=127.0.0.1:7946\n":          "1 peers=ns1:7946 known=true effect=1 fatal=false \n",
		"peers=ns1:7946\npeers=\n":                                    "2 peers= known=true effect=1 fatal=false ",
		"peers=ns1:7946\npeerListenAddress=7946\n":                    "1 peers=ns1:7946 known=true effect=1 fatal=false \n",
		"peers=ns1:7946\npeerListenAddress=a:1\npeerListenAddress=\n": "1 peers=ns1:7946 known=true effect=1 fatal=true " + need,
	} {
		if got := checkText(t, text); !strings.Contains(got, want) {
			t.Errorf("%q: got\n%s\nwant %s", text, got, want)
		}
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
			text += key + "=" + rapid.SampledFrom([]string{"", "true", "0", "-1", "70000", "99999999999", "text", " 7 ", "\\u0001", "\\u00", "127.0.0.1", "127.0.0.1:7946"}).Draw(t, "value") + "\n"
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
