package codec

import (
	"bytes"
	"encoding/binary"
	"math"
	"strings"
	"testing"
)

// Frames as Apache's encoders write them.
func TestAppendFrame(t *testing.T) {
	request := Header{Code: 105, Opaque: 1, Version: 479, ExtFields: []ExtField{{"topic", "TopicA"}}}
	noTopic := Header{Code: 17, Flag: 1, Opaque: 1, Version: 479, Remark: "No topic", HasRemark: true}
	registered := Header{Flag: 1, Opaque: 1, Version: 479, ExtFields: []ExtField{{"haServerAddr", "h:2"}, {"masterAddr", "m:1"}}}
	for _, tc := range []struct {
		name   string
		header Header
		typ    SerializeType
		want   string // hex
	}{
		{"105 request, JSON", request, SerializeJSON, `00000084 00000080
			7b22636f6465223a3130352c226578744669656c6473223a7b22746f706963223a22546f70696341227d2c22666c6167223a302c
			226c616e6775616765223a224a415641222c226f7061717565223a312c2273657269616c697a655479706543757272656e74525043
			223a224a534f4e222c2276657273696f6e223a3437397d`},
		{"105 request, binary", request, SerializeROCKETMQ, `0000002a 01000026
			0069 00 01df 00000001 00000000 00000000 00000011 0005 746f706963 00000006 546f70696341`},
		{"code 17, JSON", noTopic, SerializeJSON, `00000078 00000074` + hexOf(
			`{"code":17,"flag":1,"language":"JAVA","opaque":1,"remark":"No topic","serializeTypeCurrentRPC":"JSON","version":479}`)},
		{"code 17, binary", noTopic, SerializeROCKETMQ, `00000021 0100001d 0011 00 01df 00000001 00000001 00000008 4e6f20746f706963 00000000`},
		{"103 answer, JSON", registered, SerializeJSON, `00000099 00000095` + hexOf(
			`{"code":0,"extFields":{"haServerAddr":"h:2","masterAddr":"m:1"},"flag":1,"language":"JAVA","opaque":1,"serializeTypeCurrentRPC":"JSON","version":479}`)},
		{"103 answer, binary", registered, SerializeROCKETMQ, `00000041 0100003d 0000 00 01df 00000001 00000001 00000000 00000028
			000c 686153657276657241646472 00000003 683a32   000a 6d617374657241646472 00000003 6d3a31`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			want := unhex(t, tc.want)
			if got := AppendFrame(nil, tc.typ, &tc.header, nil); !bytes.Equal(got, want) {
				t.Errorf("got  %x\nwant %x", got, want)
			}
		})
	}
}

func hexOf(s string) string {
	const digits = "0123456789abcdef"
	var b strings.Builder
	for _, c := range []byte(s) {
		b.WriteByte(digits[c>>4])
		b.WriteByte(digits[c&15])
	}
	return b.String()
}

