package clients

import (
	"fmt"
	"io"
	"net/netip"
	"os"
	"syscall"
	"time"
)

// connectionsPerSource bounds what goes out from one loopback address: ports from 32768 on, and some room.
const connectionsPerSource = 25_000

// source is the loopback address from which connection i goes out to addr; not valid: the system's choice.
func source(addr netip.AddrPort, i int) netip.Addr {
	if i < connectionsPerSource || !addr.Addr().Is4() || !addr.Addr().IsLoopback() {
		return netip.Addr{}
	}
	k := i / connectionsPerSource
	return netip.AddrFrom4([4]byte{127, 1, byte(k >> 8), byte(k)})
}

// connect opens a connection that waits while reading and writing, up to the limit.
func connect(addr netip.AddrPort, from netip.Addr, limit time.Duration) (fd int, err error) {
	family := syscall.AF_INET
	if addr.Addr().Is6() {
		family = syscall.AF_INET6
	}
	if fd, err = syscall.Socket(family, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0); err != nil {
		return -1, fmt.Errorf("clients: %w", os.NewSyscallError("socket", err))
	}
	step := func(name string, err error) error {
		if err == nil {
			return nil
		}
		syscall.Close(fd)
		return fmt.Errorf("clients: connect to %s: %w", addr, os.NewSyscallError(name, err))
	}
	if from.IsValid() {
		const bindAddressNoPort = 24 // IP_BIND_ADDRESS_NO_PORT: the port is chosen by the whole address at connect
		if err := step("setsockopt", syscall.SetsockoptInt(fd, syscall.IPPROTO_IP, bindAddressNoPort, 1)); err != nil {
			return -1, err
		}
		if err := step("bind", syscall.Bind(fd, sockaddr(netip.AddrPortFrom(from, 0)))); err != nil {
			return -1, err
		}
	}
	timeval := syscall.NsecToTimeval(int64(limit))
	for _, option := range []int{syscall.SO_RCVTIMEO, syscall.SO_SNDTIMEO} {
		if err := step("setsockopt", syscall.SetsockoptTimeval(fd, syscall.SOL_SOCKET, option, &timeval)); err != nil {
			return -1, err
		}
	}
	if err := step("setsockopt", syscall.SetsockoptInt(fd, syscall.IPPROTO_TCP, syscall.TCP_NODELAY, 1)); err != nil {
		return -1, err
	}
	for {
		if err = syscall.Connect(fd, sockaddr(addr)); err != syscall.EINTR {
			return fd, step("connect", err)
		}
	}
}

func sockaddr(a netip.AddrPort) syscall.Sockaddr {
	if a.Addr().Is4() {
		return &syscall.SockaddrInet4{Port: int(a.Port()), Addr: a.Addr().As4()}
	}
	return &syscall.SockaddrInet6{Port: int(a.Port()), Addr: a.Addr().As16()}
}

func setNonblock(fd int) error { return os.NewSyscallError("fcntl", syscall.SetNonblock(fd, true)) }

// readSome reads what is there. The end of the stream is io.EOF, nothing there errNotReady.
func readSome(fd int, b []byte) (int, error) {
	for {
		n, err := syscall.Read(fd, b)
		switch {
		case err == syscall.EINTR:
		case err == syscall.EAGAIN:
			return 0, errNotReady
		case err != nil:
			return 0, os.NewSyscallError("read", err)
		case n == 0:
			return 0, io.EOF
		default:
			return n, nil
		}
	}
}

// writeSome writes what the socket takes.
func writeSome(fd int, b []byte) (int, error) {
	for {
		n, err := syscall.Write(fd, b)
		switch {
		case err == syscall.EINTR:
		case err == syscall.EAGAIN:
			return 0, errNotReady
		case err != nil:
			return 0, os.NewSyscallError("write", err)
		default:
			return n, nil
		}
	}
}

// hangUp ends a connection so that its port is free at once (a reset): thousands of connections to the next server would
// find none otherwise.
func hangUp(fd int) {
	_ = syscall.SetsockoptLinger(fd, syscall.SOL_SOCKET, syscall.SO_LINGER, &syscall.Linger{Onoff: 1})
	syscall.Close(fd)
}
