package namesrv

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/waymark-mq/waymark/codec"
	"github.com/waymark-mq/waymark/internal/invariants"
	"github.com/waymark-mq/waymark/internal/raceflag"
	"github.com/waymark-mq/waymark/namesrv/settings"
	"github.com/waymark-mq/waymark/netpoll"
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
	for _, k := range requestKinds {
		names[k.code] = k.name
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

// A loop measures a kind of request once in a millisecond; the others count as the next one that is measured.
func TestLatenciesAreMeasured(t *testing.T) {
	tl := &tally{}
	c := &tl.cells[routeRequest][answeredOK]
	at := int64(time.Hour)
	step := func(after, took time.Duration, waiting uint64, sum time.Duration) {
		t.Helper()
		at += int64(after)
		tl.count(routeRequest, answeredOK, at)
		if len(tl.due) > 0 {
			tl.measure(int64(took))
		}
		if c.waiting != waiting || c.sum != int64(sum) {
			t.Errorf("%d wait, sum %v; want %d, %v", c.waiting, time.Duration(c.sum), waiting, sum)
		}
	}
	step(0, 4*time.Microsecond, 0, 4*time.Microsecond)
	step(100*time.Microsecond, time.Second, 1, 4*time.Microsecond)
	step(899*time.Microsecond, time.Second, 2, 4*time.Microsecond)
	step(time.Microsecond, 30*time.Microsecond, 0, 94*time.Microsecond)
	step(time.Hour, 4*time.Hour, 0, 94*time.Microsecond+4*time.Hour)
	want := [histogramBuckets]uint64{0: 1, 2: 3, histogramBuckets - 1: 1}
	if c.counts != want {
		t.Errorf("counts %d, want %d", c.counts, want)
	}
}

// What a read event takes is measured from its start to after its write, on the server's clock.
func TestLatencyEndsAfterTheWrite(t *testing.T) {
	s := start(t)
	l := s.NewLoop().(*loop)
	p := netpoll.NewPipe(l, netpoll.Options{Now: func() int64 {
		now := s.clock.Now()
		s.clock.now.Add(int64(2 * time.Millisecond)) // what the event will have taken
		return now
	}, Logger: s.logger})
	if _, err := p.Feed(append(routeOf("None").frame(1), routeOf("None").frame(2)...)); err != nil {
		t.Fatal(err)
	}
	c := l.tally.cells[routeRequest][answeredNoTopic]
	if c.sum != int64(4*time.Millisecond) || c.counts[latencyBounds.bucket(int64(2*time.Millisecond))] != 2 {
		t.Errorf("sum %v, counts %d", time.Duration(c.sum), c.counts)
	}
}

// Loops' and shared histograms come to what one histogram of all would.
func TestHistogramsMerge(t *testing.T) {
	s := start(t)
	one := sharedHistogram{bounds: &latencyBounds}
	loops := []*tally{{}, {}}
	for i := range int64(1000) {
		nanos := i * i * 4000 // to 4 s
		one.observe(nanos)
		if i%3 == 2 {
			s.answered(asked{request: true, kind: routeRequest, at: s.clock.Now() - nanos}, answeredOK)
			continue
		}
		l := loops[i%3]
		l.count(routeRequest, answeredOK, (i+1)*measuredEvery)
		l.measure(nanos)
	}
	var m Metrics
	copies := []*loopTally{{}, {}}
	for i := range copies {
		copies[i].copyFrom(loops[i])
	}
	m.addTallies(copies, &s.counts.offLoop)
	if len(m.Requests) != 1 {
		t.Fatalf("%+v", m.Requests)
	}
	r, want := m.Requests[0], one.read()
	if r.Count != 1000 || r.Latency.Sum != want.Sum || !slices.Equal(r.Latency.Counts, want.Counts) || !slices.Equal(r.Latency.Bounds, want.Bounds) {
		t.Errorf("%d requests, %+v; want %+v", r.Count, r.Latency, want)
	}
}

func TestBuckets(t *testing.T) {
	for _, b := range []*bounds{&latencyBounds, &sizeBounds} {
		for i, most := range b {
			if b.bucket(most) != i || b.bucket(most+1) != i+1 {
				t.Errorf("%d belongs to bucket %d, %d to the next; got %d, %d", most, i, most+1, b.bucket(most), b.bucket(most+1))
			}
		}
		if b.bucket(-1) != 0 || b.bucket(1<<62) != histogramBuckets-1 || !slices.IsSorted(b[:]) {
			t.Error("ends")
		}
	}
}

// Counting allocates nothing, also when every request is measured. (That it is counted at all, the tests of the hot path show.)
func TestMeasuringAllocatesNothing(t *testing.T) {
	if raceflag.Enabled || invariants.Enabled {
		t.Skip("this build allocates by itself")
	}
	s := start(t)
	s.dial().register(broker("a"))
	l := s.NewLoop().(*loop)
	p := netpoll.NewPipe(l, netpoll.Options{Now: s.clock.Now, Logger: s.logger})
	for _, r := range []request{routeOf("Base"), routeOf("None"), broker("a").heartbeat()} {
		frame := r.frame(1_000_000)
		turn := func() {
			s.clock.now.Add(2 * measuredEvery)
			if feedReads(t, p, frame) == 0 {
				t.Fatal("no answer")
			}
		}
		turn()
		if n := testing.AllocsPerRun(50, turn); n != 0 {
			t.Errorf("code %d: %v allocations", r.code, n)
		}
	}
	var waiting, measured uint64
	for _, c := range l.tally.cells[routeRequest] {
		waiting += c.waiting
		for _, n := range c.counts {
			measured += n
		}
	}
	if waiting != 0 || measured < 100 {
		t.Errorf("%d measured, %d not", measured, waiting)
	}
}

// Connections count under what their first request said, until they end.
func TestClientsAreCounted(t *testing.T) {
	s := start(t)
	clients := func() string {
		var lines []string
		for _, c := range s.metrics().Clients {
			lines = append(lines, fmt.Sprintf("%s/%s=%d", c.Language, c.Version, c.Conns))
		}
		return strings.Join(lines, " ")
	}
	s.dial() // says nothing
	c := s.dial()
	c.call(routeOf("None").from(475))
	c.call(routeOf("None").from(401))
	for range 3 {
		s.dial().call(broker("a").heartbeat().from(407))
	}
	if got, want := clients(), "JAVA/4.9.7=3 JAVA/5.3.1=1"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	c.close()
	eventually(t, "the end of a connection", func() bool { return clients() == "JAVA/4.9.7=3" })
}

// However many languages and versions peers claim, a loop counts a bounded number of kinds, and every connection in one.
func TestKindsOfClientsAreBounded(t *testing.T) {
	var tl clientTally
	var kinds []clientKind
	for i := range int32(1000) {
		kinds = append(kinds, tl.add(clientKind{codec.Language(i % 20), i - 10}))
	}
	total := 0
	for _, n := range tl {
		total += n
	}
	if len(tl) != maxClientKinds+1 || total != 1000 {
		t.Errorf("%d connections of %d kinds", total, len(tl))
	}
	for _, k := range kinds {
		tl.remove(k)
	}
	if len(tl) != 0 {
		t.Errorf("left: %v", tl)
	}
}

func TestVersionNames(t *testing.T) {
	for ordinal, want := range map[int32]string{
		401: "4.9.4", 407: "4.9.7", 406: "4.9.7-SNAPSHOT", 413: "5.0.0", 475: "5.3.1", 513: "5.5.0", 213: "4.0.0", 611: "5.9.9",
		211: "211", 0: "0", 612: "612", 1 << 30: "1073741824",
	} {
		if got := versionName(ordinal); got != want {
			t.Errorf("%d is %q, want %q", ordinal, got, want)
		}
	}
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

// holdLoop keeps an event loop from everything else until release is called.
func (s *testServer) holdLoop(index int) (release func()) {
	s.t.Helper()
	held, released := make(chan struct{}), make(chan struct{})
	go func() {
		_, _ = s.net.Visit(context.Background(), func(i int, _ netpoll.LoopHandler) {
			if i == index {
				close(held)
				<-released
			}
		})
	}()
	s.await(held, "the loop")
	var once bool
	release = func() {
		if !once {
			once = true
			close(released)
		}
	}
	s.t.Cleanup(release)
	return release
}

// A loop that is stuck is reported as missing in time, and counts as it last did: no counter goes back.
func TestMetricsDontWaitForAStuckLoop(t *testing.T) {
	s := start(t)
	for range 4 {
		s.dial().call(routeOf("None"))
	}
	want := map[string]int{"get_routeinfo_by_topic topic_not_exist success": 4}
	s.wantCounted(want)
	frames := s.metrics().Net.Frames
	release := s.holdLoop(1)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	m := s.Metrics(ctx)
	if got := requestsCounted(m); m.Net.Missing != 1 || m.Net.Frames != frames || !maps.Equal(got, want) {
		t.Errorf("%d missing, %d frames of %d, %v", m.Net.Missing, m.Net.Frames, frames, got)
	}
	release()
	s.wantCounted(want)
}

func TestAlive(t *testing.T) {
	s := start(t)
	alive := func(limit time.Duration) error {
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		defer cancel()
		return s.Alive(ctx)
	}
	if err := alive(waitLimit); err != nil {
		t.Error(err)
	}
	release := s.holdLoop(0)
	if err := alive(20 * time.Millisecond); err != errLoopStuck {
		t.Errorf("%v, want %v", err, errLoopStuck)
	}
	release()
	release = s.parkWriter()
	if err := alive(20 * time.Millisecond); err != errWriterStuck {
		t.Errorf("%v, want %v", err, errWriterStuck)
	}
	release()
	if err := alive(waitLimit); err != nil {
		t.Error(err)
	}
	s.stop()
	if err := alive(waitLimit); err != nil {
		t.Errorf("stopped: %v", err)
	}
}

// Figures can be had at any time of a server's life.
func TestMetricsBeforeAndAfter(t *testing.T) {
	home := t.TempDir()
	s := newTestServer(t, home, Options{Settings: settings.Default(settings.Env{HomeDir: home})})
	if m := s.Metrics(t.Context()); m.State != Starting || m.Net.Loops != 0 {
		t.Errorf("not started: %v, %d loops", m.State, m.Net.Loops)
	}
	if err := s.Alive(t.Context()); err != nil {
		t.Error(err)
	}
	s.mustStart()
	s.dial().call(routeOf("None"))
	s.stop()
	m := s.metrics()
	if got := requestsCounted(m); m.State != Stopping || m.Net.Frames != 1 || got["get_routeinfo_by_topic topic_not_exist success"] != 1 {
		t.Errorf("stopped: %v, %d frames, %v", m.State, m.Net.Frames, got)
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
