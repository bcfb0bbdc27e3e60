package golden

import (
	"testing"

	"github.com/waymark-mq/waymark/codec"
)

func TestQuote(t *testing.T) {
	got := quote("a\"\\/<\b\f\n\r\t\x01\x1f\x7fé\u2028\U0001F600")
	want := `"a\"\\/<\b\f\n\r\t\u0001\u001f` + "\x7fé\u2028\U0001F600\""
	if got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestIntObject(t *testing.T) {
	entries := map[int64]string{10: "1", -1: "2", 0: "3", 2: "4"}
	if got, want := intObject(entries, codec.Legacy), `{-1:2,0:3,2:4,10:1}`; got != want {
		t.Errorf("legacy: got %s, want %s", got, want)
	}
	if got, want := intObject(entries, codec.Standard), `{"-1":2,"0":3,"2":4,"10":1}`; got != want {
		t.Errorf("standard: got %s, want %s", got, want)
	}
}

func TestEqualIgnoreCase(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"zone", "ZoNe", true},
		{"é", "É", true},
		{"ı", "i", true}, // both are I in upper case
		{"ß", "SS", false},
		{"a", "ab", false},
	} {
		if got := equalIgnoreCase(c.a, c.b); got != c.want {
			t.Errorf("%q and %q: %v", c.a, c.b, got)
		}
	}
}
