package codec

import (
	"encoding/binary"
	"fmt"
	"slices"
	"testing"
)

// binaryHeader is a header as a client of Apache's writes it.
func binaryHeader(h *Header) []byte { return appendRocketMQHeader(nil, h) }

func binaryRoute(topic string, opaque int32) *Header {
	return &Header{Code: 105, Version: 513, Opaque: opaque, ExtFields: []ExtField{
		{"acceptStandardJsonOnly", "true"}, {"topic", topic}, {"bname", "主"},
	}}
}

func learntBinary(t *testing.T, header []byte, field string) (*Shape, bool) {
	t.Helper()
	var c Command
	if err := c.Parse(Frame{Type: SerializeROCKETMQ, Header: header}); err != nil {
		t.Fatal(err)
	}
	s := new(Shape)
	return s, s.Learn(&c, slices.Clone(header), field)
}

func TestBinaryShapeRecognises(t *testing.T) {
	s, ok := learntBinary(t, binaryHeader(binaryRoute("TopicA", 17)), "topic")
	if !ok {
		t.Fatal("not learnt")
	}
	for _, topic := range []string{"TopicA", "B", "%RETRY%g", "主题", `a"b\c`, "topic", string(make([]byte, 3000))} {
		for _, opaque := range []int32{0, 17, -1, 1 << 30} {
			f := Frame{Type: SerializeROCKETMQ, Header: binaryHeader(binaryRoute(topic, opaque)), Body: []byte("body")}
			if !checkAlike(t, s, f) {
				t.Errorf("%.20q, opaque %d: not recognised", topic, opaque)
			}
		}
	}
}

func TestBinaryShapeDoesNotRecognise(t *testing.T) {
	header := func(change func(*Header)) []byte {
		h := binaryRoute("TopicA", 17)
		change(h)
		return binaryHeader(h)
	}
	plain := binaryHeader(binaryRoute("TopicA", 17))
	patched := func(at int, value uint32) []byte {
		b := slices.Clone(plain)
		binary.BigEndian.PutUint32(b[at:], value)
		return b
	}
	for name, h := range map[string][]byte{
		"code":           header(func(h *Header) { h.Code = 106 }),
		"version":        header(func(h *Header) { h.Version = 401 }),
		"language":       header(func(h *Header) { h.Language = 3 }),
		"one-way":        header(func(h *Header) { h.Flag = 2 }),
		"remark":         header(func(h *Header) { h.HasRemark, h.Remark = true, "r" }),
		"no topic":       header(func(h *Header) { h.ExtFields[1].Value = "" }),
		"not UTF-8":      header(func(h *Header) { h.ExtFields[1].Value = "a\xff" }),
		"another field":  header(func(h *Header) { h.ExtFields[0].Value = "false" }),
		"another name":   header(func(h *Header) { h.ExtFields[1].Name = "Topic" }),
		"a field more":   header(func(h *Header) { h.ExtFields = append(h.ExtFields, ExtField{"x", "y"}) }),
		"a field fewer":  header(func(h *Header) { h.ExtFields = h.ExtFields[:2] }),
		"bytes behind":   append(slices.Clone(plain), 0),
		"cut":            plain[:len(plain)-1],
		"no fields":      plain[:binaryExt],
		"short":          plain[:10],
		"empty":          nil,
		"ext too long":   patched(binaryExtLen, uint32(len(plain))),
		"ext negative":   patched(binaryExtLen, 1<<31),
		"value too long": patched(binaryExt+2+len("acceptStandardJsonOnly")+4+len("true")+2+len("topic"), 1<<20),
		"value negative": patched(binaryExt+2+len("acceptStandardJsonOnly")+4+len("true")+2+len("topic"), 1<<31),
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := learntBinary(t, plain, "topic")
			if s.Parse(new(Command), Frame{Type: SerializeROCKETMQ, Header: h}) {
				t.Error("recognised")
			}
			if s.Parse(new(Command), Frame{Type: SerializeJSON, Header: plain}) {
				t.Error("recognised in a JSON frame")
			}
		})
	}
}

func TestBinaryShapeIsNotLearnt(t *testing.T) {
	trailing := append(binaryHeader(binaryRoute("T", 1)), 1, 2, 3)
	for name, h := range map[string][]byte{
		"no field of the name":    binaryHeader(&Header{ExtFields: []ExtField{{"t", "x"}}}),
		"its value is null":       binaryHeader(&Header{ExtFields: []ExtField{{"topic", ""}}}),
		"remark":                  binaryHeader(&Header{HasRemark: true, Remark: "r", ExtFields: []ExtField{{"topic", "x"}}}),
		"bytes behind":            trailing,
		"a value that's no UTF-8": binaryHeader(&Header{ExtFields: []ExtField{{"topic", "x"}, {"y", "\xff"}}}),
	} {
		t.Run(name, func(t *testing.T) {
			if s, ok := learntBinary(t, h, "topic"); ok || s.Parse(new(Command), Frame{Type: SerializeROCKETMQ, Header: h}) {
				t.Error("learnt")
			}
		})
	}
}

// Of several fields of one name the last counts, and one without a name is none.
func TestBinaryShapeOfRepeatedFields(t *testing.T) {
	header := func(first, second string) []byte {
		return binaryHeader(&Header{Code: 105, ExtFields: []ExtField{{"topic", first}, {"", "nameless"}, {"topic", second}, {"z", "z"}}})
	}
	s, ok := learntBinary(t, header("a", "b"), "topic")
	if !ok {
		t.Fatal("not learnt")
	}
	for i, topic := range []string{"b", "c", "a longer one"} {
		if !checkAlike(t, s, Frame{Type: SerializeROCKETMQ, Header: header("a", topic)}) {
			t.Error(fmt.Sprint(i, " is not recognised"))
		}
	}
	if s.Parse(new(Command), Frame{Type: SerializeROCKETMQ, Header: header("b", "b")}) {
		t.Error("another first is recognised")
	}
}
