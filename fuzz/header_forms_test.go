package fuzz

import (
	"math"
	"testing"
	"unicode/utf8"

	"github.com/waymark-mq/waymark/codec"
)

// FuzzHeaderForms: a header sent in both forms arrives as the same, but for
// empty text, which the binary form can't tell from null.
func FuzzHeaderForms(f *testing.F) {
	f.Add(int16(105), int32(0), int32(1), int16(513), byte(0), "", false, true, "topic", "TopicA", "", "")
	f.Add(int16(17), int32(1), int32(-1), int16(-1), byte(9), "No topic\n\"主题\"", true, false, "", "", "", "")
	f.Add(int16(103), int32(2), int32(math.MaxInt32), int16(401), byte(13), "", true, true, "brokerId", "0", "brokerName", "😀\x00\x7f")
	f.Fuzz(func(t *testing.T, code int16, flag, opaque int32, version int16, language byte, remark string, hasRemark, hasFields bool, name1, value1, name2, value2 string) {
		h := codec.Header{
			Code: int32(code), Flag: flag, Opaque: opaque, Version: int32(version),
			Language: codec.Language(language % (byte(codec.LanguageNodeJS) + 1)), Remark: remark, HasRemark: hasRemark,
		}
		if hasFields {
			h.ExtFields = []codec.ExtField{{Name: name1, Value: value1}}
			if name2 != name1 {
				h.ExtFields = append(h.ExtFields, codec.ExtField{Name: name2, Value: value2})
			}
		}
		for _, s := range []string{remark, name1, value1, name2, value2} {
			if !utf8.ValidString(s) || len(s) > math.MaxInt16 {
				t.Skip("not what a header may hold")
			}
		}
		viaJSON := sent(t, codec.SerializeJSON, h)
		checkSame(t, viaJSON, h, true)
		checkSame(t, sent(t, codec.SerializeROCKETMQ, h), asBinary(viaJSON), false)
	})
}
