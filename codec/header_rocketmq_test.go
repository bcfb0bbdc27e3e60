package codec

import (
	"errors"
	"strings"
	"testing"
)

// fixed is a binary header of code 105, JAVA, version 479, opaque 1, flag 0 up to its remark.
const fixed = "0069 00 01df 00000001 00000000 "

func TestRocketMQHeaderAccepted(t *testing.T) {
	const topicField = "0005 746f706963 00000006 546f70696341 "
	base := wantCommand{code: 105, opaque: 1, version: 479}
	with := func(change func(w *wantCommand)) wantCommand {
		w := base
		change(&w)
		return w
	}
	fields := func(kv ...string) wantCommand {
		return with(func(w *wantCommand) {
			w.fields = map[string]string{}
			for i := 0; i < len(kv); i += 2 {
				w.fields[kv[i]] = kv[i+1]
			}
		})
	}
	for _, tc := range []struct {
		name, header string
		want         wantCommand
	}{
		{"fixed part alone", fixed + "00000000 00000000", base},
		{"a field", fixed + "00000000 00000011" + topicField, fields("topic", "TopicA")},
		{"remark", fixed + "00000002 6869 00000000", with(func(w *wantCommand) { w.remark = text("hi") })},
		{"all numbers negative", "9c00 00 ffff ffffffff fffffffe 00000000 00000000", wantCommand{code: -25600, version: -1, opaque: -1, flag: -2}},
		{"language Go", "0069 09 01df 00000001 00000000 00000000 00000000", with(func(w *wantCommand) { w.language = LanguageGo })},
		{"language unknown", "0069 0e 01df 00000001 00000000 00000000 00000000", with(func(w *wantCommand) { w.language = LanguageUnknown })},
		{"language 255", "0069 ff 01df 00000001 00000000 00000000 00000000", with(func(w *wantCommand) { w.language = LanguageUnknown })},
		{"empty value is null", fixed + "00000000 0000000b 0005 746f706963 00000000", fields()},
		{"empty name is null", fixed + "00000000 00000009 0000 00000003 616263", fields()},
		{"null after a value", fixed + "00000000 0000001c" + topicField + "0005 746f706963 00000000", fields()},
		{"repeated name", fixed + "00000000 0000001d" + topicField + "0005 746f706963 00000001 58", fields("topic", "X")},
		{"negative extLen", fixed + "00000000 ffffffff", base},
		{"extLen zero, then bytes", fixed + "00000000 00000000 0102", base},
		{"bytes left over", fixed + "00000000 00000011" + topicField + "6162", fields("topic", "TopicA")},
		{"remark not UTF-8", fixed + "00000003 61ff62 00000000", with(func(w *wantCommand) { w.remark = text("a\ufffdb") })},
		{"value not UTF-8", fixed + "00000000 0000000d 0001 61 00000006 c3e4b8f09f98", fields("a", "\ufffd\ufffd\ufffd")},
		{"name not UTF-8", fixed + "00000000 00000008 0001 fe 00000001 62", fields("\ufffd", "b")},
	} {
		t.Run(tc.name, func(t *testing.T) {
			checkCommand(t, parseText(t, SerializeROCKETMQ, string(unhex(t, tc.header))), tc.want)
		})
	}
}

func TestRocketMQHeaderRefused(t *testing.T) {
	tooMany := string(unhex(t, fixed+"00000000")) + "\x00\x00\x08\x08" + strings.Repeat("\x00\x01a\x00\x00\x00\x01b", MaxExtFields+1)
	for _, tc := range []struct {
		name, header string
		err          error
	}{
		{"empty", "", ErrHeaderLength},
		{"20 bytes", "0069 00 01df 00000001 00000000 00000000 000000", ErrHeaderLength},
		{"negative remarkLen", fixed + "ffffffff 00000000", ErrHeaderLength},
		{"remarkLen past the header", fixed + "00000010 00000000", ErrHeaderLength},
		{"no room for extLen after the remark", fixed + "00000001 00000000", ErrHeaderLength},
		{"extLen past the header", fixed + "00000000 00000012 0005 746f706963 00000006 546f70696341", ErrHeaderLength},
		{"greatest extLen", fixed + "00000000 7fffffff 00", ErrHeaderLength},
		{"negative keyLen", fixed + "00000000 00000006 ffff 00000000", ErrHeaderLength},
		{"negative valueLen", fixed + "00000000 00000007 0001 61 ffffffff", ErrHeaderLength},
		{"valueLen past extLen", fixed + "00000000 00000008 0001 61 00000002 62 63", ErrHeaderLength},
		{"keyLen past extLen", fixed + "00000000 00000003 0002 61 62 00000000", ErrHeaderLength},
		{"entry of one byte", fixed + "00000000 00000001 00", ErrHeaderLength},
		{"valueLen cut off", fixed + "00000000 00000005 0001 61 0000", ErrHeaderLength},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var c Command
			err := c.Parse(Frame{Type: SerializeROCKETMQ, Header: unhex(t, tc.header)})
			if !errors.Is(err, tc.err) {
				t.Errorf("error %v, want %v", err, tc.err)
			}
		})
	}
	t.Run("too many fields", func(t *testing.T) {
		var c Command
		if err := c.Parse(Frame{Type: SerializeROCKETMQ, Header: []byte(tooMany)}); !errors.Is(err, ErrHeaderFields) {
			t.Errorf("error %v, want %v", err, ErrHeaderFields)
		}
	})
}

// As many U+FFFD as Java's decoder gives.
func TestReplaceInvalid(t *testing.T) {
	const r = "\ufffd"
	for _, tc := range []struct{ name, text, want string }{
		{"valid", "aé主😀", "aé主😀"},
		{"a genuine one", "a\ufffd", "a\ufffd"},
		{"stray continuation", "a\x80b", "a" + r + "b"},
		{"two of them", "\x80\xbf", r + r},
		{"two bytes cut off", "\xc3", r},
		{"two bytes broken", "\xc3a", r + "a"},
		{"overlong two", "\xc0\x80", r + r},
		{"three bytes cut off after two", "\xe4\xb8", r},
		{"three bytes broken after two", "\xe4\xb8a", r + "a"},
		{"three bytes broken after one", "\xe4a", r + "a"},
		{"overlong three", "\xe0\x80\x80", r + r + r},
		{"surrogate", "\xed\xa0\x80a", r + "a"},
		{"four bytes cut off after three", "\xf0\x9f\x98", r},
		{"four bytes broken after two", "\xf0\x9fa", r + "a"},
		{"overlong four", "\xf0\x80\x80\x80", r + r + r + r},
		{"past the last character", "\xf4\x90\x80\x80", r + r + r + r},
		{"never in UTF-8", "\xf5\xff", r + r},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var c Command
			if got := string(c.replaceInvalid([]byte(tc.text))); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}
