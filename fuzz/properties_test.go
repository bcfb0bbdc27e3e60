package fuzz

import (
	"strings"
	"testing"

	"github.com/waymark-mq/waymark/namesrv/settings/properties"
)

// FuzzProperties: what is read from a properties text is read again from what
// it is written as.
func FuzzProperties(f *testing.F) {
	for _, s := range []string{
		"", "plain", " leading", "  two", "trailing ", "a b", "a=b", "=b", ":b", "#x", "!x", "a:b", `C:\dir\`, `\`, `\\`,
		"tab\there", "line\nkvConfigPath=/x", "cr\rx", "ff\fx", "\x00", "\x0b", "\x7f", "\u0085", "é", "中文", "😀z", "\\u0041", "a#b",
	} {
		f.Add([]byte(s + "=" + s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		entries, err := parseProperties(text)
		if err != nil {
			return
		}
		lines := 1 + strings.Count(string(text), "\n") + strings.Count(string(text), "\r")
		var written []byte
		for _, e := range entries {
			if e.Line < 1 || e.Line > lines {
				t.Fatalf("%q: %+v of %d lines", text, e, lines)
			}
			written = properties.AppendEntry(written, e.Key, e.Value)
		}
		again, err := parseProperties(written)
		if err != nil || len(again) != len(entries) {
			t.Fatalf("%q written as %q: %v", text, written, err)
		}
		for i := range again {
			if again[i].Key != entries[i].Key || again[i].Value != entries[i].Value {
				t.Fatalf("%q: entry %d: %+v became %+v", text, i, entries[i], again[i])
			}
		}
	})
}

func parseProperties(text []byte) (entries []properties.Entry, err error) {
	err = properties.Parse(text, func(e properties.Entry) { entries = append(entries, e) })
	return entries, err
}