func TestAppendJSONHeader(t *testing.T) {
	for _, tc := range []struct {
		name   string
		header Header
		want   string
	}{
		{"success", Header{Flag: 1, Opaque: 7, Version: 479}, `{"code":0,"flag":1,"language":"JAVA","opaque":7,"serializeTypeCurrentRPC":"JSON","version":479}`},
		{"empty ext fields", Header{ExtFields: []ExtField{}}, `{"code":0,"extFields":{},"flag":0,"language":"JAVA","opaque":0,"serializeTypeCurrentRPC":"JSON","version":0}`},
		{"empty remark", Header{HasRemark: true}, `{"code":0,"flag":0,"language":"JAVA","opaque":0,"remark":"","serializeTypeCurrentRPC":"JSON","version":0}`},
		{"remark not there", Header{Remark: "x"}, `{"code":0,"flag":0,"language":"JAVA","opaque":0,"serializeTypeCurrentRPC":"JSON","version":0}`},
		{"empty value", Header{ExtFields: []ExtField{{"a", ""}}}, `{"code":0,"extFields":{"a":""},"flag":0,"language":"JAVA","opaque":0,"serializeTypeCurrentRPC":"JSON","version":0}`},
		{"escapes", Header{Remark: "a\n\"主\"", HasRemark: true}, `{"code":0,"flag":0,"language":"JAVA","opaque":0,"remark":"a\n\"主\"","serializeTypeCurrentRPC":"JSON","version":0}`},
		{"unknown language", Header{Language: LanguageUnknown}, `{"code":0,"flag":0,"opaque":0,"serializeTypeCurrentRPC":"JSON","version":0}`},
		{"negative", Header{Code: -1, Flag: -2, Opaque: -3, Version: -4, Language: LanguageGo}, `{"code":-1,"flag":-2,"language":"GO","opaque":-3,"serializeTypeCurrentRPC":"JSON","version":-4}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f, err := ParseFrame(AppendFrame(nil, SerializeJSON, &tc.header, nil))
			if err != nil {
				t.Fatal(err)
			}
			if string(f.Header) != tc.want {
				t.Errorf("got  %s\nwant %s", f.Header, tc.want)
			}
		})
	}
}

func TestAppendRocketMQHeader(t *testing.T) {
	for _, tc := range []struct {
		name   string
		header Header
		want   wantCommand
	}{
		{"empty remark is null", Header{HasRemark: true}, wantCommand{}},
		{"empty ext fields are null", Header{ExtFields: []ExtField{}}, wantCommand{}},
		{"empty value is null", Header{ExtFields: []ExtField{{"a", ""}, {"b", "x"}}}, wantCommand{fields: map[string]string{"b": "x"}}},
		{"low 16 bits", Header{Code: 40000, Version: 65537}, wantCommand{code: 40000 - 65536, version: 1}},
		{"name too long", Header{ExtFields: []ExtField{{strings.Repeat("n", math.MaxInt16+1), "x"}, {"b", "y"}}}, wantCommand{fields: map[string]string{"b": "y"}}},
		{"longest name", Header{ExtFields: []ExtField{{strings.Repeat("n", math.MaxInt16), "x"}}}, wantCommand{fields: map[string]string{strings.Repeat("n", math.MaxInt16): "x"}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f, err := ParseFrame(AppendFrame(nil, SerializeROCKETMQ, &tc.header, nil))
			if err != nil {
				t.Fatal(err)
			}
			checkCommand(t, parseText(t, SerializeROCKETMQ, string(f.Header)), tc.want)
		})
	}
}

// A frame begun in the middle of a buffer, with a body.
func TestFinishFrame(t *testing.T) {
	for _, typ := range []SerializeType{SerializeJSON, SerializeROCKETMQ} {
		buffer := []byte("before")
		buffer = append(AppendFrameStart(buffer, typ, &Header{Code: 1, Version: ServerVersion}), "the body"...)
		buffer = FinishFrame(buffer, len("before"))
		if !bytes.HasPrefix(buffer, []byte("before")) {
			t.Fatal("what stood before is gone")
		}
		frame := buffer[len("before"):]
		if n, err := FrameLength(frame, DefaultMaxFrameBytes); err != nil || n != len(frame) {
			t.Fatalf("FrameLength = %d, %v, want %d", n, err, len(frame))
		}
		f, err := ParseFrame(frame)
		if err != nil || f.Type != typ || string(f.Body) != "the body" {
			t.Errorf("type %d: %v, body %q", typ, err, f.Body)
		}
	}
}

func TestAppendSuccessStart(t *testing.T) {
	for _, typ := range []SerializeType{SerializeJSON, SerializeROCKETMQ} {
		for _, opaque := range []int32{0, 7, -1, 123456, math.MaxInt32, math.MinInt32} {
			want := AppendFrameStart([]byte("x"), typ, &Header{Flag: FlagResponse, Opaque: opaque, Version: ServerVersion})
			if got := AppendSuccessStart([]byte("x"), typ, opaque); !bytes.Equal(got, want) {
				t.Errorf("type %d opaque %d:\ngot  %q\nwant %q", typ, opaque, got, want)
			}
		}
	}
}

// A header has 24 bits for its length; what is longer must not corrupt the stream.
func TestAppendFrameHeaderTooLong(t *testing.T) {
	for _, typ := range []SerializeType{SerializeJSON, SerializeROCKETMQ} {
		h := Header{Code: 17, Flag: 1, Opaque: 3, Version: ServerVersion, Remark: strings.Repeat("x", 1<<24), HasRemark: true}
		frame := AppendFrame(nil, typ, &h, []byte("body"))
		if int(binary.BigEndian.Uint32(frame))+lengthFieldBytes != len(frame) {
			t.Fatal("frame length is wrong")
		}
		f, err := ParseFrame(frame)
		if err != nil || string(f.Body) != "body" {
			t.Fatalf("body %q, %v", f.Body, err)
		}
		checkCommand(t, parseText(t, typ, string(f.Header)), wantCommand{code: 17, flag: 1, opaque: 3, version: ServerVersion})
		if !h.HasRemark {
			t.Error("the caller's header was changed")
		}
	}
}
