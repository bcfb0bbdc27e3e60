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

// asker is a loop with a connection on it.
type asker struct {
	loop
	t *testing.T
}

func newAsker(t *testing.T) *asker {
	a := &asker{t: t}
	a.session = &session{}
	return a
}

// ask parses a route query and checks what it says.
func (a *asker) ask(topic, signature string, opaque int32) {
	a.t.Helper()
	if err := a.parse(routeFrame(topic, signature, opaque)); err != nil {
		a.t.Fatal(err)
	}
	checkRoute(a.t, &a.cmd, topic, opaque)
}

// has reports whether a query is recognised.
func (a *asker) has(signature string) bool {
	return a.routes.find(new(codec.Command), routeFrame("T", signature, 1), new(routeHint))
}

// A client's queries are recognised from its second on, whatever else it sends between; those of another
// connection that writes them alike from its second on too, without being learnt again.
func TestRouteIsRecognised(t *testing.T) {
	a := newAsker(t)
	first, second := a.session, &session{}
	other, _ := codec.ParseFrame(codec.AppendFrame(nil, codec.SerializeJSON, &codec.Header{Code: codec.RequestGetBrokerClusterInfo}, nil))
	for i := range int32(10) {
		for _, a.session = range []*session{first, second} {
			a.ask(fmt.Sprintf("T%d", i*i), "", i)
			if a.session.route == 0 || a.routes.misses != 1 {
				t.Fatalf("query %d: shape %d, %d were learnt", i, a.session.route, a.routes.misses)
			}
			if err := a.parse(other); err != nil || a.cmd.Code != codec.RequestGetBrokerClusterInfo {
				t.Fatal(err, a.cmd.Code)
			}
		}
	}
}

// A client whose headers are never alike is learnt a few times and then only now and then.
func TestRouteLearningGivesUp(t *testing.T) {
	a := newAsker(t)
	const learnt = mostDebt / learningCost
	for i := range missesTried - 1 {
		a.ask("T", fmt.Sprintf("signature %d", i), int32(i))
	}
	for i := range missesTried - 1 {
		if got := a.has(fmt.Sprintf("signature %d", i)); got != (i < learnt) {
			t.Errorf("signature %d is recognised: %v", i, got)
		}
	}
	a.ask("T", "at last", 1)
	if !a.has("at last") {
		t.Error("not learnt again")
	}
}

// One that is recognised often is learnt anew as soon as it changes.
func TestRouteLearningFollows(t *testing.T) {
	a := newAsker(t)
	for version := range 3 * mostDebt {
		signature := fmt.Sprintf("signature %d", version)
		for i := range int32(2 * learningCost) {
			a.ask("T", signature, i)
		}
	}
	if a.routes.misses != 3*mostDebt {
		t.Errorf("%d were not recognised, want the first of each kind", a.routes.misses)
	}
}

// Clients that are learnt in vain don't push out those that are not.
func TestRouteLearningKeepsWhatIsUsed(t *testing.T) {
	a := newAsker(t)
	good, bad := a.session, &session{}
	a.ask("T", "", 1)
	for i := range int32(100 * routeShapesKept * learningCost) {
		a.session = good
		a.ask("T", "", i)
		a.session = bad
		a.ask("T", fmt.Sprintf("signature %d", i), i)
	}
	if good.route != 1 {
		t.Errorf("learnt again, as shape %d", good.route)
	}
}

func TestBadHeaderIsNotRecognised(t *testing.T) {
	a := newAsker(t)
	a.ask("T", "", 1)
	bad := routeFrame("T", "", 2)
	bad.Header = bad.Header[:len(bad.Header)-1]
	if a.parse(bad) == nil {
		t.Error("a header that is cut short is taken")
	}
}
