package codec

import (
	"testing"

	"github.com/waymark-mq/waymark/internal/raceflag"
)

// Nothing on the way of a request through this package may allocate once the
// buffers have grown.
func TestNoAllocations(t *testing.T) {
	if raceflag.Enabled {
		t.Skip("the race detector allocates")
	}
	check := func(name string, run func()) {
		t.Helper()
		run()
		if n := testing.AllocsPerRun(100, run); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
	var c Command
	parse := func(frame []byte) func() {
		return func() {
			n, err := FrameLength(frame, DefaultMaxFrameBytes)
			if err != nil {
				t.Fatal(err)
			}
			f, err := ParseFrame(frame[:n])
			if err != nil {
				t.Fatal(err)
			}
			if err := c.Parse(f); err != nil {
				t.Fatal(err)
			}
		}
	}
	text := func(header string) []byte {
		frame := append(make([]byte, framePrefixBytes), header...)
		setHeaderLength(frame)
		return FinishFrame(frame, 0)
	}
	check("JSON", parse(recordedFrame(t, "java-5.5.0-105")))
	check("JSON, many fields", parse(recordedFrame(t, "broker-4.9.7-103-deflated")))
	check("JSON, escapes", parse(text(`{"code":105,"extFields":{"topic":"\u4e3b\"\u9898","\u0061":"\n"},"remark":"a\tb"}`)))
	check("JSON, careless", parse(text(`{"code":"105","opaque":5.7,"x":{"y":[1,"\n"]},"extFields":{"topic":1.5,"b":true,"c":{"d":[ 1 ]}}}`)))
	check("JSON, exponent", parse(text(`{"code":1.05e2}`)))
	check("binary", parse(recordedFrame(t, "java-5.5.0-105-binary")))
	check("binary, many fields", parse(recordedFrame(t, "broker-5.5.0-104-binary")))
	check("binary, not UTF-8", parse(AppendFrame(nil, SerializeROCKETMQ, &Header{ExtFields: []ExtField{{"topic", "a\xffb"}}}, nil)))

	refused := Frame{Header: []byte(`{"code":`)}
	check("refused", func() {
		if c.Parse(refused) == nil {
			t.Fatal("accepted")
		}
	})

	parse(text(`{"extFields":{"topic":"TopicA","id":"-12","bad":"12x","acting":"TRUE"}}`))()
	check("Field", func() { c.Field("topic"); c.Field("missing") })
	check("Int64", func() { c.Int64("id"); c.Int64("bad"); c.Int32("id") })
	check("Bool", func() { c.Bool("acting"); c.Bool("topic") })
	sum := 0
	check("Each", func() { c.Each(func(name, value []byte) { sum += len(name) + len(value) }) })

	dst := make([]byte, 0, 512)
	check("AppendSuccessStart, JSON", func() { dst = AppendSuccessStart(dst[:0], SerializeJSON, -123456) })
	check("AppendSuccessStart, binary", func() { dst = AppendSuccessStart(dst[:0], SerializeROCKETMQ, -123456) })
	h := Header{Code: 17, Flag: FlagResponse, Version: ServerVersion, Remark: "No topic\n", HasRemark: true, ExtFields: []ExtField{{"a", "b"}}}
	check("AppendFrame, JSON", func() { dst = AppendFrame(dst[:0], SerializeJSON, &h, nil) })
	check("AppendFrame, binary", func() { dst = AppendFrame(dst[:0], SerializeROCKETMQ, &h, nil) })
}
