//go:build faults && linux

package faults

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/waymark-mq/waymark/codec"
)

const containerMiB = 256

// inContainer makes processes of the site start in a control group of its own with that much memory: below the test's, in
// version 1 or 2. Where none can be made the test is skipped.
func (s *site) inContainer(mib int) {
	s.t.Helper()
	group, limit, err := newMemoryGroup()
	if err != nil {
		s.t.Skipf("no control group: %v", err)
	}
	s.t.Cleanup(func() { _ = os.Remove(group) }) // the process has ended: its cleanup came later, so runs before
	if err := os.WriteFile(filepath.Join(group, limit), []byte(strconv.Itoa(mib<<20)), 0); err != nil {
		s.t.Skipf("no control group: %v", err)
	}
	s.group = group
}

func newMemoryGroup() (group, limit string, err error) {
	text, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return "", "", err
	}
	name := fmt.Sprintf("waymark-faults-%d", os.Getpid())
	for line := range strings.Lines(string(text)) {
		_, rest, _ := strings.Cut(strings.TrimSpace(line), ":")
		controllers, path, _ := strings.Cut(rest, ":")
		switch controllers {
		case "memory":
			group, limit = filepath.Join("/sys/fs/cgroup/memory", path, name), "memory.limit_in_bytes"
		case "":
			if group == "" { // a process may be in both
				group, limit = filepath.Join("/sys/fs/cgroup", path, name), "memory.max"
			}
		}
	}
	if group == "" {
		return "", "", fmt.Errorf("%q names none", text)
	}
	return group, limit, os.Mkdir(group, 0o755)
}

func manyNames(n int) []string {
	names := []string{"pad"}
	for i := range n {
		names = append(names, fmt.Sprintf("TopicOfTheCluster%06d", i))
	}
	return names
}

// TestLargeClusterInASmallContainer: 100 brokers register 10,000 shared topics all at once, and again with changes. The process stays; who
// is refused is told so, or closed, and comes through when it tries again.
func TestLargeClusterInASmallContainer(t *testing.T) {
	ofSize(t)
	const brokers, topics, rounds, mostTries = 100, 10_000, 2, 50
	s := newSite(t)
	s.inContainer(containerMiB)
	p := s.start()
	names := manyNames(topics)
	var mu sync.Mutex
	busy, closed := 0, 0
	for round := range rounds {
		var running sync.WaitGroup
		for i := range brokers {
			running.Go(func() {
				c, err := s.tryDial()
				for range mostTries {
					var a *answer
					if err == nil {
						a, err = c.tryCall(registration(fmt.Sprint("broker-", i), time.Hour, round+1, names[:len(names)-round]...), waitLimit)
					}
					if err == nil && a.Code == codec.ResponseSuccess {
						return
					}
					mu.Lock()
					if err != nil {
						closed++
					} else {
						busy++
					}
					mu.Unlock()
					time.Sleep(20 * time.Millisecond)
					if err != nil {
						c, err = s.tryDial()
					}
				}
				t.Errorf("broker %d isn't registered after %d tries: %v", i, mostTries, err)
			})
		}
		running.Wait()
	}
	t.Logf("%d brokers of %d topics, %d times: %d MiB at most; %d refusals, %d connections closed", brokers, topics, rounds, p.peakMiB(), busy, closed)
	s.dial().want(codec.ResponseSuccess, route(names[1]))
	p.stop()
}

// TestBudgetsFillASmallContainer: peers hold all that budgets allow: begun frames, unread answers, TLS handshakes, idle connections. The
// process stays, and so do brokers.
func TestBudgetsFillASmallContainer(t *testing.T) {
	ofSize(t)
	const topics, halves, deaf, hellos = 10_000, 400, 300, 1_500
	s := newSite(t)
	s.inContainer(containerMiB)
	p := s.start()
	if !p.stderr.has("memory budgets in bytes") || p.stderr.has("limit=none") {
		t.Error("the log doesn't say the limit and the budgets in force")
	}
	brokers := s.beatingBrokers()
	s.dial().want(codec.ResponseSuccess, registration("many", time.Hour, 1, manyNames(topics)...))
	half := make([]byte, 300<<10)
	binary.BigEndian.PutUint32(half, 4<<20)
	binary.BigEndian.PutUint32(half[4:], 100)
	lists := bytes.Repeat(ask(codec.RequestGetAllTopicListFromNameserver).append(nil, 1), 100)
	hello := []byte{0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3, 0}
	for _, kind := range []struct {
		n    int
		sent []byte
	}{{halves, half}, {deaf, lists}, {hellos, hello}} {
		for range kind.n {
			c := s.dialNarrow()
			_ = c.conn.SetWriteDeadline(time.Now().Add(waitLimit))
			_, _ = c.conn.Write(kind.sent) // it may be closed meanwhile
		}
	}
	admin := s.dial()
	for end := time.Now().Add(loadTime); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		admin.want(codec.ResponseSuccess, route(brokers[0].name))
	}
	s.wantAll(brokers)
	t.Logf("%d MiB at most", p.peakMiB())
	p.stop()
}
