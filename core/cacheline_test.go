package core

import (
	"testing"
	"unsafe"

	"golang.org/x/sys/cpu"
)

const cacheLine = unsafe.Sizeof(cpu.CacheLinePad{})

// The snapshot's pointer, which every query loads, is alone on its cache line.
func TestQueriesShareNoWrittenLine(t *testing.T) {
	var table Table
	at, next := unsafe.Offsetof(table.current), unsafe.Offsetof(table.topics)
	if at < cacheLine || next < at+cacheLine {
		t.Errorf("current at %d, the writer's own from %d", at, next)
	}
}
