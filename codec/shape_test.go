package codec

import (
	"bytes"
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/waymark-mq/waymark/internal/raceflag"
)

const javaRoute = `{"code":105,"extFields":{"topic":"TopicA"},"flag":0,"language":"JAVA","opaque":17,"serializeTypeCurrentRPC":"JSON","version":513}`

// learnt parses a header and returns its shape, in which topic and opaque change.
func learnt(t *testing.T, header string) (*Shape, bool) {
	t.Helper()
	return learntAs(t, header, "topic")
}

func learntAs(t *testing.T, header, field string) (*Shape, bool) {
	t.Helper()
	b := []byte(header)
	var c Command
	if err := c.Parse(Frame{Header: b}); err != nil {
		t.Fatalf("%v: %s", err, header)
	}
	s := new(Shape)
	ok := s.Learn(&c, b, field)
	for i := range b {
		b[i] = 0xDB // the shape must own what it keeps
	}
	return s, ok
}

// seen is all that a command says.
func seen(c *Command) map[string]any {
	fields := map[string]string{}
	c.Each(func(name, value []byte) { fields[string(name)] = string(value) })
	return map[string]any{
		"type": c.Type, "code": c.Code, "flag": c.Flag, "opaque": c.Opaque, "version": c.Version, "language": c.Language,
		"remark": string(c.Remark), "hasRemark": c.HasRemark, "has": c.HasExtFields, "fields": fields, "body": string(c.Body),
	}
}

// checkAlike parses a frame by the shape and in full; both must say the same.
func checkAlike(t *testing.T, s *Shape, f Frame) (recognised bool) {
	t.Helper()
	var byShape, full Command
	if !s.Parse(&byShape, f) {
		return false
	}
	if err := full.Parse(f); err != nil {
		t.Fatalf("recognised a bad header (%v): %s", err, f.Header)
	}
	if got, want := seen(&byShape), seen(&full); !reflect.DeepEqual(got, want) {
		t.Fatalf("%s\n by shape %v\n in full  %v", f.Header, got, want)
	}
	return true
}

func TestShapeRecognises(t *testing.T) {
	s, ok := learnt(t, javaRoute)
	if !ok {
		t.Fatal("not learnt")
	}
	for _, c := range []struct{ name, from, to string }{
		{"same", "", ""},
		{"other topic", "TopicA", "%RETRY%g-1_x|y.z"},
		{"empty topic", "TopicA", ""},
		{"long topic", "TopicA", strings.Repeat("x", 3000)},
		{"opaque 0", ":17,", ":0,"},
		{"opaque of nine digits", ":17,", ":999999999,"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if !checkAlike(t, s, Frame{Header: []byte(strings.Replace(javaRoute, c.from, c.to, 1)), Body: []byte("body")}) {
				t.Error("not recognised")
			}
		})
	}
}

func TestShapeDoesNotRecognise(t *testing.T) {
	s, _ := learnt(t, javaRoute)
	for _, c := range []struct{ name, from, to string }{
		{"escape", "TopicA", `Topic\u0041`},
		{"escaped quote", "TopicA", `Topic\"`},
		{"not ASCII", "TopicA", "主题"},
		{"not UTF-8", "TopicA", "Topic\xff"},
		{"negative opaque", ":17,", ":-17,"},
		{"ten digits", ":17,", ":1234567890,"},
		{"leading zero", ":17,", ":017,"},
		{"fraction", ":17,", ":17.5,"},
		{"no opaque", ":17,", ":,"},
		{"other version", "513", "514"},
		{"longer version", "513", "5133"},
		{"another field", `"TopicA"`, `"TopicA","acceptStandardJsonOnly":"true"`},
		{"one-way", `"flag":0`, `"flag":2`},
		{"line end", `513}`, "513}\n"},
		{"cut", `513}`, "513"},
		{"bytes behind", `513}`, "513}x"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if checkAlike(t, s, Frame{Header: []byte(strings.Replace(javaRoute, c.from, c.to, 1))}) {
				t.Error("recognised")
			}
		})
	}
	if s.Parse(new(Command), Frame{Type: SerializeROCKETMQ, Header: []byte(javaRoute)}) {
		t.Error("recognised in a binary frame")
	}
	if new(Shape).Parse(new(Command), Frame{Header: []byte(javaRoute)}) {
		t.Error("the zero shape recognises something")
	}
}

