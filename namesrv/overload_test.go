package namesrv

import (
	"strings"
	"testing"

	"github.com/waymark-mq/waymark/codec"
	"github.com/waymark-mq/waymark/namesrv/settings"
)

// A peer that reads nothing has used the output budget up. Answers over 64 KiB are refused then, also
// those that are made off the loop; small ones go on.
func TestLargeAnswersAreRefusedOverTheBudget(t *testing.T) {
	const budget = 1 << 20
	s := start(t, func(c *settings.Settings) {
		c.EventLoops, c.OutputBudgetBytes, c.ServerSocketSndBufSize = 2, budget, 64<<10
	})
	near, _ := s.dialOn(0)
	far, _ := s.dialOn(1)
	a := broker("a")
	near.register(a.having(many(6000, 4)...))
	far.register(broker("b"), broker("c").set("clusterName", "Other"))
	const busy = `2 "[OVERLOAD]system busy, start flow control for a while"`

	greedy, conn := s.dialOn(0)
	conn.Send(make([]byte, 12<<20)) // more than the kernel takes
	s.settle()
	if s.net.UnsentBytes() <= budget {
		t.Fatalf("%d bytes unsent: the budget isn't used up", s.net.UnsentBytes())
	}
	// The order configuration is small yet.
	near.wantCode(broker("b").again().request(), 0)
	near.wantCode(broker("b").counter(2).request(), 0)
	far.wantCode(broker("c").set("clusterName", "Other").counter(2).request(), 0)
	far.want(put("ORDER_TOPIC_CONFIG", "T", strings.TrimSuffix(strings.Repeat("b:4;", 20<<10), ";")), "0")

	if n := len(s.table.Load().OrderTable()); n <= largeAnswerBytes {
		t.Fatalf("an order configuration of %d bytes is not large", n)
	}
	far.want(broker("b").counter(3).request(), busy)          // by the writer
	near.want(broker("b").counter(3).again().request(), busy) // on the loop
	far.want(ask(codec.RequestGetAllTopicListFromNameserver), busy)
	near.want(ask(codec.RequestGetAllTopicListFromNameserver), busy)
	for _, c := range []*client{near, far} {
		c.want(broker("b").heartbeat(), "0")
		c.want(routeOf("None"), c.call(routeOf("None")).String())
	}
	far.wantCode(ask(codec.RequestGetSystemTopicListFromNS), 0)
	if _, ok := s.live(cluster, "b:10911"); !ok {
		t.Error("b is not alive")
	}

	greedy.close()
	eventually(t, "the budget is free again", func() bool { return s.net.UnsentBytes() == 0 })
	for _, c := range []*client{near, far} {
		if a := c.call(broker("b").counter(4).request()); a.code != 0 || len(a.body) < largeAnswerBytes {
			t.Errorf("registration: code %d, body of %d bytes", a.code, len(a.body))
		}
		c.wantCode(broker("b").counter(4).again().request(), 0)
		c.wantCode(ask(codec.RequestGetAllTopicListFromNameserver), 0)
	}
}

// settle waits until the loops have done what was queued for them.
func (s *testServer) settle() {
	s.t.Helper()
	done := make(chan struct{})
	s.net.Barrier(func() { close(done) })
	s.await(done, "a loop")
}
