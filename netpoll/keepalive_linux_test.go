package netpoll

import (
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestKeepAlive: the kernel probes a silent peer after idle, thrice within the same again, and gives up unconfirmed answers after as long.
func TestKeepAlive(t *testing.T) {
	h := newEcho()
	h.onFrame = func(c *Conn, dst, frame []byte) ([]byte, error) {
		if err := c.KeepAlive(5 * time.Second); err != nil {
			t.Error(err)
		}
		return append(dst, frame...), nil
	}
	s := startServer(t, h, Options{})
	c := dial(t, s)
	send(t, c, frameOf("x"))
	expect(t, c, frameOf("x"))
	conn := h.anyConn(t)
	for _, o := range []struct {
		name          string
		level, option int
		want          int
	}{
		{"SO_KEEPALIVE", unix.SOL_SOCKET, unix.SO_KEEPALIVE, 1},
		{"TCP_KEEPIDLE", unix.IPPROTO_TCP, unix.TCP_KEEPIDLE, 5},
		{"TCP_KEEPINTVL", unix.IPPROTO_TCP, unix.TCP_KEEPINTVL, 1},
		{"TCP_KEEPCNT", unix.IPPROTO_TCP, unix.TCP_KEEPCNT, keepAliveProbes},
		{"TCP_USER_TIMEOUT", unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, 10_000},
	} {
		got, err := unix.GetsockoptInt(conn.sock.Fd(), o.level, o.option)
		if err != nil || got != o.want {
			t.Errorf("%s is %d (%v), want %d", o.name, got, err, o.want)
		}
	}
}
