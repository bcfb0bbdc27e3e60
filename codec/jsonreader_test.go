package codec

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
)

func TestReaderString(t *testing.T) {
	for _, tc := range []struct{ name, in, want string }{
		{"empty", `""`, ""},
		{"plain", `"abc"`, "abc"},
		{"blanks before", " \t\r\n\"a\"", "a"},
		{"all escapes", `"\"\\\/\b\f\n\r\t"`, "\"\\/\b\f\n\r\t"},
		{"unicode", `"\u0041\u4e3B"`, "A主"},
		{"pair", `"\ud83d\ude00"`, "😀"},
		{"high half alone", `"\ud83dx"`, "\ufffdx"},
		{"high half twice", `"\ud83d\ud83d\ude00"`, "\ufffd😀"},
		{"low half alone", `"\ude00"`, "\ufffd"},
		{"raw control", "\"a\nb\"", "a\nb"},
		{"raw non-ASCII", `"主"`, "主"},
		{"invalid UTF-8", "\"a\xffb\"", "a\ufffdb"},
		{"invalid UTF-8 and escape", "\"\\n\xff\"", "\n\ufffd"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := jsonReader{b: []byte(tc.in)}
			got := string(r.str())
			if err := r.finish(); err != nil || got != tc.want {
				t.Errorf("got %q, %v; want %q", got, err, tc.want)
			}
		})
	}
	for _, in := range []string{``, `a`, `"`, `"a`, `"\`, `"\"`, `"\x41"`, `"\u12"`, `"\u12g4"`, `"\u123`, `'a'`} {
		t.Run("bad "+in, func(t *testing.T) {
			r := jsonReader{b: []byte(in)}
			if r.str(); r.finish() == nil {
				t.Error("no error")
			}
		})
	}
}

func TestReaderStringAliases(t *testing.T) {
	in := []byte(`"abc"`)
	r := jsonReader{b: in}
	s := r.str()
	if in[1] = 'x'; string(s) != "xbc" {
		t.Errorf("got %q, want the input's own bytes", s)
	}
}

func TestReaderInteger(t *testing.T) {
	for _, tc := range []struct {
		in   string
		want int64
	}{
		{"0", 0}, {"-0", 0}, {"7", 7}, {"-7", -7}, {"007", 7}, {`"12"`, 12}, {`"-12"`, -12}, {`"+12"`, 12},
		{"null", 0}, {"5.0", 5}, {"5.7", 5}, {"-5.7", -5}, {"1.5e3", 1500}, {"1E2", 100}, {`"5.0"`, 5},
		{"9223372036854775807", math.MaxInt64}, {"-9223372036854775808", math.MinInt64},
	} {
		t.Run(tc.in, func(t *testing.T) {
			r := jsonReader{b: []byte(tc.in)}
			got := r.int64()
			if err := r.finish(); err != nil || got != tc.want {
				t.Errorf("got %d, %v; want %d", got, err, tc.want)
			}
		})
	}
	for _, in := range []string{
		"", "-", "+1", ".5", "5.", "1e", "1e+", "1x", "true", "{}", "[]", `""`, `" 1"`, `"1 "`, `"x"`, `"0x10"`, `"inf"`, `"nan"`, `"1_0"`, `"-"`,
		"9223372036854775808", "-9223372036854775809", "99999999999999999999999", "1e19", "-1e19", "1e999",
	} {
		t.Run("bad "+in, func(t *testing.T) {
			r := jsonReader{b: []byte(in)}
			if v := r.int64(); r.finish() == nil {
				t.Errorf("got %d and no error", v)
			}
		})
	}
}

func TestReaderInt32Range(t *testing.T) {
	for in, ok := range map[string]bool{
		"2147483647": true, "-2147483648": true, "2147483648": false, "-2147483649": false, `"2147483648"`: false,
	} {
		r := jsonReader{b: []byte(in)}
		if r.int32(); (r.finish() == nil) != ok {
			t.Errorf("%s: %v", in, r.err)
		}
	}
}

func TestReaderBoolean(t *testing.T) {
	for in, want := range map[string]bool{"true": true, `"true"`: true, "false": false, "null": false, `"no"`: false} {
		r := jsonReader{b: []byte(in)}
		if got := r.boolean(); r.finish() != nil || got != want {
			t.Errorf("%s: got %v, %v", in, got, r.err)
		}
	}
	r := jsonReader{b: []byte("1")}
	if r.boolean(); r.finish() == nil {
		t.Error("1 is no boolean")
	}
}

func skipAll(in string) error {
	r := jsonReader{b: []byte(in)}
	r.skip()
	return r.finish()
}

func TestReaderSkip(t *testing.T) {
	accepted := []string{
		`1`, `-1.5e+3`, `"a"`, `true`, `false`, `null`, `{}`, `[]`, ` [ ] `, `{"a":[1,{"b":null}],"c":{}}`, `[[],[[]],{}]`,
		`{"a":"}"}`, `["]"]`, `{"k":"v]\"{"}`, "[1]\n\t ",
	}
	for _, in := range accepted {
		if err := skipAll(in); err != nil || !json.Valid([]byte(in)) {
			t.Errorf("%s: %v", in, err)
		}
	}
	for _, in := range []string{`{0:1}`, `{-1:{2:"a"}, 3:4}`, `[{0:[]}]`} { // beyond standard JSON
		if err := skipAll(in); err != nil {
			t.Errorf("%s: %v", in, err)
		}
	}
	for _, in := range []string{
		``, ` `, `{`, `[`, `}`, `]`, `[}`, `{]`, `[1`, `[1,`, `[1,]`, `[,1]`, `[1 2]`, `{"a"`, `{"a":`, `{"a":1`, `{"a":1,`, `{"a":1,}`, `{,}`, `{"a" 1}`,
		`{"a":}`, `{a:1}`, `{-:1}`, `{1.5:1}`, `{true:1}`, `{null:1}`, `nul`, `truex`, `tru`, `falsE`, `1 2`, `{} {}`, `[]]`, `"a" b`, `- 1`, `--1`, `0x1`,
		"\ufeff{}", `[{"a":[}]`,
	} {
		if skipAll(in) == nil {
			t.Errorf("%s: no error", in)
		}
	}
}

func TestReaderSkipDepth(t *testing.T) {
	nested := func(n int) string { return strings.Repeat(`[{"a":`, n/2) + "1" + strings.Repeat("}]", n/2) }
	if err := skipAll(nested(maxJSONDepth)); err != nil {
		t.Errorf("depth %d: %v", maxJSONDepth, err)
	}
	if skipAll(nested(maxJSONDepth+2)) == nil {
		t.Errorf("depth %d: no error", maxJSONDepth+2)
	}
	if skipAll(strings.Repeat("[", 1<<20)) == nil {
		t.Error("1 MiB of '[': no error")
	}
}

func TestReaderRoot(t *testing.T) {
	for in, want := range map[string]error{"null": ErrNullBody, " null\n": ErrNullBody, "{": nil, "{}": nil} {
		r := jsonReader{b: []byte(in)}
		if r.root(); !errors.Is(r.err, want) {
			t.Errorf("%s: got %v, want %v", in, r.err, want)
		}
	}
	for _, in := range []string{"", "[]", `"a"`, "1", "x", "nul"} {
		r := jsonReader{b: []byte(in)}
		if r.root() || r.err == nil || errors.Is(r.err, ErrNullBody) {
			t.Errorf("%q: %v", in, r.err)
		}
	}
}

// The first error must stand, whatever is asked of the reader afterwards.
func TestReaderErrorSticks(t *testing.T) {
	r := jsonReader{b: []byte(`{"a":x,"b":[1]}`)}
	r.root()
	r.member()
	r.int32()
	first := r.err
	if _, ok := r.member(); ok {
		t.Error("a member after an error")
	}
	if r.skip(); r.open('[') || r.element() || r.null() || r.boolean() || r.int64() != 0 || len(bytes.TrimSpace(r.str())) != 0 {
		t.Error("a value after an error")
	}
	if first == nil || r.finish() != first {
		t.Errorf("got %v, want %v", r.finish(), first)
	}
}
