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
func TestRouteShapeRecognises(t *testing.T) {
	var r routeShape
	var c codec.Command
	other, _ := codec.ParseFrame(codec.AppendFrame(nil, codec.SerializeJSON, &codec.Header{Code: codec.RequestGetBrokerClusterInfo}, nil))
	for i := range int32(10) {
		topic := fmt.Sprintf("T%d", i*i)
		if err := r.parse(&c, routeFrame(topic, "", i)); err != nil {
			t.Fatal(err)
		}
		checkRoute(t, &c, topic, i)
		if recognised := r.misses == 0; recognised != (i > 0) {
			t.Fatalf("query %d: recognised %v", i, recognised)
		}
		if err := r.parse(&c, other); err != nil || c.Code != codec.RequestGetBrokerClusterInfo {
			t.Fatal(err, c.Code)
		}
	}
}

// A client whose headers are never alike is learnt a few times and then only now and then.
func TestRouteShapeGivesUp(t *testing.T) {
	var r routeShape
	var c codec.Command
	learn := func(from, to int32) {
		for i := from; i < to; i++ {
			if err := r.parse(&c, routeFrame("T", fmt.Sprintf("signature %d", i), i)); err != nil {
				t.Fatal(err)
			}
			checkRoute(t, &c, "T", i)
		}
	}
	learn(0, missesLearnt+1)
	known := *r.known
	learn(missesLearnt+1, missesTried-1)
	f := routeFrame("U", fmt.Sprintf("signature %d", missesLearnt-1), 1)
	if !known.Parse(&c, f) {
		t.Error("the last header that was to be learnt is not the one known")
	}
	if err := r.parse(&c, f); err != nil || r.misses != 0 {
		t.Errorf("%v; a header as the one known is no miss: %d", err, r.misses)
	}
}

func TestRouteShapeBadHeader(t *testing.T) {
	var r routeShape
	var c codec.Command
	if err := r.parse(&c, routeFrame("T", "", 1)); err != nil {
		t.Fatal(err)
	}
	bad := routeFrame("T", "", 2)
	bad.Header = bad.Header[:len(bad.Header)-1]
	if r.parse(&c, bad) == nil {
		t.Error("a header that is cut short is taken")
	}
}
