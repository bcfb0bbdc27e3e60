package wheel

import "testing"

const (
	ms     = 1_000_000 // nanoseconds
	second = 1000 * ms
)

func filled(timers int, timeout int64) *Wheel[int] {
	w := New[int](100*ms, 0)
	all := make([]Timer[int], timers)
	for i := range all {
		w.Arm(&all[i], int64(i)*timeout/int64(timers))
	}
	return w
}

// BenchmarkTick advances 100,000 timers of 120 s by one tick of 100 ms; those
// that are due (83 a tick) are armed anew, as for brokers that are alive.
func BenchmarkTick(b *testing.B) {
	const timeout = 120 * second
	w := filled(100_000, timeout)
	now := int64(0)
	b.ReportAllocs()
	for b.Loop() {
		now += 100 * ms
		w.Advance(now, func(t *Timer[int]) { w.Arm(t, now+timeout) })
	}
}

// BenchmarkJump finds all of 100,000 timers due at once.
func BenchmarkJump(b *testing.B) {
	const timeout = 120 * second
	w := filled(100_000, timeout)
	now := int64(0)
	b.ReportAllocs()
	for b.Loop() {
		now += 2 * timeout
		w.Advance(now, func(t *Timer[int]) { w.Arm(t, now+int64(t.slot)*ms) })
	}
}

func BenchmarkRearm(b *testing.B) {
	w := filled(100_000, 120*second)
	var t Timer[int]
	b.ReportAllocs()
	for i := int64(0); b.Loop(); i++ {
		w.Arm(&t, i*ms)
	}
}
