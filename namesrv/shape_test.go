package namesrv

import (
	"fmt"
	"testing"

	"github.com/waymark-mq/waymark/codec"
)

// routeFrame is a route query with a field that a signing client computes from the topic.
func routeFrame(topic, signature string, opaque int32) codec.Frame {
	fields := []codec.ExtField{{Name: "topic", Value: topic}}
	if signature != "" {
		fields = append(fields, codec.ExtField{Name: "Signature", Value: signature})
	}
	f, err := codec.ParseFrame(codec.AppendFrame(nil, codec.SerializeJSON, &codec.Header{
		Code: codec.RequestGetRouteInfoByTopic, Opaque: opaque, Version: codec.ServerVersion, ExtFields: fields,
	}, nil))
	if err != nil {
		panic(err)
	}
	return f
}

func checkRoute(t *testing.T, c *codec.Command, topic string, opaque int32) {
	t.Helper()
	if got, _ := c.Field("topic"); string(got) != topic || c.Opaque != opaque || c.Code != codec.RequestGetRouteInfoByTopic {
		t.Fatalf("got %d %q %d, want %q %d", c.Code, got, c.Opaque, topic, opaque)
	}
}

// A client's queries are recognised from its second on, whatever else it sends between.
func TestRouteIsRecognised(t *testing.T) {
	var r shapes
	var c codec.Command
	other, _ := codec.ParseFrame(codec.AppendFrame(nil, codec.SerializeJSON, &codec.Header{Code: codec.RequestGetBrokerClusterInfo}, nil))
	for i := range int32(10) {
		topic := fmt.Sprintf("T%d", i*i)
		if _, err := r.parse(&c, routeFrame(topic, "", i)); err != nil {
			t.Fatal(err)
		}
		checkRoute(t, &c, topic, i)
		if r.route.misses != 1 {
			t.Fatalf("query %d: %d were not recognised", i, r.route.misses)
		}
		if _, err := r.parse(&c, other); err != nil || c.Code != codec.RequestGetBrokerClusterInfo {
			t.Fatal(err, c.Code)
		}
	}
}

// A client whose headers are never alike is learnt a few times and then only now and then.
func TestRouteLearnerGivesUp(t *testing.T) {
	var r shapes
	var c codec.Command
	signed := func(i int) codec.Frame { return routeFrame("T", fmt.Sprintf("signature %d", i), int32(i)) }
	const learnt = mostDebt / learningCost
	for i := range missesTried - 1 {
		if _, err := r.parse(&c, signed(i)); err != nil {
			t.Fatal(err)
		}
		checkRoute(t, &c, "T", int32(i))
	}
	if !r.route.known.Parse(&c, signed(learnt-1)) {
		t.Error("the last header that was to be learnt is not the one known")
	}
	r.parse(&c, signed(missesTried))
	if !r.route.known.Parse(&c, signed(missesTried)) {
		t.Error("not learnt again")
	}
}

// One that is recognised often is learnt anew as soon as it changes.
func TestRouteLearnerFollows(t *testing.T) {
	var r shapes
	var c codec.Command
	for version := range 3 * mostDebt {
		signature := fmt.Sprintf("signature %d", version)
		for i := range int32(2 * learningCost) {
			if _, err := r.parse(&c, routeFrame("T", signature, i)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if r.route.misses != 3*mostDebt {
		t.Errorf("%d were not recognised, want the first of each kind", r.route.misses)
	}
}

func TestBadHeaderIsNotRecognised(t *testing.T) {
	var r shapes
	var c codec.Command
	if _, err := r.parse(&c, routeFrame("T", "", 1)); err != nil {
		t.Fatal(err)
	}
	bad := routeFrame("T", "", 2)
	bad.Header = bad.Header[:len(bad.Header)-1]
	if _, err := r.parse(&c, bad); err == nil {
		t.Error("a header that is cut short is taken")
	}
}
