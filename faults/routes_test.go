//go:build faults && linux

package faults

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/waymark-mq/waymark/codec"
)

// TestKilledWhileKeepingRoutes: whenever a nameserver is killed, the next one starts, and serves routes as they were at some moment
// that is no earlier than what the one before began with.
func TestKilledWhileKeepingRoutes(t *testing.T) {
	const (
		seed     = 23
		killTime = 15 * time.Second
		longest  = 400 * time.Millisecond // from the first registration of a round to the kill; the file is written every 100 ms
		filler   = 5000                   // topics, which make a write take long enough to be met by a kill
	)
	s := newSite(t)
	path := filepath.Join(s.home, "routes")
	writeFile(t, s.config, readFile(t, s.config)+"routeSnapshotIntervalMillis=100\nrouteSnapshotPath="+path+"\n")
	topics := []string{"T"}
	for i := range filler {
		topics = append(topics, fmt.Sprint("filler-", i))
	}
	register := func(n int) request { // n is how many queues T has
		r := registration("a", time.Minute, n, topics...)
		r.body = strings.Replace(r.body, `"readQueueNums":4`, fmt.Sprintf(`"readQueueNums":%d`, n), 1)
		return r
	}
	random := rand.New(rand.NewPCG(seed, 0))
	restored, sent, rounds, advanced := 0, 0, 0, 0
	for end := time.Now().Add(killTime); time.Now().Before(end); rounds++ {
		p := s.start()
		c := s.dial()
		n := queuesOf(t, c, "T")
		if n < restored || n > sent {
			t.Fatalf("round %d: T has %d queues; it had %d in the file before, and %d were registered", rounds, n, restored, sent)
		}
		if n > restored {
			advanced++
		}
		if restored = n; n > 0 && queuesOf(t, c, fmt.Sprint("filler-", filler-1)) != 4 {
			t.Fatalf("round %d: the rest of the routes is missing", rounds)
		}
		killing := time.AfterFunc(time.Duration(random.Int64N(int64(longest))), func() { p.signal(syscall.SIGKILL) })
		for {
			sent++
			if _, err := c.tryCall(register(sent), waitLimit); err != nil {
				break
			}
		}
		killing.Stop()
		p.kill()
		if p.stderr.has("not restored") || p.stdout.has("not restored") {
			t.Fatalf("round %d: the file was no use\n%s%s", rounds, p.stdout.String(), p.stderr.String())
		}
	}
	if advanced == 0 {
		t.Errorf("%d rounds, and nothing was ever restored", rounds)
	}
	t.Logf("%d rounds, %d of them with routes of the process before, %d registrations", rounds, advanced, sent)
}

// queuesOf is how many read queues a topic has; 0 if it is unknown.
func queuesOf(t *testing.T, c *client, topic string) int {
	t.Helper()
	a := c.call(route(topic))
	if a.Code == codec.ResponseTopicNotExist {
		return 0
	}
	var r struct {
		QueueDatas []struct{ ReadQueueNums int }
	}
	if err := json.Unmarshal([]byte(a.body), &r); err != nil || len(r.QueueDatas) != 1 {
		t.Fatalf("route of %s: %d %s, %v", topic, a.Code, a.body, err)
	}
	return r.QueueDatas[0].ReadQueueNums
}
