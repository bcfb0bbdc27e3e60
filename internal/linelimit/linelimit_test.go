package linelimit

import (
	"fmt"
	"testing"
	"time"
)

type clock int64

func (c *clock) now() int64 { return int64(*c) }

// Each kind has its own period, and the line that comes through says how many didn't.
func TestOneInAPeriod(t *testing.T) {
	var now clock
	l := New(now.now)
	type tally struct{ lines, skipped, firsts int }
	got := map[time.Duration]tally{}
	for range 100 { // 20 s
		for _, period := range []time.Duration{time.Second, 10 * time.Second} {
			skipped, first, ok := l.Allow(period.String(), period)
			n := got[period]
			if ok {
				n.lines++
				n.skipped += skipped
			}
			if first {
				n.firsts++
			}
			got[period] = n
		}
		now += clock(200 * time.Millisecond)
	}
	for period, want := range map[time.Duration]tally{time.Second: {20, 19 * 4, 1}, 10 * time.Second: {2, 49, 1}} {
		if got[period] != want {
			t.Errorf("every %v: %+v, want %+v", period, got[period], want)
		}
	}
}

// The memory is bounded; kinds beyond it share a line.
func TestKindsAreBounded(t *testing.T) {
	var now clock
	l := New(now.now)
	lines := 0
	for i := range 3 * MaxKinds {
		if _, _, ok := l.Allow(fmt.Sprint(i), time.Minute); ok {
			lines++
		}
	}
	if lines != MaxKinds+1 || len(l.kinds) > MaxKinds+1 {
		t.Errorf("%d lines and %d kinds remembered, want %d", lines, len(l.kinds), MaxKinds+1)
	}
	now += clock(time.Minute)
	if _, _, ok := l.Allow("new", time.Minute); !ok {
		t.Error("a minute later a new kind is still held back")
	}
	if len(l.kinds) > 2 {
		t.Errorf("%d kinds remembered after their minute", len(l.kinds))
	}
}

// A flood of fresh kinds looks for forgotten ones once a second, not with each.
func TestForgetsOnceASecond(t *testing.T) {
	var now clock
	l := New(now.now)
	allow := func(kind string) bool {
		_, _, ok := l.Allow(kind, time.Minute)
		return ok
	}
	for i := 0; len(l.kinds) < MaxKinds; i++ {
		allow(fmt.Sprint(i))
	}
	now = clock(time.Minute) - 1 // nothing is over yet
	allow("fresh")
	now++ // all but the shared kind is
	if allow("fresh") || len(l.kinds) != MaxKinds+1 {
		t.Errorf("looked through twice within a second: %d kinds remembered", len(l.kinds))
	}
	now += clock(time.Second)
	if !allow("fresh") || len(l.kinds) > 2 {
		t.Errorf("a second later %d kinds remembered", len(l.kinds))
	}
}
