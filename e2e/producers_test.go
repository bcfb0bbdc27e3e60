//go:build e2e

package e2e

import "testing"

// waysToSend are what a producer does in a topic of its own. Each message is accounted for at a consumer.
var waysToSend = []struct{ way, does string }{
	{"synchronous", "synchronously"},
	{"asynchronous", "asynchronously"},
	{"one-way", "one-way"},
	{"batch", "in batches of ten"},
	{"delayed", "with a delay of 1 s: none arrives before its time"},
	{"ordered", "to queues chosen by key: each key's messages arrive in order"},
	{"transactional", "in transactions: committed and rolled back, at once and when the broker asks"},
}

// queuesToSend is the number of queues of a topic to send to.
const queuesToSend = "4"

func testProducers(t *testing.T, nameserver string, open *stack, strict *strictCluster, c *javaClients) {
	for _, p := range waysToSend {
		t.Run(p.way, func(t *testing.T) {
			c.inMatrix(t, nameserver, "producer sends "+p.does)
			topic, addr, broker := c.topic("Send", p.way), open.nameserver.Addr, open.broker
			if p.way == "transactional" {
				addr, broker = strict.nameserver.Addr, strict.zoned
			}
			c.do(t, "create-topic", addr, topic, broker.Addr, queuesToSend)
			switch p.way {
			case "ordered":
				c.do(t, "order", addr, topic, broker.Name+":"+queuesToSend)
			case "transactional":
				c.do(t, "transactions", addr, topic)
			default:
				c.do(t, "send", addr, topic, p.way)
			}
		})
	}
}
