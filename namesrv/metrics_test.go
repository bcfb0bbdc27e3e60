package namesrv

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/waymark-mq/waymark/codec"
)

// metrics collects with all the time that it may take.
func (s *testServer) metrics() *Metrics {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), waitLimit)
	defer cancel()
	m := s.Metrics(ctx)
	if m.Net.Missing != 0 {
		s.t.Fatalf("%d loops are missing", m.Net.Missing)
	}
	return m
}

// requestsCounted are the requests counted, by code, response and result.
func requestsCounted(m *Metrics) map[string]int {
	got := map[string]int{}
	for _, r := range m.Requests {
		got[r.Code+" "+r.Response+" "+r.Result] += int(r.Count)
	}
	return got
}

// wantCounted waits until exactly what is wanted is counted: an answer may arrive before it counts.
func (s *testServer) wantCounted(want map[string]int) {
	s.t.Helper()
	var got map[string]int
	defer func() {
		if s.t.Failed() {
			for _, key := range slices.Sorted(maps.Keys(got)) {
				if got[key] != want[key] {
					s.t.Errorf("%s: %d, want %d", key, got[key], want[key])
				}
			}
		}
	}()
	eventually(s.t, "the counts", func() bool {
		got = requestsCounted(s.metrics())
		return maps.Equal(got, want)
	})
}

// Every request counts once, under its code and what it was answered, whoever answered it: loops, decoders, the writer, the
// persister or the lists goroutine; on two loops, from eight connections, in both header forms.
func TestRequestsAreCountedExactly(t *testing.T) {
	s := start(t)
	names := map[int32]string{}
	for kind, k := range requestKinds {
		names[k.code] = requestNames[kind]
	}
	responses := map[int32]string{}
	for _, r := range resultTexts {
		responses[r.code] = r.response
	}
	want := map[string]int{}
	count := func(r request, response, result string) {
		name, known := names[r.code]
		if !known {
			name = "other"
		}
		want[name+" "+response+" "+result]++
	}
	a := broker("a").having(many(5000, 4)...) // lists of them are encoded off the loop
	requests := slices.Concat(allRequests(), []request{
		a.request(), a.again().request(), a.again().counter(9).request(), broker("lone").slave(3).having(named("One")...).request(),
		routeOf("None"), routeOf("Base"), routeOf("Base"), ask(9999), ask(-1), ask(905), ask(206), a.heartbeat(), a.query(),
		put("n", "k", "v"), get("n", "k"), get("n", "none"), del("n", "k"), listKV("none"), configure("kvConfigPath=/x"), configure("waitSecondsForService=x"),
		a.without("brokerName").request(), a.raw("{").request(), a.unregister(),
	})
	for i := range 8 {
		c := s.dial()
		for k, r := range requests {
			r.form = codec.SerializeType((i + k) % 2)
			answer := c.call(r)
			count(r, responses[answer.code], "success")
			c.send(r.oneway())
			count(r, "none", "oneway")
		}
		c.wantCode(ask(9999), codec.ResponseRequestCodeNotSupported)
		count(ask(9999), "request_code_not_supported", "success")
	}
	s.wantCounted(want)
	var onLoops [2]uint64
	for i, tally := range s.collectTallies(t.Context()) {
		for _, c := range tally.cells[routeRequest] {
			onLoops[i] += c.waiting
			for _, n := range c.counts {
				onLoops[i] += n
			}
		}
	}
	if onLoops[0] == 0 || onLoops[1] == 0 {
		t.Errorf("route queries by loop: %d: the test shows less than it should", onLoops)
	}
	if len(want) < 50 {
		t.Errorf("only %d kinds of requests and answers", len(want))
	}
}

// What is recognised by its header is counted as well: route queries and heartbeats that come again, two ways and one.
func TestRecognisedRequestsAreCounted(t *testing.T) {
	s := start(t)
	a := broker("a")
	s.dial().register(a)
	c, silent := s.dial(), s.dial()
	for range 20 {
		c.wantCode(a.heartbeat(), 0)
		c.wantCode(routeOf("Base"), 0)
		silent.send(a.heartbeat().oneway())
	}
	s.wantCounted(map[string]int{
		"register_broker success success": 1, "broker_heartbeat success success": 20, "broker_heartbeat none oneway": 20,
		"get_routeinfo_by_topic success success": 20,
	})
}

// Requests that come together are counted one by one.
func TestPipelinedRequestsAreCounted(t *testing.T) {
	s := start(t)
	c := s.dial()
	var stream []byte
	for i := range int32(300) {
		r := routeOf("None")
		if i%3 == 0 {
			r = broker("a").heartbeat()
		}
		stream = append(stream, r.frame(i)...)
	}
	if err := c.exchange(stream, 300); err != nil {
		t.Fatal(err)
	}
	s.wantCounted(map[string]int{"get_routeinfo_by_topic topic_not_exist success": 200, "broker_heartbeat success success": 100})
	if m := s.metrics(); m.RouteRequests != 200 {
		t.Errorf("%d route queries", m.RouteRequests)
	}
}

// A request that a fault of ours ended counts as failed.
func TestFailedRequestIsCounted(t *testing.T) {
	s := start(t)
	sess := s.pipe().Conn().Context.(*session)
	s.enqueue(sess, write{frame: copyFrame([]byte("no frame")), asked: asked{request: true, kind: registerRequest, at: s.clock.Now()}})
	s.wantCounted(map[string]int{"register_broker none process_request_failed": 1})
}

