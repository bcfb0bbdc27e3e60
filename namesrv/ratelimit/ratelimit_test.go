package ratelimit

import (
	"encoding/binary"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

const second = int64(time.Second)

// passes is how many of n tries at one moment go through.
func passes(l *Limiter, addr string, now int64, n int) (passed int) {
	for range n {
		if l.Allow(netip.MustParseAddr(addr), now) {
			passed++
		}
	}
	return passed
}

func TestLimit(t *testing.T) {
	for _, perSecond := range []int{1, 3, 50, 2000} {
		l, now := New(perSecond), 1000*second
		if got := passes(l, "10.0.0.1", now, perSecond+10); got != perSecond {
			t.Errorf("%d a second: %d at once", perSecond, got)
		}
		if got := passes(l, "10.0.0.2", now, 1); got != 1 {
			t.Errorf("%d a second: another address is held back", perSecond)
		}
		now += second / 2
		if got, want := passes(l, "10.0.0.1", now, perSecond+10), perSecond/2; got < want || got > want+1 {
			t.Errorf("%d a second: %d after half a second, want %d", perSecond, got, want)
		}
		now += 100 * second // what wasn't used isn't saved
		if got := passes(l, "10.0.0.1", now, 2*perSecond); got != perSecond {
			t.Errorf("%d a second: %d after a pause", perSecond, got)
		}
		spread := 0
		for range 10 * perSecond {
			now += second / int64(2*perSecond)
			spread += passes(l, "10.0.0.1", now, 1)
		}
		if want := 5 * perSecond; spread < want-1 || spread > want+1 {
			t.Errorf("%d a second: %d in five seconds of twice as much", perSecond, spread)
		}
	}
}

func TestAddresses(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		same bool
	}{
		{"10.0.0.1", "::ffff:10.0.0.1", true},
		{"10.0.0.1", "10.0.0.2", false},
		{"2001:db8::1", "2001:db8::ffff:0:0:1", true},
		{"2001:db8::1", "2001:db8:0:1::1", false},
		{"fe80::1%a", "fe80::2%b", true},
		{"::1", "0.0.0.0", false},
	} {
		l := New(1)
		passes(l, tt.a, second, 1)
		if got := passes(l, tt.b, second, 1) == 0; got != tt.same {
			t.Errorf("%s and %s are one: %v", tt.a, tt.b, got)
		}
	}
	l := New(1)
	if !l.Allow(netip.Addr{}, second) || l.Allow(netip.Addr{}, second) {
		t.Error("what is no address isn't one")
	}
}

func TestNoLimit(t *testing.T) {
	for _, n := range []int{0, -1} {
		l := New(n)
		if l != nil || !l.Allow(netip.Addr{}, 0) || l.PerSecond() != 0 {
			t.Errorf("a limit of %d", n)
		}
	}
}

// A flood of addresses takes no memory. Others go on as long as they find one cell that isn't busy; and a little of each second is left
// when none is.
func TestFloodOfAddresses(t *testing.T) {
	l, now := New(10), 1000*second
	flood := func(n int) {
		for i := range n {
			var a4 [4]byte
			binary.BigEndian.PutUint32(a4[:], 0x0b000000+uint32(i))
			a := netip.AddrFrom4(a4)
			for l.Allow(a, now) {
			}
		}
	}
	free := func() (passed int) {
		for i := range 1000 {
			passed += min(1, passes(l, netip.AddrFrom4([4]byte{192, 168, byte(i >> 8), byte(i)}).String(), now, 1))
		}
		return passed
	}
	if n := testing.AllocsPerRun(1, func() { flood(2000) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
	if got := free(); got < 950 {
		t.Errorf("%d of 1,000 addresses go on beside 2,000 busy ones", got)
	}
	flood(20_000)
	now += second
	if got := free(); got < 950 {
		t.Errorf("%d of 1,000 addresses go on a second after a flood of 20,000", got)
	}
}

// Many at once get about what one would.
func TestConcurrent(t *testing.T) {
	const perSecond = 1000
	l := New(perSecond)
	var passed atomic.Int64
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range perSecond {
				if l.Allow(netip.MustParseAddr("10.0.0.1"), second) {
					passed.Add(1)
				}
			}
		})
	}
	wg.Wait()
	if got := passed.Load(); got < perSecond || got > 2*perSecond {
		t.Errorf("%d passed, want %d and few more", got, perSecond)
	}
}

func BenchmarkAllow(b *testing.B) {
	l, addr := New(1000), netip.MustParseAddr("2001:db8::1")
	for now := int64(0); b.Loop(); now += 1000 {
		l.Allow(addr, now)
	}
}
