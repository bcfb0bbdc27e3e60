//go:build faults && linux

package faults

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/waymark-mq/waymark/codec"
	"github.com/waymark-mq/waymark/e2e/harness"
)

// TestDrainUnderQueries: under 5,000 queries a second every connection is ended in time, each answer before is a whole route, the
// server goes on answering whoever comes, and it ends when it is told to.
func TestDrainUnderQueries(t *testing.T) {
	const (
		brokers    = 8
		asking     = 50
		perBatch   = 5
		batchEvery = 50 * time.Millisecond // 5,000 queries a second in all
		seconds    = 4
	)
	for _, by := range []string{"SIGUSR1", "POST /drain"} {
		t.Run(by, func(t *testing.T) {
			port, err := harness.FreePort()
			if err != nil {
				t.Fatal(err)
			}
			admin := "http://" + harness.Loopback(port)
			s := newSite(t, "eventLoops=2", fmt.Sprint("drainSeconds=", seconds), "adminListen="+harness.Loopback(port))
			p := s.start()
			var registered []*broker
			for i := range brokers {
				registered = append(registered, s.register(fmt.Sprint("broker-", i), time.Minute))
			}
			s.wantReady(admin, http.StatusOK)
			var running sync.WaitGroup
			var answers, ended atomic.Int64
			for i := range asking {
				c := s.dial()
				running.Go(func() { c.askOn(perBatch, batchEvery, brokers) })
				running.Go(func() {
					answers.Add(c.wholeRoutesOnly(fmt.Sprint("connection ", i)))
					ended.Add(1)
				})
			}
			time.Sleep(500 * time.Millisecond) // of load before
			if by == "SIGUSR1" {
				p.signal(syscall.SIGUSR1)
			} else {
				for _, want := range []int{http.StatusAccepted, http.StatusConflict} { // the second changes nothing
					answer, err := http.Post(admin+"/drain", "", nil)
					if err != nil || answer.StatusCode != want {
						t.Fatal(answer, err)
					}
					_ = answer.Body.Close()
				}
			}
			s.wantReady(admin, http.StatusServiceUnavailable)
			if n := ended.Load(); n > 0 {
				t.Errorf("%d connections ended at once", n)
			}
			running.Wait()
			t.Logf("%d whole answers", answers.Load())
			for _, b := range registered {
				b.wantEnd()
			}
			for i := range brokers {
				s.dial().want(codec.ResponseSuccess, route(fmt.Sprint("broker-", i)))
			}
			if p.stderr.has("level=ERROR") || !p.stderr.has("every connection was ended once") {
				t.Error("the log")
			}
			p.signal(syscall.SIGUSR1) // again: nothing
			p.stop()
		})
	}
}

// wantReady waits until the readiness probe answers with a status.
func (s *site) wantReady(admin string, status int) {
	s.t.Helper()
	var got string
	defer func() {
		if s.t.Failed() {
			s.t.Log(got)
		}
	}()
	waitFor(s.t, fmt.Sprint("readiness ", status), func() bool {
		answer, err := http.Get(admin + "/readyz")
		if err != nil {
			got = err.Error()
			return false
		}
		defer answer.Body.Close()
		body, _ := io.ReadAll(answer.Body)
		got = answer.Status + " " + string(body)
		return answer.StatusCode == status
	})
}

// wholeRoutesOnly reads answers until the connection ends and returns how many there were. All must be whole routes.
func (c *client) wholeRoutesOnly(name string) (answers int64) {
	for {
		a, err := c.next(waitLimit)
		switch {
		case err != nil && isEnd(err) && answers > 0:
			return answers
		case err != nil:
			c.t.Errorf("%s: after %d answers: %v", name, answers, err)
			return answers
		case a.Code != codec.ResponseSuccess || a.body == "" || strings.Contains(a.body, noMembers):
			c.t.Errorf("%s: answer %d is of code %d: %s %s", name, answers, a.Code, a.Remark, a.body)
			_ = c.conn.Close()
			return answers
		}
		answers++
	}
}
