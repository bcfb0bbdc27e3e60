package namesrv

import (
	"bytes"
	"testing"

	"github.com/waymark-mq/waymark/internal/invariants"
	"github.com/waymark-mq/waymark/internal/raceflag"
	"github.com/waymark-mq/waymark/netpoll"
)

const readBytes = 64 << 10 // one read's of an event loop

// feedReads delivers a frame as an event loop reads it.
func feedReads(t testing.TB, p *netpoll.Pipe, frame []byte) (answered int) {
	t.Helper()
	for len(frame) > 0 {
		n := min(readBytes, len(frame))
		answers, err := p.Feed(frame[:n])
		if err != nil {
			t.Fatal(err)
		}
		answered += len(answers)
		frame = frame[n:]
	}
	return answered
}

// A registration that came in several reads waits in the memory in which it was assembled; one read's is copied.
func TestLargeFramesAreNotCopiedIntoTheLane(t *testing.T) {
	for _, tt := range []struct {
		name   string
		topics int
		taken  bool
	}{
		{"one read", 2, false},
		{"several reads", 5000, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := park(t)
			r := broker("a").having(many(tt.topics, 4)...).request().frame(1)
			p.work(func() {
				pipe := p.pipe()
				feedReads(t, pipe, r)
				w := &pipe.Conn().Context.(*session).lane.items[0]
				if _, taken := w.frame.(*netpoll.LargeFrame); taken != tt.taken {
					t.Errorf("a frame of %d bytes waits as %T", len(r), w.frame)
				}
				if !bytes.Equal(w.frame.Bytes(), r) {
					t.Error("other bytes wait than came")
				}
				if got, want := p.writeBytes.Load(), int64(len(r)+requestOverhead); got != want {
					t.Errorf("%d bytes count as queued, want %d", got, want)
				}
			})
		})
	}
}

// Each byte of a changed table is copied once, from the loop's read buffer, when memory is there from the one before.
func TestChangedRegistrationIsCopiedOnce(t *testing.T) {
	s := start(t)
	c := s.dial()
	table := broker("a").having(many(5000, 4)...)
	c.register(table.counter(2))
	c.want(broker("nobody").unregister(), "0") // decoded once that frame is freed
	stats := func() netpoll.Stats {
		st, err := s.net.Stats(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return st
	}
	before := stats().Assembled
	r := table.counter(3).request()
	c.wantCode(r, 0)
	if got, want := stats().Assembled-before, uint64(len(r.frame(1))); got != want {
		t.Errorf("%d bytes copied of a frame of %d", got, want)
	}
}

// From its first read to the answer, a registration that is recognised allocates nothing that grows with it.
func TestRecognisedRegistrationIsAssembledWithoutAllocation(t *testing.T) {
	if raceflag.Enabled || invariants.Enabled {
		t.Skip("this build allocates by itself")
	}
	s := start(t)
	r := broker("a").having(many(5000, 4)...)
	s.dial().register(r)
	p := s.pipe()
	frame := r.again().request().frame(1)
	feedReads(t, p, frame) // takes the ownership
	before := s.unchanged.Load()
	const runs = 20
	if n := testing.AllocsPerRun(runs, func() {
		if feedReads(t, p, frame) == 0 {
			t.Fatal("no answer")
		}
	}); n > 2 {
		t.Errorf("%v allocations per registration, want at most 2: the fields of its answer", n)
	}
	if got := s.unchanged.Load() - before; got != runs+1 {
		t.Errorf("%d recognised of %d: the test shows little", got, runs+1)
	}
}
