package fuzz

import (
	"testing"

	"github.com/waymark-mq/waymark/codec"
)

// FuzzHeaderShape: what a shape, or a repeat, learnt from one header makes of another is what
// parsing it in full makes of it.
func FuzzHeaderShape(f *testing.F) {
	for _, pair := range [][2]string{
		{`{"code":105,"extFields":{"topic":"A"},"flag":0,"opaque":1,"version":513}`, `{"code":105,"extFields":{"topic":"B c"},"flag":0,"opaque":22,"version":513}`},
		{`{"opaque":7,"code":105,"extFields":{"x":"\u0041","topic":"A"}}`, `{"opaque":0,"code":105,"extFields":{"x":"\u0041","topic":""}}`},
		{`{"extFields":{"topic":"A","topic":"B"},"opaque":1,"opaque":1}`, `{"extFields":{"topic":"A","topic":"\""},"opaque":1,"opaque":-1}`},
	} {
		f.Add(false, []byte(pair[0]), []byte(pair[1]))
	}
	for _, topics := range [][2]string{{"A", "B c"}, {"A", "\xff"}, {"主", ""}} {
		var pair [2][]byte
		for i, topic := range topics {
			frame, err := codec.ParseFrame(codec.AppendFrame(nil, codec.SerializeROCKETMQ, &codec.Header{
				Code: codec.RequestGetRouteInfoByTopic, Opaque: int32(i), ExtFields: []codec.ExtField{{Name: "topic", Value: topic}, {Name: "x", Value: "y"}},
			}, nil))
			if err != nil {
				f.Fatal(err)
			}
			pair[i] = frame.Header
		}
		f.Add(true, pair[0], pair[1])
	}
	f.Fuzz(func(t *testing.T, binary bool, first, second []byte) {
		form := codec.SerializeJSON
		if binary {
			form = codec.SerializeROCKETMQ
		}
		var c codec.Command
		if c.Parse(codec.Frame{Type: form, Header: first}) != nil {
			return
		}
		again := codec.Frame{Type: form, Header: second}
		var s codec.Shape
		var byShape codec.Command
		if learnt := s.Learn(&c, first, "topic"); s.Parse(&byShape, again) {
			checkRecognised(t, learnt, &byShape, again)
		}
		var r codec.Repeat
		learnt := r.Learn(&c, first)
		if opaque, ok := r.Opaque(again); ok {
			c.Opaque = opaque // all else is as it was
			checkRecognised(t, learnt, &c, again)
		}
	})
}

// checkRecognised compares what was made of a header with what parsing it in full makes of it.
func checkRecognised(t *testing.T, learnt bool, got *codec.Command, f codec.Frame) {
	t.Helper()
	if !learnt {
		t.Fatal("recognises a header without having learnt one")
	}
	full, err := parseHeader(t, f.Type, f.Header)
	if err != nil {
		t.Fatalf("recognised a bad header: %v", err)
	}
	checkSame(t, headerOf(got), headerOf(full), true)
}
