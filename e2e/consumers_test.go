//go:build e2e

package e2e

import "testing"

// consumerKinds are the two that share the work of a group.
var consumerKinds = []struct{ kind, name string }{
	{"push", "push"},
	{"litepull", "lite pull"},
}

const queuesToShare = "3"

// testConsumers: members of a group share the queues of a topic, also when one joins and when one leaves, and each
// message goes to one of them; or, broadcasting, each member gets all.
func testConsumers(t *testing.T, nameserver string, s *stack, c *javaClients) {
	for _, consumer := range consumerKinds {
		test := func(task, want, does string) {
			t.Run(consumer.kind+" "+task, func(t *testing.T) {
				c.inMatrix(t, nameserver, consumer.name+" consumers "+does)
				topic := c.topic("Consume", consumer.kind, task)
				c.do(t, "create-topic", s.nameserver.Addr, topic, s.broker.Addr, queuesToShare)
				if got := c.do(t, task, s.nameserver.Addr, topic, consumer.kind); got != want {
					t.Errorf("the group says %q, want %q", got, want)
				}
			})
		}
		test("share", "shares=2+1,1+1+1,2+1 messages=300",
			"share three queues: 2+1, 1+1+1 when a third joins, 2+1 when it has left, each message once")
		test("broadcast", "members=2 messages=100", "in broadcasting mode: two, each gets every message")
	}
}
