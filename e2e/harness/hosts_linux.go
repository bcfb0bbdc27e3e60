package harness

import (
	"fmt"
	"net"
	"os"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// Dial connects from the host to an address, an IP with a port, whether its link is cut or not.
func (h *Host) Dial(addr string, timeout time.Duration) (net.Conn, error) {
	return inside(h, func() (net.Conn, error) { return net.DialTimeout("tcp", addr, timeout) })
}

// Listen listens on a port of the host's own address.
func (h *Host) Listen(port string) (net.Listener, error) {
	return inside(h, func() (net.Listener, error) { return net.Listen("tcp", net.JoinHostPort(h.Addr, port)) })
}

// inside calls f on a thread that is in the host's network: sockets that it makes stay there, wherever they are used. The thread comes back: the
// processes that it has started may be bound to its end.
func inside[T any](h *Host, f func() (T, error)) (result T, err error) {
	runtime.LockOSThread()
	home, err := os.Open("/proc/thread-self/ns/net")
	if err != nil {
		runtime.UnlockOSThread()
		return result, fmt.Errorf("harness: %w", err)
	}
	defer home.Close()
	if err = enter("/run/netns/" + h.Namespace); err == nil {
		result, err = f()
	}
	if back := unix.Setns(int(home.Fd()), unix.CLONE_NEWNET); back != nil {
		return result, fmt.Errorf("harness: the way back: %w", back) // the thread stays locked: nobody else may have it
	}
	runtime.UnlockOSThread()
	return result, err
}

// enter moves the calling thread to a network namespace.
func enter(path string) error {
	namespace, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("harness: %w", err)
	}
	defer namespace.Close()
	if err := unix.Setns(int(namespace.Fd()), unix.CLONE_NEWNET); err != nil {
		return fmt.Errorf("harness: %s: %w", path, err)
	}
	return nil
}
