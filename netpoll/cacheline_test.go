package netpoll

import (
	"testing"
	"unsafe"

	"golang.org/x/sys/cpu"
)

const cacheLine = unsafe.Sizeof(cpu.CacheLinePad{})

// What other goroutines write lies on no cache line of what a loop uses for every query.
func TestQueriesShareNoWrittenLine(t *testing.T) {
	var l loop
	own := unsafe.Offsetof(l.mostUnsent) + unsafe.Sizeof(l.mostUnsent)
	for name, offset := range map[string]uintptr{
		"async": unsafe.Offsetof(l.async), "users": unsafe.Offsetof(l.users), "pool": unsafe.Offsetof(l.pool),
		"unsent": unsafe.Offsetof(l.unsent),
	} {
		if offset < own+cacheLine {
			t.Errorf("loop.%s at %d; what the loop owns ends at %d", name, offset, own)
		}
	}
	for name, offset := range map[string]uintptr{"counts": unsafe.Offsetof(l.counts), "out": unsafe.Offsetof(l.out), "nowNanos": unsafe.Offsetof(l.nowNanos)} {
		if offset >= own {
			t.Errorf("loop.%s at %d is not with the loop's own", name, offset)
		}
	}
	var s Server
	read := unsafe.Offsetof(s.idle) + unsafe.Sizeof(s.idle)
	if at := unsafe.Offsetof(s.count); at < read+cacheLine || unsafe.Offsetof(s.opts) > read || unsafe.Offsetof(s.loops) > read {
		t.Errorf("Server.count at %d; what loops read ends at %d", at, read)
	}
}
