//go:build faults && linux

package faults

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

// waits are how long answers took, measured by several connections.
type waits struct {
	mu      sync.Mutex
	n       int
	longest time.Duration
	codes   map[int32]int
}

// measure asks one request after another, some 500 in a second, until stop.
func (w *waits) measure(c *client, requests []request, stop <-chan struct{}) {
	for i := 0; ; i++ {
		select {
		case <-stop:
			return
		case <-time.After(2 * time.Millisecond):
		}
		began := time.Now()
		a, err := c.tryCall(requests[i%len(requests)], waitLimit)
		if err != nil {
			c.t.Errorf("after %d answers and %v: %v", i, time.Since(began), err)
			return
		}
		w.note(a.Code, time.Since(began))
	}
}

func (w *waits) note(code int32, took time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.codes == nil {
		w.codes = map[int32]int{}
	}
	w.n++
	w.codes[code]++
	w.longest = max(w.longest, took)
}

// dialNarrow is a connection that takes little in unless it is read.
func (s *site) dialNarrow() *client {
	s.t.Helper()
	c := s.dial()
	_ = c.conn.(*net.TCPConn).SetReadBuffer(16 << 10)
	return c
}

// readSlowly makes the client read at most so many bytes a second.
func (c *client) readSlowly(perSecond int) {
	c.r = bufio.NewReaderSize(&slowConn{Conn: c.conn, perSecond: perSecond}, 16)
}

type slowConn struct {
	net.Conn
	perSecond int
}

func (s *slowConn) Read(b []byte) (int, error) {
	n, err := s.Conn.Read(b[:min(len(b), s.perSecond/50)])
	time.Sleep(time.Duration(n) * time.Second / time.Duration(s.perSecond))
	return n, err
}

// peakMiB is the most memory that the process has had.
func (p *process) peakMiB() int {
	p.t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		p.t.Fatal(err)
	}
	_, line, _ := strings.Cut(string(status), "VmHWM:")
	kib, err := strconv.Atoi(strings.Fields(line)[0])
	if err != nil {
		p.t.Fatal(err)
	}
	return kib >> 10
}
