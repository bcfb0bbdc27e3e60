package namesrv

import (
	"bytes"
	"testing"

	"github.com/waymark-mq/waymark/codec"
	"github.com/waymark-mq/waymark/internal/invariants"
	"github.com/waymark-mq/waymark/internal/raceflag"
	"github.com/waymark-mq/waymark/namesrv/settings"
)

// warmRequest is what a nameserver is asked all day, as frames that come again and again in turn.
type warmRequest struct {
	name   string
	frames [][]byte
}

func warmRequests(form codec.SerializeType, a registration) []warmRequest {
	again := a
	var all []warmRequest
	for _, kind := range []struct {
		name string
		turn func(i int) request
	}{
		{"route", func(i int) request { return routeOf(a.topics[i].name) }},
		{"route, legacy", func(i int) request { return routeOf(a.topics[i].name).from(317) }},
		{"no route", func(int) request { return routeOf("None") }},
		{"heartbeat", func(int) request { return a.heartbeat() }},
		{"heartbeat of nobody", func(int) request { return broker("nobody").heartbeat() }},
		{"registration", func(int) request { again = again.again(); return again.request() }},
	} {
		w := warmRequest{name: kind.name}
		for i := range 4 {
			r := kind.turn(i)
			r.form = form
			w.frames = append(w.frames, r.frame(int32(1_000_000+i)))
		}
		all = append(all, w)
	}
	return all
}

// forEachWarmRequest runs a test for each request in each form, asked and answered, on a server that knows one broker.
func forEachWarmRequest(t *testing.T, topics int, run func(t *testing.T, s *testServer, frames [][]byte)) {
	a := broker("a").having(many(topics, 4)...)
	for _, form := range []codec.SerializeType{codec.SerializeJSON, codec.SerializeROCKETMQ} {
		home := t.TempDir()
		s := newTestServer(t, home, Options{Settings: settings.Default(settings.Env{HomeDir: home}), SerializeType: form})
		s.mustStart()
		s.dial().register(a)
		for _, w := range warmRequests(form, a) {
			t.Run(w.name+", "+formName(form), func(t *testing.T) { run(t, s, w.frames) })
		}
		if n := s.unchanged.Load(); n == 0 {
			t.Errorf("%s: no registration was recognised: the test shows little", formName(form))
		}
	}
}

// From the read to the write, nothing that is asked all day allocates, an unchanged registration of 5,000 topics included.
func TestWarmConnectionAllocatesNothing(t *testing.T) {
	if raceflag.Enabled || invariants.Enabled {
		t.Skip("this build allocates by itself")
	}
	forEachWarmRequest(t, 5000, func(t *testing.T, s *testServer, frames [][]byte) {
		p := s.pipe()
		i := 0
		turn := func() {
			if feedReads(t, p, frames[i%len(frames)]) == 0 {
				t.Fatal("no answer")
			}
			i++
		}
		for range 3 * len(frames) {
			turn()
		}
		if n := testing.AllocsPerRun(40, turn); n != 0 {
			t.Errorf("%v allocations each", n)
		}
	})
}

// What came in one read is answered in one write, be it one request or 32.
func TestOneReadOneWrite(t *testing.T) {
	forEachWarmRequest(t, 500, func(t *testing.T, s *testServer, frames [][]byte) {
		p := s.pipe()
		feedReads(t, p, frames[0]) // a registration takes the ownership
		for _, requests := range []int{1, 2, 32} {
			var read []byte
			for i := range requests {
				read = append(read, frames[i%len(frames)]...)
			}
			before := p.Writes()
			answers, err := p.Feed(read)
			if n := p.Writes() - before; n != 1 || err != nil {
				t.Errorf("%d requests in one read: %d writes, %v", requests, n, err)
			}
			got := 0
			for r := bytes.NewReader(answers); r.Len() > 0; got++ {
				if _, err := readAnswer(r); err != nil {
					t.Fatal(err)
				}
			}
			if got != requests {
				t.Errorf("%d requests: %d answers", requests, got)
			}
		}
	})
}

// An answer is put together where it leaves from: given no more room than it takes, it doesn't move what stands before it;
// and only remarks are put together elsewhere.
func TestAnswersAreAppendedInPlace(t *testing.T) {
	forEachWarmRequest(t, 500, func(t *testing.T, s *testServer, frames [][]byte) {
		loop, conn := s.NewLoop().(*loop), s.pipe().Conn()
		answer, err := loop.Frame(conn, nil, frames[0], s.clock.Now())
		if err != nil {
			t.Fatal(err)
		}
		a, err := readAnswer(bytes.NewReader(answer))
		if err != nil {
			t.Fatal(err)
		}
		if n := cap(loop.scratch); n > 0 && a.remark == nil {
			t.Errorf("%d bytes put together aside", n)
		}
		const before = 100 // bytes of answers to the same read
		dst := make([]byte, before, before+len(answer))
		got, err := loop.Frame(conn, dst, frames[0], s.clock.Now())
		if err != nil || len(got) != cap(dst) || &got[0] != &dst[0] {
			t.Errorf("%d bytes behind %d, with room for %d; moved: %v; %v", len(got)-before, before, len(answer), &got[0] != &dst[0], err)
		}
	})
}
