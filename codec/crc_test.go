package codec

import "testing"

func TestBodyCRC(t *testing.T) {
	for _, tc := range []struct {
		name string
		body []byte
		want int32
	}{
		{"no body", nil, 0},
		{"empty body", []byte{}, 0},
		{"deflated, 4.9.x", deflated49, 578839853},
		{"deflated, 5.x", deflated5, 898196499},
		{"plain, 4.9.x", []byte(plain49), 1440912479},
		{"top bit goes", []byte("a"), 0xe8b7be43 & 0x7fffffff},
	} {
		if got := BodyCRC(tc.body); got != tc.want {
			t.Errorf("%s: got %d, want %d", tc.name, got, tc.want)
		}
	}
}
