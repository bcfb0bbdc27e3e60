package codec

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestAppendString(t *testing.T) {
	for _, tc := range []struct{ name, in, want string }{
		{"empty", "", `""`},
		{"plain", "TopicA", `"TopicA"`},
		{"quote and backslash", `a"b\c`, `"a\"b\\c"`},
		{"slash is raw", "a/b", `"a/b"`},
		{"browser characters are raw", "<>&'", `"<>&'"`},
		{"short escapes", "\b\f\n\r\t", `"\b\f\n\r\t"`},
		{"other controls", "\x00\x01\x0b\x1f", "\"\\u0000\\u0001\\u000b\\u001f\""},
		{"0x7f to 0x9f are raw", "\x7f\u0080\u009f", "\"\x7f\u0080\u009f\""},
		{"line separators are raw", "\u2028\u2029", "\"\u2028\u2029\""},
		{"non-ASCII is raw", "主题😀", `"主题😀"`},
		{"replacement character", "\ufffd", `"` + "\ufffd" + `"`},
		{"invalid UTF-8", "a\xffb\xc3", `"a` + "\ufffd" + `b` + "\ufffd" + `"`},
		{"surrogate bytes", "\xed\xa0\x80", `"` + "\ufffd\ufffd\ufffd" + `"`},
		{"escape after non-ASCII", "主\n", `"主\n"`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := string(AppendString([]byte("x"), tc.in))
			if got != "x"+tc.want {
				t.Errorf("got %q, want %q", got[1:], tc.want)
			}
			if !json.Valid([]byte(got[1:])) {
				t.Errorf("%q is not JSON", got[1:])
			}
		})
	}
}

// Eight bytes are looked at together: what has to be escaped is, wherever it stands.
func TestAppendStringAtEveryPlace(t *testing.T) {
	const plain = "abcdefghijklmnopqrstuvwxyz{|}~ !#$%&'()*+"
	for length := range 26 {
		for at := range length {
			for _, special := range []string{`"`, `\`, "\n", "\x00", "\x1f", "\xff", "é", "主", "😀", "\x7f"} {
				s := plain[:at] + special + plain[at:length]
				want := strings.NewReplacer(`"`, `\"`, `\`, `\\`, "\n", `\n`, "\x00", `\u0000`, "\x1f", `\u001f`, "\xff", "\ufffd").Replace(s)
				if got := string(AppendString(nil, s)); got != `"`+want+`"` {
					t.Fatalf("%q: got %s, want %s", s, got, want)
				}
			}
		}
	}
}
