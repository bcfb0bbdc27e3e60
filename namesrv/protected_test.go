package namesrv

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/waymark-mq/waymark/namesrv/settings"
)

// protectedKeys decide where files are written, which keys may be changed, and by whom.
var protectedKeys = []string{"configStorePath", "kvConfigPath", "rocketmqHome", "configBlackList", "adminAllowList", "auditLogPath", "logDir"}

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
	{"continued inside, CR", func(k string) string { return k[:3] + "\\\r" + k[3:] + "=/x" }},
	{"continued inside, twice", func(k string) string { return k[:2] + "\\\n\\\n\\\r\n \f" + k[2:] + "=/x" }},
	{"continued inside an escape's end", func(k string) string { return fmt.Sprintf("\\u%04x\\\n%s=/x", k[0], k[1:]) }},
	{"continued behind a blank line", func(k string) string { return "\\\n\n" + k + "=/x" }},
	{"separators escaped from nothing", func(k string) string { return k + "\\\n:\\\n/x" }},
	{"behind a CR and a form feed", func(k string) string { return "a=1\r\f" + k + "=/x" }},
	{"behind four backslashes", func(k string) string { return "productEnvName=a" + strings.Repeat("\\", 4) + "\n" + k + "=/x" }},
	{"behind a comment that ends in CR", func(k string) string { return "#\r" + k + "=/x" }},
	{"behind a comment's line end in another", func(k string) string { return "!a\\\r\n" + k + "=/x" }},
	{"behind a key without a value", func(k string) string { return "a\n" + k + "=/x" }},
	{"behind an empty key", func(k string) string { return "=a\n" + k + "=/x" }},
	{"value that injects a line, as public checks send it", func(k string) string { return "productEnvName=test/path\\ntest\\ntest\n" + k + "=/tmp/pwned" }},
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
		"a\vkvConfigPath=/x", "a\x1ekvConfigPath=/x", `a\u000bkvConfigPath=/x`, `a\\\\\nkvConfigPath=/x`, `a\u0085kvConfigPath=/x`, "a\xc1\x8akvConfigPath=/x",
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

// lookAlikes are entries whose key is another one than that of the spelling it looks like, for Java and so for us: they mean nothing.
var lookAlikes = []struct {
	name  string
	entry func(key string) string
}{
	{"the setter's letter", func(k string) string { return strings.ToUpper(k[:1]) + k[1:] + "=/x" }},
	{"upper case", func(k string) string { return strings.ToUpper(k) + "=/x" }},
	{"lower case", func(k string) string { return strings.ToLower(k) + "=/x" }},
	{"the setter", func(k string) string { return "set" + strings.ToUpper(k[:1]) + k[1:] + "=/x" }},
	{"a prefix", func(k string) string { return "namesrvConfig." + k + "=/x" }},
	{"a system property", func(k string) string { return "-D" + k + "=/x" }},
	{"a mark of the byte order", func(k string) string { return "\ufeff" + k + "=/x" }},
	{"an escaped blank before", func(k string) string { return `\ ` + k + "=/x" }},
	{"an escaped blank behind", func(k string) string { return k + `\ =/x` }},
	{"an escaped blank by number", func(k string) string { return `\u0020` + k + "=/x" }},
	{"an escaped separator", func(k string) string { return k + `\==/x` }},
	{"a zero behind", func(k string) string { return k + "\x00=/x" }},
	{"an escaped zero behind", func(k string) string { return k + `\u0000=/x` }},
	{"a line end inside", func(k string) string { return k[:3] + `\n` + k[3:] + "=/x" }},
	{"a blank that is none of Java's", func(k string) string { return "\u00a0" + k + "\u2003=/x" }},
	{"a vertical tab", func(k string) string { return "\v" + k + "=/x" }},
	{"U for u", func(k string) string { return fmt.Sprintf(`\U%04x%s=/x`, k[0], k[1:]) }},
	{"an octal escape", func(k string) string { return fmt.Sprintf(`\%o%s=/x`, k[0], k[1:]) }},
	{"a letter in full width", func(k string) string { return string(rune(k[0])+0xfee0) + k[1:] + "=/x" }},
	{"a letter in two bytes too many", func(k string) string { return string([]byte{0xc0 | k[0]>>6, 0x80 | k[0]&0x3f}) + k[1:] + "=/x" }},
	{"a comment", func(k string) string { return "#" + k + "=/x" }},
	{"a line separator before", func(k string) string { return "a=1\u2028" + k + "=/x" }},
}

// TestKeysThatLookProtected: what only looks like a protected key is neither applied nor kept, so that no other reader of the file or
// of 319's answer can take it for the key.
func TestKeysThatLookProtected(t *testing.T) {
	s := start(t)
	c := s.dial()
	c.want(configure("waitSecondsForService=44"), "0")
	shown, file := c.call(ask(319)).String(), mustRead(t, s.configPath())
	for _, key := range protectedKeys {
		for _, like := range lookAlikes {
			body := like.entry(key)
			if a := c.call(configure(body)); a.code != 0 && a.code != 16 {
				t.Errorf("%s, %s: %q was answered %s", key, like.name, body, a)
			}
		}
	}
	s.wantConfig(c, shown, file)
}

// TestAbsurdValues: whatever 318 takes, for any key, the server goes on serving and can be started with what it has saved.
func TestAbsurdValues(t *testing.T) {
	s := start(t)
	c := s.dial()
	c.register(broker("a"))
	for _, key := range settings.Keys() {
		if key.Group == settings.ClientNetwork {
			continue
		}
		for _, value := range []string{
			"-1", "0", "1", "2147483647", "-2147483648", "4294967296", "9223372036854775807", "-9223372036854775808", "1e9", "0x10", "1_000", "٣", "true", "false", "null", "", "x",
			"../../x", "${user.home}", strings.Repeat("9", 400),
		} {
			before := c.call(ask(319)).String()
			a := c.call(configure(key.Name + "=" + value))
			if a.code != 0 {
				if after := c.call(ask(319)).String(); after != before {
					t.Errorf("%s=%.30s was answered %s and changed\n%s\nto\n%s", key.Name, value, a, before, after)
				}
				continue
			}
			if c.wantRoute("Base", "a{0=a:10911} 4/4/6/0"); t.Failed() {
				t.Fatalf("%s=%.30s stops the service", key.Name, value)
			}
			if _, err := os.Stat(s.configPath()); err != nil {
				continue // nothing has changed yet
			}
			if _, _, err := settings.Load(settings.Env{HomeDir: s.home}, s.configPath()); err != nil {
				t.Fatalf("%s=%.30s is saved and can't be read: %v", key.Name, value, err)
			}
		}
	}
	c.register(broker("b"))
	s.dial().wantRoute("Base", "a{0=a:10911} 4/4/6/0; b{0=b:10911} 4/4/6/0")
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
