package namesrv

import (
	"testing"
	"unsafe"

	"golang.org/x/sys/cpu"
)

const cacheLine = unsafe.Sizeof(cpu.CacheLinePad{})

// What every query reads of the server lies on no cache line with what is written all the time.
func TestQueriesShareNoWrittenLine(t *testing.T) {
	var s Server
	read := unsafe.Offsetof(s.maxWriteBytes) + unsafe.Sizeof(s.maxWriteBytes)
	for name, offset := range map[string]uintptr{
		"settings": unsafe.Offsetof(s.settings), "table": unsafe.Offsetof(s.table), "started": unsafe.Offsetof(s.started),
		"goingAway": unsafe.Offsetof(s.goingAway), "serializeType": unsafe.Offsetof(s.serializeType),
		"guard": unsafe.Offsetof(s.guard),
	} {
		if offset >= read {
			t.Errorf("%s at %d is not with what queries read", name, offset)
		}
	}
	for name, offset := range map[string]uintptr{
		"writeBytes": unsafe.Offsetof(s.writeBytes), "unchanged": unsafe.Offsetof(s.unchanged), "notified": unsafe.Offsetof(s.notified),
		"guarded": unsafe.Offsetof(s.guarded), "refusals": unsafe.Offsetof(s.refusals),
		"decoders": unsafe.Offsetof(s.decoders), "rooms": unsafe.Offsetof(s.rooms),
	} {
		if offset < read+cacheLine {
			t.Errorf("%s at %d; what queries read ends at %d", name, offset, read)
		}
	}
}