func TestShapeIsNotLearnt(t *testing.T) {
	for _, c := range []struct{ name, header string }{
		{"no topic", `{"code":105,"opaque":17}`},
		{"topic is a number", `{"code":105,"extFields":{"topic":12},"opaque":17}`},
		{"topic with an escape", `{"code":105,"extFields":{"topic":"a\u0041"},"opaque":17}`},
		{"single quotes", `{"code":105,"extFields":{'topic':'a'},"opaque":17}`},
		{"a later topic is null", `{"code":105,"extFields":{"topic":"a","topic":null},"opaque":17}`},
		{"no opaque", `{"code":105,"extFields":{"topic":"a"}}`},
		{"opaque as text", `{"code":105,"extFields":{"topic":"a"},"opaque":"17"}`},
		{"negative opaque", `{"code":105,"extFields":{"topic":"a"},"opaque":-17}`},
		{"a later opaque counts", `{"opaque":17,"code":105,"extFields":{"topic":"a"},"opaque":17}`},
		{"opaque of a field", `{"code":105,"extFields":{"opaque":17,"topic":"a"},"opaque":17}`},
		{"later fields count", `{"code":105,"extFields":{"topic":"a"},"opaque":17,"extFields":{"topic":"b\n"}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, ok := learnt(t, c.header)
			if ok {
				t.Error("learnt")
			}
			if s.Parse(new(Command), Frame{Header: []byte(c.header)}) {
				t.Error("recognised all the same")
			}
		})
	}
}

// Every recorded header that names a topic: once learnt, others of its shape say the same by
// the shape as in full.
func TestShapeOfRecordedHeaders(t *testing.T) {
	content, err := os.ReadFile("testdata/headers.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	shapes := 0
	for line := range bytes.Lines(content) {
		var recorded struct{ Header string }
		if err := json.Unmarshal(line, &recorded); err != nil {
			t.Fatal(err)
		}
		var c Command
		if c.Parse(Frame{Header: []byte(recorded.Header)}) != nil {
			continue
		}
		s, ok := learnt(t, recorded.Header)
		if !ok {
			continue
		}
		shapes++
		for _, topic := range []string{"x", "another topic", `\u0041`, "主"} {
			for _, opaque := range []string{"1", "123456789", "-1"} {
				first, second := topic, opaque
				if !s.fieldFirst {
					first, second = opaque, topic
				}
				header := string(s.head) + first + string(s.middle) + second + string(s.tail)
				plain := !strings.ContainsAny(topic, `\主`) && opaque != "-1"
				if got := checkAlike(t, s, Frame{Header: []byte(header)}); got != plain {
					t.Errorf("recognised %v: %s", got, header)
				}
			}
		}
	}
	if shapes < 50 {
		t.Errorf("only %d of the recorded headers have a shape", shapes)
	}
}

func TestShapeAllocatesNothing(t *testing.T) {
	if raceflag.Enabled {
		t.Skip("the race detector allocates")
	}
	s, _ := learnt(t, javaRoute)
	f := Frame{Header: []byte(javaRoute)}
	var c Command
	s.Parse(&c, f)
	if n := testing.AllocsPerRun(100, func() { s.Parse(&c, f) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkShape(b *testing.B) {
	header := []byte(javaRoute)
	var c Command
	if err := c.Parse(Frame{Header: header}); err != nil {
		b.Fatal(err)
	}
	var s Shape
	if !s.Learn(&c, header, "topic") {
		b.Fatal("not learnt")
	}
	b.ReportAllocs()
	for b.Loop() {
		if !s.Parse(&c, Frame{Header: header}) {
			b.Fatal("not recognised")
		}
	}
}
