package invariants

import "testing"

// panicText runs fn and returns what it panicked with.
func panicText(fn func()) (text any) {
	defer func() { text = recover() }()
	fn()
	return nil
}

func TestCheck(t *testing.T) {
	if text := panicText(func() { Check(true, "holds") }); text != nil {
		t.Errorf("panic although it holds: %v", text)
	}
	var want any
	if Enabled {
		want = "invariant broken: 3 topics, index has 4"
	}
	if got := panicText(func() { Check(false, "%d topics, index has %d", 3, 4) }); got != want {
		t.Errorf("panic %v, want %v", got, want)
	}
}

var topics = 1 << 20 // too large for the runtime's preallocated small integers

func TestCheckIsFreeWhenOff(t *testing.T) {
	if Enabled {
		t.Skip("on in this build")
	}
	if n := testing.AllocsPerRun(100, func() { Check(topics < 0, "%d topics", topics) }); n != 0 {
		t.Errorf("%v allocations: the call is not inlined away", n)
	}
}
