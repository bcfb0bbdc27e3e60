package harness

import (
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
)

// Ports are taken from below the range that Linux gives to outgoing connections (from 32768 on), so that a peer can
// be stopped and started again on its port without meeting a stranger there.
const (
	firstPort = 15000
	lastPort  = 31000
)

// claimed holds every port handed out by this process; a port is never handed out twice.
var claimed = struct {
	sync.Mutex
	ports map[int]bool
}{ports: map[int]bool{}}

// FreePort returns a loopback port on which nobody listens.
func FreePort() (int, error) { return freeBase(0) }

// FreeBrokerPort returns a port for a broker. A broker also listens on the port two below (its second remoting
// server) and on the one above (replication); all three are free.
func FreeBrokerPort() (int, error) { return freeBase(0, -2, 1) }

// freeBase finds a port p such that p+offset is free for every offset, and claims them all.
func freeBase(offsets ...int) (int, error) {
	claimed.Lock()
	defer claimed.Unlock()
	const span = lastPort - firstPort
	start := rand.IntN(span)
	for i := range span {
		base := firstPort + (start+i)%span
		if !allFree(base, offsets) {
			continue
		}
		for _, offset := range offsets {
			claimed.ports[base+offset] = true
		}
		return base, nil
	}
	return 0, fmt.Errorf("harness: no free port between %d and %d", firstPort, lastPort)
}

func allFree(base int, offsets []int) bool {
	for _, offset := range offsets {
		port := base + offset
		if claimed.ports[port] {
			return false
		}
		listener, err := net.Listen("tcp4", Loopback(port))
		if err != nil {
			return false
		}
		_ = listener.Close()
	}
	return true
}

// Loopback is the address of a port on this machine, as peers write it.
func Loopback(port int) string { return fmt.Sprintf("127.0.0.1:%d", port) }
