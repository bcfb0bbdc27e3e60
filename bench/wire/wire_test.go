package wire

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/waymark-mq/waymark/codec"
)

func encodeTopics(header codec.SerializeType, n int) *Frames {
	return Encode(header, n, func(i int) *codec.Header {
		return &codec.Header{Code: codec.RequestGetRouteInfoByTopic, Version: 513, ExtFields: []codec.ExtField{{Name: "topic", Value: fmt.Sprintf("T%d", i*7)}}}
	})
}

// TestFramesAreTheCodecs compares with a frame that is encoded as a whole.
func TestFramesAreTheCodecs(t *testing.T) {
	for _, header := range []codec.SerializeType{codec.SerializeJSON, codec.SerializeROCKETMQ} {
		frames := encodeTopics(header, 20)
		if frames.Len() != 20 {
			t.Fatal(frames.Len())
		}
		for i := range 20 {
			opaque := Opaque(uint64(i) * 123_456_789)
			got := frames.Append([]byte("before"), i, opaque)
			want := codec.AppendFrame([]byte("before"), header, &codec.Header{Code: 105, Opaque: opaque, Version: 513,
				ExtFields: []codec.ExtField{{Name: "topic", Value: fmt.Sprintf("T%d", i*7)}}}, nil)
			if !bytes.Equal(got, want) {
				t.Errorf("header %d request %d:\n got %q\nwant %q", header, i, got, want)
			}
		}
	}
}

func TestOpaqueHasNineDigits(t *testing.T) {
	for _, n := range []uint64{0, 1, opaques - 1, opaques, 1 << 63} {
		if o := Opaque(n); o < 100_000_000 || o > 999_999_999 {
			t.Errorf("opaque %d of request %d", o, n)
		}
	}
}

func answerFrame(header codec.SerializeType, code, opaque int32, remark string, body int) []byte {
	return codec.AppendFrame(nil, header, &codec.Header{Code: code, Opaque: opaque, Flag: codec.FlagResponse, Version: 513,
		Remark: remark, HasRemark: remark != ""}, make([]byte, body))
}

// TestStreamCutAnywhere feeds answers in pieces of every size.
func TestStreamCutAnywhere(t *testing.T) {
	var stream []byte
	var want []Answer
	add := func(header codec.SerializeType, code, opaque int32, remark string, body int) {
		f := answerFrame(header, code, opaque, remark, body)
		stream = append(stream, f...)
		want = append(want, Answer{code, opaque, len(f)})
	}
	add(codec.SerializeJSON, 0, Opaque(1), "", 300)
	add(codec.SerializeROCKETMQ, 17, 5, `no "code":4 of "opaque":9`, 0)
	add(codec.SerializeJSON, 17, -12, `no "code":4 of "opaque":9`, 0)
	stream = append(stream, codec.AppendFrame(nil, codec.SerializeJSON, &codec.Header{Code: 905, Opaque: 3}, []byte("{}"))...)
	add(codec.SerializeROCKETMQ, 0, -1, "", 5000)
	add(codec.SerializeJSON, 0, 0, "", 0)
	for size := 1; size <= len(stream); size++ {
		var s Stream
		var got []Answer
		for b := stream; len(b) > 0; {
			piece := b[:min(size, len(b))]
			b = b[len(piece):]
			for {
				a, rest, ok, err := s.Next(piece)
				if err != nil {
					t.Fatal(err)
				}
				if !ok {
					break
				}
				got = append(got, a)
				piece = rest
			}
		}
		if fmt.Sprint(got) != fmt.Sprint(want) || s.Pushed != 1 || s.rest != 0 {
			t.Fatalf("pieces of %d bytes: %v, %d pushed", size, got, s.Pushed)
		}
	}
}

func TestStreamKeepsNoBody(t *testing.T) {
	var s Stream
	f := answerFrame(codec.SerializeJSON, 0, 1, "", 1<<20)
	for cut := range 20 {
		if _, _, ok, err := s.Next(f[cut*1000 : cut*1000+1000]); ok || err != nil {
			t.Fatal(ok, err)
		}
	}
	if s.rest != len(f)-20_000 || cap(s.head) > 1000 {
		t.Errorf("%d bytes to come, %d kept", s.rest, cap(s.head))
	}
}

func TestStreamRefusesOtherProtocols(t *testing.T) {
	for _, text := range []string{"HTTP/1.1 400 Bad Request\r\n", "\x00\x00\x00\x03\x00\x00\x00\x00", "\x00\x00\x00\x09\x05\x00\x00\x01x    ", "\x00\x00\x00\x04\x00\x00\x00\x00"} {
		var s Stream
		if _, _, ok, err := s.Next([]byte(text)); ok || !errors.Is(err, ErrFrame) {
			t.Errorf("%q: %v, %v", text, ok, err)
		}
		var slow Stream
		var err error
		for i := 0; i < len(text) && err == nil; i++ {
			_, _, _, err = slow.Next([]byte(text[i : i+1]))
		}
		if !errors.Is(err, ErrFrame) {
			t.Errorf("%q byte by byte: %v", text, err)
		}
	}
}
