package harness

import (
	"slices"
	"testing"
)

// TestLeftBehind: what a process that is gone has made is found by its name, bridge, links and namespaces; nothing else is.
func TestLeftBehind(t *testing.T) {
	const gone, runs = 4194303, 77
	names := []string{
		"lo", "eth0", "wm", "wmb", "wm4194303", "wm4194303bx", "xwm4194303b", "wm99999999999999999999b",
		bridgeOf(gone), bridgeOf(gone) + "21", bridgeOf(gone) + "-21", bridgeOf(runs), bridgeOf(runs) + "21", bridgeOf(runs) + "-21",
	}
	want := []string{"wm4194303b", "wm4194303b21", "wm4194303b-21"}
	if left := leftBehind(names, func(pid int) bool { return pid == runs }); !slices.Equal(left, want) {
		t.Errorf("%q, want %q", left, want)
	}
}
