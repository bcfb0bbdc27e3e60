//go:build faults && linux

package faults

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/waymark-mq/waymark/codec"
)

// TestPeersThatDontRead: 200 peers ask for 20 GB of topic lists and read nothing. The process stays small, others are
// answered as before, and a reader that is slow gets all of its answer.
func TestPeersThatDontRead(t *testing.T) {
	ofSize(t)
	const (
		brokers, topics = 2, 50_000 // of each
		peers           = 200
		gigabytes       = 20
		pileUp          = 5 * time.Second // for all that can
		slowPerSecond   = 2 << 20
		mostMiB         = 600
		longestWait     = 2 * time.Second // on a busy machine
	)
	s := newSite(t)
	p := s.start()
	for b := range brokers {
		name := fmt.Sprint("broker-", b)
		names := []string{name}
		for i := range topics {
			names = append(names, fmt.Sprintf("TopicOfBroker%d-Number%06d", b, i))
		}
		s.dial().want(codec.ResponseSuccess, registration(name, time.Hour, 1, names...))
	}
	list := ask(codec.RequestGetAllTopicListFromNameserver)
	c := s.dial()
	size := len(c.want(codec.ResponseSuccess, list).body)
	each := gigabytes*1_000_000_000/peers/size + 1

	var running sync.WaitGroup
	slow := s.dialNarrow()
	slow.readSlowly(slowPerSecond)
	running.Go(func() {
		if a, err := slow.tryCall(list, 2*waitLimit); err != nil || a.Code != codec.ResponseSuccess || len(a.body) != size {
			t.Errorf("slow reader: %+v, %v", a, err)
		}
	})
	stop := make(chan struct{})
	var others waits
	for range 4 {
		c := s.dial()
		running.Go(func() { others.measure(c, []request{route("broker-0"), route("none")}, stop) })
	}
	var deaf []*client
	for range peers {
		c := s.dialNarrow()
		var frames []byte
		for i := range each {
			frames = list.append(frames, int32(i))
		}
		if _, err := c.conn.Write(frames); err != nil {
			t.Fatal(err)
		}
		deaf = append(deaf, c)
	}
	time.Sleep(pileUp)
	close(stop)
	running.Wait()
	t.Logf("each of %d peers asked for %d lists of %d bytes: %d MiB at most; %d queries beside them took up to %v, codes %v",
		peers, each, size, p.peakMiB(), others.n, others.longest, others.codes)
	if rss := p.peakMiB(); rss > mostMiB {
		t.Errorf("%d MiB, want at most %d", rss, mostMiB)
	}
	if others.longest > longestWait {
		t.Errorf("a query took %v", others.longest)
	}
	if n := others.codes[codec.ResponseSystemBusy]; n > 0 {
		t.Errorf("%d queries of peers that read were refused", n)
	}
	for _, c := range deaf {
		c.close()
	}
	waitFor(t, "lists again", func() bool { return c.call(list).Code == codec.ResponseSuccess })
	p.stop()
}
