package verdict

import (
	"testing"
	"time"

	"github.com/waymark-mq/waymark/core"
)

// A pause of this process is nobody's silence.
func TestPauseProvesNothing(t *testing.T) {
	b := newBench(t, probing, 1)
	b.makeSuspect()
	b.now += int64(20 * time.Second)
	b.judge.Froze(b.now, int64(20*time.Second))
	if b.judge.Suspects() != 0 {
		t.Error("still suspect")
	}
	b.pass(time.Second, always(Silent))
	b.wantDeclared(0, "")
}

// What a probe comes to that was under way when this process stood still proves nothing, but for an answer.
func TestProbeUnderWayInAPause(t *testing.T) {
	for _, o := range []Outcome{Silent, Rejected, Answered} {
		b := newBench(t, probing, 1)
		b.pass(2*time.Second, always(Answered))
		if got := b.begin(2 * time.Second); len(got) != 1 {
			t.Fatalf("%d probes begun", len(got))
		}
		b.now += int64(20 * time.Second)
		b.judge.Froze(b.now, int64(20*time.Second))
		b.judge.Probed(b.now, nth(0), b.result(nth(0), o))
		if s, _ := b.judge.State(nth(0).key()); s.Failures != 0 || (o == Answered) != (s.Answered == b.now) {
			t.Errorf("%d: %+v", o, s)
		}
		if got := b.begin(2 * time.Second); len(got) != 1 {
			t.Errorf("%d: %d probes afterwards", o, len(got))
		}
		b.judge.Probed(b.now, nth(0), b.result(nth(0), Silent)) // begun since
		if s, _ := b.judge.State(nth(0).key()); s.Failures != 1 {
			t.Errorf("%d: a failure since counts: %+v", o, s)
		}
	}
}

// A broker that was lost before a pause is looked for after it, whatever the probe under way comes to.
func TestLostInAPause(t *testing.T) {
	b := newBench(t, probing, 0)
	n := nth(0)
	b.judge.Left(b.now, &core.Event{
		Kind: core.EventClosed, ClusterName: n.ClusterName, BrokerName: n.BrokerName, BrokerAddr: n.BrokerAddr, Sign: b.now, Version: anyVersion, ByPeer: true,
	})
	if got := b.begin(time.Second); len(got) != 1 {
		t.Fatalf("%d probes", len(got))
	}
	b.now += int64(5 * time.Second)
	b.judge.Froze(b.now, int64(5*time.Second))
	b.judge.Probed(b.now, n, Result{Outcome: Silent})
	if got := b.begin(time.Second); len(got) != 1 {
		t.Errorf("%d probes after the pause", len(got))
	}
	b.judge.Probed(b.now, n, Result{Outcome: Silent})
	if got := b.begin(time.Second); len(got) != 0 {
		t.Errorf("%d probes of one that is lost", len(got))
	}
}
