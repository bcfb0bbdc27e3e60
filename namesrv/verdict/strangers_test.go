package verdict

import (
	"testing"
	"time"
)

// Brokers that never answer, however many are registered, don't keep one that does from being probed in time; each of them has its turn.
func TestStrangersHoldUpNobody(t *testing.T) {
	const strangers, places, patience = 400, 64, time.Second
	b := newBench(t, probing, strangers+1)
	known := nth(7)
	b.judge.Probed(b.now, known, b.result(known, Answered))
	under, began := map[Broker]int64{}, map[Broker]int{}
	const rounds = 300
	for range rounds {
		b.now += int64(100 * time.Millisecond)
		for n, at := range under {
			if b.now-at >= int64(patience) {
				b.judge.Probed(b.now, n, b.result(n, Silent))
				delete(under, n)
			}
		}
		var a Actions
		b.judge.Due(b.now, places-len(under), &a)
		for _, p := range a.Probe {
			began[p.Broker]++
			if p.Broker == known {
				b.judge.Probed(b.now, known, b.result(known, Answered))
				continue
			}
			under[p.Broker] = b.now
		}
		if len(under) > maxStrangers {
			t.Fatalf("%d strangers are probed at a time", len(under))
		}
	}
	if n, least := began[known], rounds/10-1; n < least {
		t.Errorf("the one that answers was probed %d times in %d s, want %d", n, rounds/10, least)
	}
	if len(began) != strangers+1 {
		t.Errorf("%d brokers were probed, want %d", len(began), strangers+1)
	}
}
