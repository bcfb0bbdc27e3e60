package properties

import (
	"bufio"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"testing"
)

// latin1 gives the bytes of a text whose characters are all below 256.
func latin1(t *testing.T, s string) []byte {
	t.Helper()
	b := make([]byte, 0, len(s))
	for _, r := range s {
		if r > 0xFF {
			t.Fatalf("character %U is not ISO-8859-1", r)
		}
		b = append(b, byte(r))
	}
	return b
}

func parseAll(text []byte) (entries []Entry, err error) {
	err = Parse(text, func(e Entry) { entries = append(entries, e) })
	return entries, err
}

func asMap(entries []Entry) map[string]string {
	m := make(map[string]string, len(entries))
	for _, e := range entries {
		m[e.Key] = e.Value
	}
	return m
}

// withoutNothing leaves out an empty key of an empty value: the JDK finds one,
// depending on the line end, in a last line of a lone backslash; we find none.
func withoutNothing(m map[string]string) map[string]string {
	if m[""] == "" {
		delete(m, "")
	}
	return m
}

// TestParseLikeJDK compares with what java.util.Properties of JDK 17 read: a
// hand-made part and 300 random lines of the characters that matter.
func TestParseLikeJDK(t *testing.T) {
	f, err := os.Open("testdata/jdk17.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	cases := 0
	for lines := bufio.NewScanner(f); lines.Scan(); cases++ {
		var c struct {
			Text  string
			Error string
			Want  map[string]string
		}
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		entries, err := parseAll(latin1(t, c.Text))
		var syntax *SyntaxError
		switch {
		case c.Error != "" && !errors.As(err, &syntax):
			t.Errorf("%q: got %q, %v; the JDK says %s", c.Text, asMap(entries), err, c.Error)
		case c.Error == "" && (err != nil || !maps.Equal(withoutNothing(asMap(entries)), withoutNothing(c.Want))):
			t.Errorf("%q: got %q, %v; the JDK reads %q", c.Text, asMap(entries), err, c.Want)
		}
	}
	if cases < 400 {
		t.Fatalf("only %d cases", cases)
	}
}

func TestParseLines(t *testing.T) {
	const text = "# comment\n\na=1\r\nb=2\\\n  3\\\r\n  4\rc\n\\\nd=5\n"
	entries, err := parseAll([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	want := []Entry{{"a", "1", 3}, {"b", "234", 4}, {"c", "", 7}, {"d", "5", 9}}
	if len(entries) != len(want) {
		t.Fatalf("got %+v", entries)
	}
	for i := range want {
		if entries[i] != want[i] {
			t.Errorf("entry %d: got %+v, want %+v", i, entries[i], want[i])
		}
	}
}

func TestParseErrorLine(t *testing.T) {
	_, err := parseAll([]byte("a=1\n#\\u\nb=\\\n  \\u12x4\n"))
	var syntax *SyntaxError
	if !errors.As(err, &syntax) || syntax.Line != 3 {
		t.Fatalf("got %v, want a syntax error on line 3", err)
	}
}

var awkward = []string{
	"", "plain", " leading", "  two", "trailing ", "a b", "a=b", "=b", ":b", "#x", "!x", "a:b", `C:\dir\`, `\`, `\\`,
	"tab\there", "line\nkvConfigPath=/x", "cr\rx", "ff\fx", "\x00", "\x0b", "\x7f", "\u0085", "é", "中文", "😀z", "\\u0041", "a#b",
}

func TestAppendEntryReadsBack(t *testing.T) {
	for _, key := range awkward {
		for _, value := range awkward {
			line := AppendEntry(nil, key, value)
			text := append([]byte("before=1\n"), line...)
			text = append(text, "after=2\n"...)
			entries, err := parseAll(text)
			if err != nil || len(entries) != 3 || entries[1].Key != key || entries[1].Value != value {
				t.Errorf("%q=%q written as %q reads back as %+v, %v", key, value, line, entries, err)
			}
		}
	}
}
