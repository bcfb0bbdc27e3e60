package netpoll

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// setUserTimeout bounds how long the other host may confirm nothing: keepalive alone doesn't count while data is unconfirmed.
func setUserTimeout(fd int, d time.Duration) error {
	return os.NewSyscallError("setsockopt", unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(d.Milliseconds())))
}
