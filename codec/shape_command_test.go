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
	learn(&beat, javaBeat, "")

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

func TestShapeOfABeat(t *testing.T) {
	var c Command
	var s Shape
	if err := c.Parse(Frame{Header: []byte(javaBeat)}); err != nil || !s.Learn(&c, []byte(javaBeat), "") {
		t.Fatal(err, "not learnt")
	}
	if !checkAlike(t, &s, Frame{Header: []byte(strings.Replace(javaBeat, ":5,", ":123456789,", 1))}) {
		t.Error("another opaque is not recognised")
	}
	for _, change := range []struct{ name, from, to string }{
		{"another broker", "10.0.0.1", "10.0.0.2"},
		{"another cluster", `"c"`, `"d"`},
		{"two-way", `"flag":2`, `"flag":0`},
		{"negative opaque", ":5,", ":-5,"},
		{"leading zero", ":5,", ":05,"},
		{"bytes behind", `513}`, "513}x"},
	} {
		t.Run(change.name, func(t *testing.T) {
			if checkAlike(t, &s, Frame{Header: []byte(strings.Replace(javaBeat, change.from, change.to, 1))}) {
				t.Error("recognised")
			}
		})
	}
	for _, header := range []string{
		`{"opaque":17,"code":904,"extFields":{"brokerAddr":"a"},"opaque":17}`, // the first is not the one that counts
		`{"code":904,"extFields":{"opaque":17,"brokerAddr":"a"},"opaque":17}`,
		`{"code":904,"extFields":{"brokerAddr":"a"},"opaque":-17}`,
	} {
		if s, ok := learntAs(t, header, ""); ok || s.Parse(new(Command), Frame{Header: []byte(header)}) {
			t.Errorf("learnt: %s", header)
		}
	}
}
