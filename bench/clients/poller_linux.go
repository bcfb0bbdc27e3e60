package clients

import (
	"fmt"
	"os"
	"runtime"
	"syscall"
	"unsafe"

	"github.com/waymark-mq/waymark/bench/phase"
)

// poller waits for sockets and for a time, to the microsecond: epoll's own time-out counts in milliseconds.
type poller struct {
	epoll, timer int
	armed        int64 // what timer is set to
	raw          []syscall.EpollEvent
}

const timerID = -1

// event says what can be done with the socket that was added with the id.
type event struct {
	id              int32
	readable, ready bool // ready: writable
}

func newPoller() (*poller, error) {
	epoll, err := syscall.EpollCreate1(syscall.EPOLL_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("epoll_create1", err)
	}
	const monotonic, nonblockCloexec = 1, syscall.O_NONBLOCK | syscall.O_CLOEXEC
	timer, _, errno := syscall.RawSyscall(syscall.SYS_TIMERFD_CREATE, monotonic, nonblockCloexec, 0)
	if errno != 0 {
		syscall.Close(epoll)
		return nil, os.NewSyscallError("timerfd_create", errno)
	}
	p := &poller{epoll: epoll, timer: int(timer), raw: make([]syscall.EpollEvent, 256)}
	if err := p.add(p.timer, timerID); err != nil {
		p.close()
		return nil, err
	}
	return p, nil
}

func (p *poller) close() {
	syscall.Close(p.timer)
	syscall.Close(p.epoll)
}

func (p *poller) add(fd int, id int32) error {
	return p.control(syscall.EPOLL_CTL_ADD, fd, id, syscall.EPOLLIN|syscall.EPOLLRDHUP)
}

// wantWrite says whether the socket is waited for until it can be written to.
func (p *poller) wantWrite(fd int, id int32, want bool) error {
	events := uint32(syscall.EPOLLIN | syscall.EPOLLRDHUP)
	if want {
		events |= syscall.EPOLLOUT
	}
	return p.control(syscall.EPOLL_CTL_MOD, fd, id, events)
}

func (p *poller) control(op, fd int, id int32, events uint32) error {
	err := syscall.EpollCtl(p.epoll, op, fd, &syscall.EpollEvent{Events: events, Fd: id})
	return os.NewSyscallError("epoll_ctl", err)
}

// wait waits until a socket is ready or the time of phase.Now has come, and appends what is ready to events.
func (p *poller) wait(events []event, until int64) ([]event, error) {
	timeout := -1
	if left := until - phase.Now(); left <= 0 {
		timeout = 0
	} else if until != p.armed {
		// struct itimerspec: no interval, and the time left.
		spec := [2]syscall.Timespec{1: syscall.NsecToTimespec(left)}
		_, _, errno := syscall.RawSyscall6(syscall.SYS_TIMERFD_SETTIME, uintptr(p.timer), 0, uintptr(unsafe.Pointer(&spec)), 0, 0, 0)
		runtime.KeepAlive(&spec)
		if errno != 0 {
			return events, os.NewSyscallError("timerfd_settime", errno)
		}
		p.armed = until
	}
	n, err := syscall.EpollWait(p.epoll, p.raw, timeout)
	if err != nil && err != syscall.EINTR {
		return events, os.NewSyscallError("epoll_wait", err)
	}
	for _, e := range p.raw[:max(n, 0)] {
		if e.Fd == timerID {
			p.armed = 0 // it came too early by a hair or is over: set it anew
			continue
		}
		events = append(events, event{id: e.Fd, readable: e.Events&^syscall.EPOLLOUT != 0, ready: e.Events&syscall.EPOLLOUT != 0})
	}
	return events, nil
}

var errNotReady = fmt.Errorf("clients: socket not ready: %w", syscall.EAGAIN)
