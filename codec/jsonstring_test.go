package codec

import (
	"encoding/json"
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
