package excerpt

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestOf(t *testing.T) {
	for _, tt := range []struct {
		text string
		most int
		want string
	}{
		{"", 3, ""},
		{"abcdef", 6, "abcdef"},
		{"abcdef", 5, "ab…"},
		{"aüüü", 7, "aüüü"},
		{"aüüü", 6, "aü…"},
		{"aüüü", 5, "a…"},
		{"a😀😀", 8, "a😀…"},
		{"a😀😀", 7, "a…"},
		{"\x80\x80\x80\x80\x80\x80\x80\x80", 7, "\x80…"}, // no character begins there
		{"abcdef", 0, "…"},
	} {
		if got := Of(tt.text, tt.most); got != tt.want || got != Of([]byte(tt.text), tt.most) {
			t.Errorf("%q in %d: %q, want %q", tt.text, tt.most, got, tt.want)
		}
	}
	long := strings.Repeat("aüß😀", 100)
	for most := len(Mark); most < len(long)+2; most++ {
		if got := Of(long, most); len(got) > most || len(got) < min(most, len(long))-utf8.UTFMax || !utf8.ValidString(got) {
			t.Errorf("in %d: %d bytes", most, len(got))
		}
	}
}
