package namesrv

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/waymark-mq/waymark/namesrv/settings"
)

// protectedKeys decide where files are written, and which keys may be changed.
var protectedKeys = []string{"configStorePath", "kvConfigPath", "rocketmqHome", "configBlackList"}

// spellings are ways to write an entry that Java's properties read as the same key.
var spellings = []struct {
	name  string
	entry func(key string) string
}{
	{"plain", func(k string) string { return k + "=/x" }},
	{"blanks before", func(k string) string { return " \t\f " + k + "=/x" }},
	{"colon", func(k string) string { return k + " : /x" }},
	{"blank", func(k string) string { return k + " /x" }},
	{"tab", func(k string) string { return k + "\t/x" }},
	{"form feed", func(k string) string { return k + "\f/x" }},
	{"no value", func(k string) string { return k }},
	{"continued inside", func(k string) string { return k[:3] + "\\\n   \t" + k[3:] + "=/x" }},
	{"continued inside, CR LF", func(k string) string { return k[:3] + "\\\r\n" + k[3:] + "=/x" }},
	{"continued before", func(k string) string { return "\\\n" + k + "=/x" }},
	{"continued behind", func(k string) string { return k + "\\\n = /x" }},
	{"an escaped letter", func(k string) string { return fmt.Sprintf(`\u%04x%s=/x`, k[0], k[1:]) }},
	{"all letters escaped", func(k string) string {
		var b strings.Builder
		for _, c := range k {
			fmt.Fprintf(&b, `\u%04X`, c)
		}
		return b.String() + "=/x"
	}},
	{"needless backslashes", func(k string) string { return strings.ReplaceAll(k, "o", `\o`) + "=/x" }},
	{"behind a CR", func(k string) string { return "a=1\r" + k + "=/x" }},
	{"behind a comment with a backslash", func(k string) string { return "# a\\\n" + k + "=/x" }},
	{"behind a good value with CR LF", func(k string) string { return "productEnvName=a\r\n" + k + "=/x" }},
	{"behind an escaped backslash", func(k string) string { return "productEnvName=a\\\\\n" + k + "=/x" }},
	{"twice", func(k string) string { return k + "=/x\n" + k + "=/y" }},
	{"invalid UTF-8 beside", func(k string) string { return "a=\xff\xfe\xc0\n" + k + "=/x" }},
}

// TestProtectedKeysInEverySpelling: no spelling of a protected key is applied, nor anything that comes
// with it; what 319 shows and the file on disk stay the same, byte for byte.
func TestProtectedKeysInEverySpelling(t *testing.T) {
	s := start(t)
	c := s.dial()
	c.want(configure("waitSecondsForService=44"), "0") // the file is there
	shown, file := c.call(ask(319)).String(), mustRead(t, s.configPath())
	for _, key := range protectedKeys {
		for _, sp := range spellings {
			for _, body := range []string{
				sp.entry(key),
				"enableTopicList=false\n" + sp.entry(key),
				sp.entry(key) + "\nenableTopicList=false\n",
			} {
				if a := c.call(configure(body)); a.code != 16 {
					t.Errorf("%s, %s: %q was answered %s", key, sp.name, body, a)
				}
			}
		}
	}
	s.wantConfig(c, shown, file)
}

// TestBodiesThatAreNoConfiguration: what is too long, or says nothing, changes nothing.
func TestBodiesThatAreNoConfiguration(t *testing.T) {
	s := start(t)
	c := s.dial()
	c.want(configure("waitSecondsForService=44"), "0")
	shown, file := c.call(ask(319)).String(), mustRead(t, s.configPath())
	for _, tt := range []struct {
		name, body string
		code       int32
	}{
		{"10 MiB in one value", "productEnvName=" + strings.Repeat("x", 10<<20), 1},
		{"10 MiB of lines", strings.Repeat("a=1\n", 10<<18), 1},
		{"10 MiB of continued lines", strings.Repeat("\\\n", 5<<20), 1},
		{"10 MiB before a protected key", strings.Repeat("#\n", 5<<20) + "kvConfigPath=/x", 1},
		{"nothing but invalid UTF-8", "\xff\xfe\x80", 0},
		{"an unknown key of invalid UTF-8", "\xc3=\xc3", 0},
		{"zeroes", "\x00\x00\x00=\x00", 0},
		{"no text at all", "\x78\x9c\x03\x00\x00\x00\x00\x01", 0},
	} {
		if a := c.call(configure(tt.body)); a.code != tt.code {
			t.Errorf("%s: %s, want code %d", tt.name, a, tt.code)
		}
	}
	s.wantConfig(c, shown, file)
}

// TestValuesAddNoLine: a value never becomes a line of its own in 319's answer or in the file: it is
// refused, or it is read back as the value that it was.
func TestValuesAddNoLine(t *testing.T) {
	for _, value := range []string{
		`a\nkvConfigPath=/x`, `a\r\nkvConfigPath=/x`, `a\rkvConfigPath=/x`, `a\u000akvConfigPath=/x`, `a\u000d\u000akvConfigPath=/x`,
		`a\\nkvConfigPath=/x`, `a\u005cnkvConfigPath=/x`, `a\\\nkvConfigPath=/x`, "a\\\nkvConfigPath=/x", `a\f\u0085kvConfigPath=/x`,
		`a\u2028kvConfigPath=/x`, `a\u0000kvConfigPath=/x`, "a\xc2\x85kvConfigPath=/x", "a\xe2\x80\xa8kvConfigPath=/x", `#a`, `!a`, `a\\`, `\ a`, `=`, `:`,
	} {
		t.Run(fmt.Sprintf("%q", value), func(t *testing.T) {
			s := start(t)
			c := s.dial()
			c.want(configure("waitSecondsForService=44"), "0")
			before, file := c.call(ask(319)), mustRead(t, s.configPath())
			if a := c.call(configure("productEnvName=" + value)); a.code != 0 {
				s.wantConfig(c, before.String(), file)
				return
			}
			after := c.call(ask(319)).body
			if got, want := strings.Count(after, "\n"), strings.Count(before.body, "\n"); got != want || strings.Contains(after, "\r") {
				t.Errorf("%d lines, were %d:\n%s", got, want, after)
			}
			if saved := mustRead(t, s.configPath()); strings.Contains(saved, "\nkvConfigPath=/x") || strings.Count(saved, "\n") != strings.Count(file, "\n") {
				t.Errorf("the file has a line more:\n%s", saved)
			}
			if _, err := os.Stat("/x"); err == nil {
				t.Error("/x was written")
			}
			kv := "\nkvConfigPath=" + s.kvPath() + "\n"
			if !strings.Contains(after, kv) {
				t.Errorf("no %q in\n%s", kv, after)
			}
			loaded, _, err := settings.Load(settings.Env{HomeDir: s.home}, s.configPath())
			if err != nil || string(loaded.Text()) != after {
				t.Errorf("%v; the file is read as\n%s\nwant\n%s", err, loaded.Text(), after)
			}
		})
	}
}

// wantConfig checks that 319 shows, and the file holds, what they did.
func (s *testServer) wantConfig(c *client, shown, file string) {
	s.t.Helper()
	if got := c.call(ask(319)).String(); got != shown {
		s.t.Errorf("319 shows\n%s\nwant\n%s", got, shown)
	}
	if got := mustRead(s.t, s.configPath()); got != file {
		s.t.Errorf("the file holds\n%s\nwant\n%s", got, file)
	}
}
