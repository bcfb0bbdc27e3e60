//go:build faults && linux

package faults

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/waymark-mq/waymark/codec"
)

const exitForced = 130

func TestSignalStops(t *testing.T) {
	for name, signal := range map[string]os.Signal{"SIGTERM": syscall.SIGTERM, "SIGINT": syscall.SIGINT} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			p := s.start()
			idle, used := s.dial(), s.register("a", time.Minute)
			idle.want(codec.ResponseSuccess, route("a"))
			p.signal(signal)
			idle.wantEnd()
			used.wantEnd()
			p.wantExit(0, waitLimit)
			if _, err := s.tryDial(); err == nil {
				t.Error("the port is still open")
			}
		})
	}
}

// TestGracefulStop: while it waits for clients to go, newer ones are told to,
// older ones are served, and a second signal ends it at once.
func TestGracefulStop(t *testing.T) {
	for name, second := range map[string]os.Signal{"SIGTERM": syscall.SIGTERM, "SIGINT": syscall.SIGINT} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, "enableShutdownGracefully=true", "shutdownWaitTimeSeconds=30")
			p := s.start()
			s.register("a", time.Minute)
			c := s.dial()
			c.want(codec.ResponseSuccess, route("a"))
			p.signal(syscall.SIGTERM)
			waitFor(t, "code 1500", func() bool { return c.call(route("a")).Code == codec.ResponseGoAway })
			old := route("a")
			old.version = 475 // V5_3_1, the last that does not know code 1500
			s.dial().want(codec.ResponseSuccess, old)
			members := ask(codec.RequestGetBrokerMemberGroup, "brokerName", "a")
			members.version = 475
			if a := s.dial().want(codec.ResponseSuccess, members); strings.Contains(a.body, noMembers) {
				t.Errorf("a group without members while stopping: %s", a.body)
			}
			p.signal(syscall.SIGUSR1) // too late, and no reason to end
			s.dial().want(codec.ResponseSuccess, old)
			p.signal(second)
			c.wantGone()
			p.wantExit(exitForced, 10*time.Second)
		})
	}
}

func TestGracefulStopEnds(t *testing.T) {
	s := newSite(t, "enableShutdownGracefully=true", "shutdownWaitTimeSeconds=1")
	p := s.start()
	c := s.dial()
	c.want(codec.ResponseTopicNotExist, route("a"))
	p.signal(syscall.SIGTERM)
	c.wantEnd()
	p.wantExit(0, waitLimit)
}

// TestStopUnderQueries: while the server stops, every answer is a whole route or group, and every connection ends between two of them. A topic
// isn't denied because its broker's connection is closed a moment before the one that asks for it.
func TestStopUnderQueries(t *testing.T) {
	const (
		brokers    = 8
		asking     = 10
		perBatch   = 5
		batchEvery = 10 * time.Millisecond // 5,000 queries a second in all
		before     = 500 * time.Millisecond
		rounds     = 3
	)
	for round := range rounds {
		s := newSite(t, "eventLoops=2")
		p := s.start()
		for i := range brokers {
			s.register(fmt.Sprint("broker-", i), time.Minute)
		}
		var running sync.WaitGroup
		for i := range asking {
			c := s.dial()
			running.Go(func() { c.askOn(perBatch, batchEvery, brokers) })
			running.Go(func() { c.wholeRoutesOnly(fmt.Sprint("round ", round, ", connection ", i)) })
		}
		time.Sleep(before)
		p.signal(syscall.SIGTERM)
		p.wantExit(0, waitLimit)
		running.Wait()
	}
}

// noMembers is in the answer to 901 for a group that nobody knows.
const noMembers = `"brokerAddrs":{}`

// askOn sends batches of route queries, and a query for a group's members now and then, until the connection takes no more.
func (c *client) askOn(perBatch int, every time.Duration, brokers int) {
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	var batch []byte
	for range ticker.C {
		batch = batch[:0]
		for range perBatch {
			c.opaque++
			name := fmt.Sprint("broker-", int(c.opaque)%brokers)
			r := route(name)
			if c.opaque%50 == 0 {
				r = ask(codec.RequestGetBrokerMemberGroup, "brokerName", name)
			}
			batch = r.append(batch, c.opaque)
		}
		if _, err := c.conn.Write(batch); err != nil {
			return
		}
	}
}

// isEnd reports an end between two frames. A reset is what a peer sees that
// still sends to a connection that was closed.
func isEnd(err error) bool {
	return !errors.Is(err, io.ErrUnexpectedEOF) && (errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET))
}

// wantGone waits for the end of a connection whose process ended at once.
func (c *client) wantGone() {
	c.t.Helper()
	if a, err := c.next(waitLimit); err == nil || !isEnd(err) {
		c.t.Fatalf("answer %+v, error %v; want the end of the connection", a, err)
	}
}
