package fuzz

import (
	"testing"
	"unicode/utf8"

	"github.com/waymark-mq/waymark/codec"
)

// FuzzBinaryHeader: no header upsets the scanner; what it accepts is UTF-8 and
// says the same after it was written and read again.
func FuzzBinaryHeader(f *testing.F) {
	for _, h := range []codec.Header{
		{},
		{Code: 105, Opaque: 1, Version: 479, ExtFields: []codec.ExtField{{Name: "topic", Value: "TopicA"}}},
		{Code: -1, Flag: -1, Opaque: -1, Version: -1, Language: codec.LanguageGo, Remark: "r", HasRemark: true},
		{ExtFields: []codec.ExtField{{Name: "a", Value: "\xff\xe4\xb8"}, {Name: "a", Value: ""}, {Name: "", Value: "x"}}},
	} {
		frame, err := codec.ParseFrame(codec.AppendFrame(nil, codec.SerializeROCKETMQ, &h, nil))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(frame.Header)
	}
	f.Fuzz(func(t *testing.T, header []byte) {
		c, err := parseHeader(t, codec.SerializeROCKETMQ, header)
		if err != nil {
			return
		}
		h := headerOf(c)
		valid := utf8.ValidString(h.Remark)
		for _, field := range h.ExtFields {
			valid = valid && utf8.ValidString(field.Name) && utf8.ValidString(field.Value)
		}
		if !valid {
			t.Fatalf("text that is not UTF-8: %+v", h)
		}
		checkSame(t, sent(t, codec.SerializeROCKETMQ, h), asBinary(h), false)
	})
}
