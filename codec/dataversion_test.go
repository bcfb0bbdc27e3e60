package codec

import (
	"errors"
	"testing"
)

const testNow = 1_700_000_123_456

func TestDataVersion(t *testing.T) {
	for _, tc := range []struct {
		name, in string
		want     DataVersion
		out      string
	}{
		{"5.x", `{"counter":3,"stateVersion":2,"timestamp":1700000000000}`, DataVersion{2, 1700000000000, 3, false},
			`{"counter":3,"stateVersion":2,"timestamp":1700000000000}`},
		{"4.9.x", `{"counter":3,"timestamp":1700000000000}`, DataVersion{0, 1700000000000, 3, false},
			`{"counter":3,"stateVersion":0,"timestamp":1700000000000}`},
		{"empty", `{}`, DataVersion{0, testNow, 0, false}, `{"counter":0,"stateVersion":0,"timestamp":1700000123456}`},
		{"counter is a string", `{"counter":"12","timestamp":1}`, DataVersion{0, 1, 12, false}, `{"counter":12,"stateVersion":0,"timestamp":1}`},
		{"counter is null", `{"counter":null,"stateVersion":-1,"timestamp":1}`, DataVersion{-1, 1, 0, true}, `{"stateVersion":-1,"timestamp":1}`},
		{"counter is null, then not", `{"counter":null,"counter":4,"timestamp":1}`, DataVersion{0, 1, 4, false}, `{"counter":4,"stateVersion":0,"timestamp":1}`},
		{"others are null", `{"stateVersion":null,"timestamp":null}`, DataVersion{}, `{"counter":0,"stateVersion":0,"timestamp":0}`},
		{"any order, blanks, unknown", " {\n\"x\":[{0:1}], \"timestamp\" : 9,\"counter\":1 }\n", DataVersion{0, 9, 1, false}, `{"counter":1,"stateVersion":0,"timestamp":9}`},
		{"limits", `{"counter":9223372036854775807,"stateVersion":-9223372036854775808,"timestamp":-1}`, DataVersion{-1 << 63, -1, 1<<63 - 1, false},
			`{"counter":9223372036854775807,"stateVersion":-9223372036854775808,"timestamp":-1}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := ParseDataVersion([]byte(tc.in), testNow)
			if err != nil || got != tc.want {
				t.Fatalf("got %+v, %v; want %+v", got, err, tc.want)
			}
			if out := string(got.Append(nil)); out != tc.out {
				t.Errorf("appended %s, want %s", out, tc.out)
			}
		})
	}
}

func TestDataVersionErrors(t *testing.T) {
	for _, in := range []string{"", " ", "[]", "x", `{"counter":1`, `{"counter":1}x`, `{"counter":9223372036854775808}`, `{"timestamp":true}`, `{"counter":{}}`} {
		if v, err := ParseDataVersion([]byte(in), testNow); err == nil || v != (DataVersion{}) {
			t.Errorf("%q: got %+v, %v", in, v, err)
		}
	}
	if _, err := ParseDataVersion([]byte("null"), testNow); !errors.Is(err, ErrNullBody) {
		t.Errorf("null: got %v, want ErrNullBody", err)
	}
}
