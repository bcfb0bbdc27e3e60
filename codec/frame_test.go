package codec

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"math"
	"strings"
	"testing"
)

// unhex decodes hex that may be spaced.
func unhex(t testing.TB, text string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.Join(strings.Fields(text), ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestFrameLength(t *testing.T) {
	const limit = DefaultMaxFrameBytes
	for _, tc := range []struct {
		name   string
		length int32
		max    int
		want   int
		err    error
	}{
		{"zero", 0, limit, 0, ErrFrameShort},
		{"three", 3, limit, 0, ErrFrameShort},
		{"minus one", -1, limit, 0, ErrFrameShort},
		{"least int32", math.MinInt32, limit, 0, ErrFrameShort},
		{"no header and no body", 4, limit, 8, nil},
		{"a small one", 0x84, limit, 0x88, nil},
		{"the longest", 16777212, limit, 16777216, nil},
		{"one more", 16777213, limit, 0, ErrFrameLong},
		{"greatest int32", math.MaxInt32, limit, 0, ErrFrameLong},
		{"greatest int32, limit too", math.MaxInt32, math.MaxInt32, 0, ErrFrameLong},
		{"own limit", 96, 100, 100, nil},
		{"over own limit", 97, 100, 0, ErrFrameLong},
		{"HTTP", int32(binary.BigEndian.Uint32([]byte("GET "))), limit, 0, ErrFrameLong},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := FrameLength(binary.BigEndian.AppendUint32(nil, uint32(tc.length)), tc.max)
			if got != tc.want || !errors.Is(err, tc.err) {
				t.Errorf("FrameLength = %d, %v, want %d, %v", got, err, tc.want, tc.err)
			}
		})
	}
}

func TestParseFrame(t *testing.T) {
	for _, tc := range []struct {
		name         string
		frame        string
		typ          SerializeType
		header, body string
		err          error
	}{
		{"JSON without body", "00000006 00 000002 7b7d", SerializeJSON, "{}", "", nil},
		{"JSON with body", "00000008 00 000002 7b7d 6869", SerializeJSON, "{}", "hi", nil},
		{"binary", "00000006 01 000001 58 59", SerializeROCKETMQ, "X", "Y", nil},
		{"nothing in it", "00000004 00 000000", SerializeJSON, "", "", nil},
		{"body alone", "00000005 00 000000 58", SerializeJSON, "", "X", nil},
		{"header one byte too long", "00000006 00 000003 7b7d", 0, "", "", ErrFrameHeaderLength},
		{"header of 16 MiB", "00000006 00 ffffff 7b7d", 0, "", "", ErrFrameHeaderLength},
		{"type 2", "00000006 02 000002 7b7d", 0, "", "", ErrFrameType},
		{"type 255", "00000006 ff 000002 7b7d", 0, "", "", ErrFrameType},
		{"part of a frame", "00000006 00 000002 7b", 0, "", "", ErrFrameTruncated},
		{"more than a frame", "00000006 00 000002 7b7d 00", 0, "", "", ErrFrameTruncated},
		{"less than a prefix", "00000003 00 0000", 0, "", "", ErrFrameTruncated},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f, err := ParseFrame(unhex(t, tc.frame))
			if !errors.Is(err, tc.err) {
				t.Fatalf("error %v, want %v", err, tc.err)
			}
			if f.Type != tc.typ || string(f.Header) != tc.header || string(f.Body) != tc.body {
				t.Errorf("got %d %q %q", f.Type, f.Header, f.Body)
			}
			if tc.body == "" && f.Body != nil {
				t.Error("an empty body is not nil")
			}
		})
	}
}

func TestCheckFrameStart(t *testing.T) {
	for _, tt := range []struct {
		b    string
		want error
	}{
		{"", nil},
		{"\xff\xff\xff\xff\xff\xff\xff", nil},
		{"\x00\x00\x00\x06\x00\x00\x00\x02", nil},
		{"\x00\x00\x00\x06\x01\x00\x00\x02", nil},
		{"\x00\x00\x00\x06\x00\x00\x00\x01", nil},
		{"\x00\x00\x00\x06\x00\x00\x00\x03", ErrFrameHeaderLength},
		{"\x00\x00\x00\x06\x00\x00\x00\x00", ErrFrameHeaderLength},
		{"\x00\x00\x00\x06\x00\xff\xff\xff", ErrFrameHeaderLength},
		{"\x00\x00\x00\x06\x02\x00\x00\x02", ErrFrameType},
		{"\x00\x00\x00\x06\xff\x00\x00\x02", ErrFrameType},
	} {
		if err := CheckFrameStart([]byte(tt.b)); err != tt.want {
			t.Errorf("%q: %v, want %v", tt.b, err, tt.want)
		}
	}
	for _, kind := range []SerializeType{SerializeJSON, SerializeROCKETMQ} { // an empty header is none of either form
		if err := new(Command).Parse(Frame{Type: kind}); err == nil {
			t.Errorf("header type %d: an empty header is one", kind)
		}
	}
}
