//go:build faults && linux

package faults

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/waymark-mq/waymark/codec"
)

// TestFitsASmallContainer: 50 brokers of 2,000 topics that register all of them again and again, with one more each time,
// and 2,000 clients that ask for routes stay below the memory of a small container.
func TestFitsASmallContainer(t *testing.T) {
	ofSize(t)
	const (
		brokers, topics  = 50, 2_000
		clients, queries = 2_000, 10 // of each in a round
		rounds           = 4
		mostMiB          = 256
	)
	s := newSite(t)
	p := s.start()
	var conns []*client
	for range brokers + clients {
		conns = append(conns, s.dial())
	}
	for round := range rounds {
		names := []string{"broker-0"}
		for i := range topics + round {
			names = append(names, fmt.Sprintf("TopicOfTheCluster%06d", i))
		}
		var running sync.WaitGroup
		for i, c := range conns {
			running.Go(func() {
				requests := []request{registration(fmt.Sprint("broker-", i), time.Hour, round+1, names...)}
				if i >= brokers {
					requests = requests[:0]
					for q := range queries {
						requests = append(requests, route(names[(i+q)%len(names)]))
					}
				}
				for _, r := range requests {
					if a, err := c.tryCall(r, waitLimit); err != nil || a.Code != codec.ResponseSuccess {
						t.Errorf("connection %d: %+v, %v", i, a, err)
						return
					}
				}
			})
			if i == 0 { // from here on every topic is known
				running.Wait()
			}
		}
		running.Wait()
	}
	t.Logf("%d brokers of %d topics, %d clients: %d MiB at most", brokers, topics, clients, p.peakMiB())
	if rss := p.peakMiB(); rss > mostMiB {
		t.Errorf("%d MiB, want at most %d", rss, mostMiB)
	}
	p.stop()
}
