//go:build faults && linux

package faults

import (
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/waymark-mq/waymark/codec"
)

const cluster = "DefaultCluster"

// broker is a connection that registers one topic under a name, both named alike.
type broker struct {
	*client
	name    string
	timeout time.Duration

	stopBeating, beatingEnded chan struct{}
	lastBeat                  time.Time    // valid after beatingEnded
	widestGap                 atomic.Int64 // nanoseconds between two heartbeats sent since it was last reset
	ended                     atomic.Value // error: the server ended the connection
}

// register connects a master broker with one topic of its own and one for company:
// a first registration with a single topic is refused.
func (s *site) register(name string, timeout time.Duration) *broker {
	s.t.Helper()
	b := &broker{client: s.dial(), name: name, timeout: timeout,
		stopBeating: make(chan struct{}), beatingEnded: make(chan struct{})}
	b.want(codec.ResponseSuccess, registration(name, timeout, 1, name, "pad"))
	return b
}

// registration is a master broker's with these topics.
func registration(name string, timeout time.Duration, counter int, topics ...string) request {
	addr := name + ":10911"
	r := ask(codec.RequestRegisterBroker, "clusterName", cluster, "brokerName", name, "brokerAddr", addr, "brokerId", "0",
		"haServerAddr", addr, "heartbeatTimeoutMillis", strconv.FormatInt(timeout.Milliseconds(), 10), "compressed", "false")
	var table []string
	for _, topic := range topics {
		table = append(table, fmt.Sprintf(`%q:{"topicName":%[1]q,"perm":6,"readQueueNums":4,"writeQueueNums":4}`, topic))
	}
	r.body = fmt.Sprintf(`{"filterServerList":[],"topicConfigSerializeWrapper":{"dataVersion":{"counter":%d,"stateVersion":0,"timestamp":1700000000000},"topicConfigTable":{%s}}}`,
		counter, strings.Join(table, ","))
	return r
}

func (b *broker) addr() string { return b.name + ":10911" }

// beat starts sending one-way heartbeats, four in a timeout, until stop.
func (b *broker) beat() {
	r := ask(codec.RequestBrokerHeartbeat, "clusterName", cluster, "brokerName", b.name, "brokerAddr", b.addr(), "brokerId", "0")
	r.flag = codec.FlagOneway
	go func() { // one-way requests have no answer: what comes is the end
		_ = b.conn.SetReadDeadline(time.Time{})
		a, err := readAnswer(b.r)
		b.ended.Store(fmt.Errorf("answer %+v, error %w", a, err))
	}()
	go func() {
		defer close(b.beatingEnded)
		ticker := time.NewTicker(b.timeout / 4)
		defer ticker.Stop()
		b.lastBeat = time.Now()
		for {
			select {
			case <-b.stopBeating:
				return
			case <-ticker.C:
			}
			before := b.lastBeat
			b.lastBeat = time.Now()
			if err := b.send(r); err != nil {
				return // its reason is in ended
			}
			b.widestGap.Store(max(b.widestGap.Load(), int64(time.Since(before))))
		}
	}()
}

// stop ends the heartbeats, but not the connection, and returns when the last was sent.
func (b *broker) stop() time.Time {
	close(b.stopBeating)
	<-b.beatingEnded
	return b.lastBeat
}
