//go:build !linux

package clients

import (
	"errors"
	"net/netip"
	"time"
)

// errSystem is all that this package does elsewhere: it waits for thousands of sockets by Linux's epoll.
var (
	errSystem   = errors.New("clients: load can be put on a server from Linux only")
	errNotReady = errSystem
)

type poller struct{}

type event struct {
	id              int32
	readable, ready bool
}

func newPoller() (*poller, error)                                    { return nil, errSystem }
func (*poller) close()                                               {}
func (*poller) add(int, int32) error                                 { return errSystem }
func (*poller) wantWrite(int, int32, bool) error                     { return errSystem }
func (*poller) wait(events []event, _ int64) ([]event, error)        { return events, errSystem }
func source(netip.AddrPort, int) netip.Addr                          { return netip.Addr{} }
func connect(netip.AddrPort, netip.Addr, time.Duration) (int, error) { return -1, errSystem }
func setNonblock(int) error                                          { return errSystem }
func readSome(int, []byte) (int, error)                              { return 0, errSystem }
func writeSome(int, []byte) (int, error)                             { return 0, errSystem }
func hangUp(int)                                                     {}
