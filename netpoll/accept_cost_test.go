package netpoll

import (
	"net"
	"runtime"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/waymark-mq/waymark/internal/raceflag"
)

// TestAcceptAllocations bounds what the process allocates for a connection until it is open: by net and gnet for the most
// part. The clients are bare descriptors, so that what they cost is next to nothing.
func TestAcceptAllocations(t *testing.T) {
	if raceflag.Enabled {
		t.Skip("the race detector allocates")
	}
	const (
		connections = 200
		limit       = 42 // 37 to 38 with Go 1.26 and gnet 2.9.7
	)
	var opened atomic.Int64
	h := newEcho()
	h.onOpen = func(*Conn) { opened.Add(1) }
	s := startServer(t, h, Options{EventLoops: 1})
	target := &syscall.SockaddrInet4{Port: s.Addr().(*net.TCPAddr).Port, Addr: [4]byte{127, 0, 0, 1}}
	fds := make([]int, 0, 2*connections)
	defer func() {
		for _, fd := range fds {
			_ = syscall.Close(fd)
		}
	}()
	open := func() {
		for range connections {
			fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
			if err != nil {
				t.Fatal(err)
			}
			fds = append(fds, fd)
			if err := syscall.Connect(fd, target); err != nil {
				t.Fatal(err)
			}
		}
		waitFor(t, "all to be open", func() bool { return opened.Load() == int64(len(fds)) })
	}
	open() // workers, maps and pools
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	open()
	runtime.ReadMemStats(&after)
	n := float64(after.Mallocs-before.Mallocs) / connections
	t.Logf("%.1f allocations for a connection", n)
	if n > limit {
		t.Errorf("%.1f allocations for a connection, at most %d expected", n, limit)
	}
}