// What happens to brokers is counted by kind, and the live ones show how long they have been silent.
func TestEventsAndBrokersAreCounted(t *testing.T) {
	s := start(t)
	c := s.dial()
	a, b := broker("a").state(5), broker("b")
	c.register(a, b)
	c.register(a.again(), a.having(named("Base", "Pad", "More")...).counter(7).state(5))
	c.wantCode(broker("lone").slave(3).having(named("One")...).request(), codec.ResponseSystemError)
	c.wantCode(a.set("brokerAddr", "other:1").state(1).request(), 0)
	c.wantCode(b.unregister(), 0)
	s.advance(30 * time.Second)
	m := s.metrics()
	got := map[string]uint64{}
	for _, e := range m.Events {
		got[e.Kind] = e.Count
	}
	for kind, want := range map[string]uint64{"registered": 2, "changed": 1, "refused": 1, "conflict": 1, "unregistered": 1, "expired": 0} {
		if n, ok := got[kind]; n != want || !ok {
			t.Errorf("%s: %d, want %d", kind, n, want)
		}
	}
	if m.Recognised != 1 || m.Topics != 3 || m.SnapshotAge != 30*time.Second {
		t.Errorf("%d recognised, %d topics, snapshot of %v ago", m.Recognised, m.Topics, m.SnapshotAge)
	}
	if len(m.Brokers) != 1 || m.Brokers[0].Silent.Round(time.Microsecond) != 30*time.Second { // signs of life are nanoseconds apart
		t.Fatalf("brokers %+v", m.Brokers)
	}
	if m.Brokers[0].Silent = 0; m.Brokers[0] != (BrokerMetrics{Cluster: "DefaultCluster", Name: "a", Addr: a.addr()}) {
		t.Errorf("brokers %+v", m.Brokers)
	}
	if n := total(m.ChangedTopics); n != 3 || total(m.Decoding) < n || total(m.StepTime) != total(m.StepSize) {
		t.Errorf("%d changed, %d decoded, %d steps measured, %d counted", n, total(m.Decoding), total(m.StepTime), total(m.StepSize))
	}
}

// Heartbeats of brokers that aren't in the table are counted, whether they never were there or are there no more.
func TestUnknownHeartbeatsAreCounted(t *testing.T) {
	s := start(t)
	c, other := s.dial(), s.dial()
	a := broker("a")
	c.register(a)
	for range 5 {
		c.want(a.heartbeat(), "0") // recognised from the second on
		c.want(broker("nobody").heartbeat(), "0")
		other.want(broker("nobody").heartbeat(), "0")
	}
	c.send(broker("nobody").heartbeat().oneway())
	c.want(a.unregister(), "0")
	c.want(a.heartbeat(), "0")
	c.want(ask(904, "clusterName", "c"), `1 "java.lang.NullPointerException: clusterName or brokerAddr is missing"`) // none at all
	if got := s.metrics().UnknownBeats; got != 12 {
		t.Errorf("%d, want 12", got)
	}
}

// Faults off the loops are counted, and each has a line with its stack.
func TestFaultsOffTheLoopsAreCounted(t *testing.T) {
	s := start(t)
	for _, fault := range []string{"one", "two", "one"} {
		s.panicked(s.pipe().Conn().Context.(*session), asked{}, fault)
	}
	if got := s.metrics().Panics; got != 3 {
		t.Errorf("%d, want 3", got)
	}
	if got := s.logged("stack="); len(got) != 2 || !strings.Contains(got[0], "panic=one") || !strings.Contains(got[1], "panic=two") {
		t.Errorf("%d lines, want one of each: %v", len(got), got)
	}
}

func total(h Histogram) (n uint64) {
	for _, count := range h.Counts {
		n += count
	}
	return n
}

// Every kind of event that is logged has a name.
func TestEventsHaveNames(t *testing.T) {
	seen := map[string]bool{}
	for kind, k := range eventKinds {
		if k.name == "" || k.text == "" || seen[k.name] {
			t.Errorf("kind %d has no name of its own, or no text: %+v", kind, k)
		}
		seen[k.name] = true
	}
}

// Writes of the KV file are counted with what they held.
func TestKVWritesAreCounted(t *testing.T) {
	s := start(t)
	c := s.dial()
	c.wantCode(put("n", "k", "v"), 0)
	c.wantCode(del("n", "k"), 0)
	m := s.metrics()
	if total(m.KVWrite) != 2 || total(m.KVFailed) != 0 || m.KVBatch.Sum != 2 {
		t.Errorf("%d written, %d failed, %d requests", total(m.KVWrite), total(m.KVFailed), m.KVBatch.Sum)
	}
}

// A one-way request that is refused counts as refused: nobody waits for its answer, and an operator looks for it.
func TestRefusedOnewayRequestsCount(t *testing.T) {
	s := start(t, adminList)
	out := s.proxied(outside)
	out.send(put("n", "k", "v").oneway(), put("n", "k", "v").oneway(), broker("a").heartbeat().oneway())
	out.want(put("n", "k", "v"), notInAdminList)
	s.wantCounted(map[string]int{"put_kv_config no_permission success": 3, "broker_heartbeat none oneway": 1})
}
