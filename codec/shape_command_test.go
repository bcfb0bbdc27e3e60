package codec

import (
	"reflect"
	"strings"
	"testing"
)

const javaBeat = `{"code":904,"extFields":{"brokerAddr":"10.0.0.1:10911","clusterName":"c"},"flag":2,"language":"JAVA","opaque":5,"serializeTypeCurrentRPC":"JSON","version":513}`

// One command goes from shape to shape and from header to header, as on a loop: what it says is always
// that of the last frame.
func TestShapesShareACommand(t *testing.T) {
	learn := func(s *Shape, header, field string) {
		t.Helper()
		var c Command
		if err := c.Parse(Frame{Header: []byte(header)}); err != nil || !s.Learn(&c, []byte(header), field) {
			t.Fatalf("%v: not learnt: %s", err, header)
		}
	}
	other := strings.Replace(javaRoute, `"TopicA"`, `"TopicA","acceptStandardJsonOnly":"true"`, 1)
	var route, beat Shape
	learn(&route, javaRoute, "topic")
	learn(&beat, javaBeat, "brokerAddr")

	var c Command
	check := func(s *Shape, header, body string) {
		t.Helper()
		f := Frame{Header: []byte(header), Body: []byte(body)}
		if s == nil {
			if err := c.Parse(f); err != nil {
				t.Fatal(err)
			}
		} else if !s.Parse(&c, f) {
			t.Fatalf("not recognised: %s", header)
		}
		var full Command
		if err := full.Parse(f); err != nil {
			t.Fatal(err)
		}
		if got, want := seen(&c), seen(&full); !reflect.DeepEqual(got, want) {
			t.Errorf("%s\n got  %v\n want %v", header, got, want)
		}
	}
	check(&route, javaRoute, "a body")
	check(&route, strings.Replace(javaRoute, "TopicA", "B", 1), "")
	check(&beat, strings.Replace(javaBeat, ":5,", ":6,", 1), "")
	check(&route, strings.Replace(javaRoute, "TopicA", "C", 1), "")
	check(nil, other, "")
	check(&route, strings.Replace(javaRoute, "TopicA", "D", 1), "")
	learn(&route, other, "topic")
	check(&route, strings.Replace(other, "TopicA", "E", 1), "")
	learn(&route, javaRoute, "topic")
	check(&route, strings.Replace(javaRoute, ":17,", ":18,", 1), "")
}
