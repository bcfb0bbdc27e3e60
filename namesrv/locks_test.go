package namesrv

import (
	"encoding/binary"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/waymark-mq/waymark/internal/raceflag"
)

// lockProfiles records every wait for a lock or a channel from now on.
func lockProfiles(t *testing.T) {
	mutexes := runtime.SetMutexProfileFraction(1)
	runtime.SetBlockProfileRate(1)
	t.Cleanup(func() {
		runtime.SetMutexProfileFraction(mutexes)
		runtime.SetBlockProfileRate(0)
	})
}

// waits are the stacks, innermost call first, that a profile has.
func waits(profile func([]runtime.BlockProfileRecord) (int, bool)) [][]string {
	records := make([]runtime.BlockProfileRecord, 64)
	n, ok := profile(records)
	for !ok {
		records = make([]runtime.BlockProfileRecord, 2*n)
		n, ok = profile(records)
	}
	var stacks [][]string
	for i := range records[:n] {
		var calls []string
		frames := runtime.CallersFrames(records[i].Stack())
		for more := true; more; {
			var f runtime.Frame
			f, more = frames.Next()
			calls = append(calls, f.Function)
		}
		stacks = append(stacks, calls)
	}
	return stacks
}

// ofReadPath reports whether a wait lies on the way of a query or a heartbeat, between the read of an event loop and its write.
// Registrations leave that way for their lane.
func ofReadPath(calls []string) bool {
	has := func(part string) bool {
		return slices.ContainsFunc(calls, func(f string) bool { return strings.Contains(f, part) })
	}
	return has("netpoll.(*loop).traffic") && !has("namesrv.(*loop).registerBroker") && !has("netpoll.(*framePool)")
}

// ofRuntime reports whether the wait was for the allocator, the collector or a lock of the scheduler. A channel or a
// semaphore has such a lock, too; that one counts as ours.
func ofRuntime(calls []string) bool {
	has := func(part string) bool {
		return slices.ContainsFunc(calls, func(f string) bool { return strings.HasPrefix(f, "runtime."+part) })
	}
	return has("mallocgc") || calls[0] == "runtime.unlock" && !has("chan") && !has("select") && !has("sem")
}

// exchange sends frames and reads n answers without a look at them, so that the loops are what is busy.
func (c *client) exchange(frames []byte, n int) error {
	_ = c.conn.SetDeadline(time.Now().Add(waitLimit))
	if _, err := c.conn.Write(frames); err != nil {
		return err
	}
	for range n {
		prefix, err := c.r.Peek(4)
		if err != nil {
			return err
		}
		if _, err := c.r.Discard(4 + int(binary.BigEndian.Uint32(prefix))); err != nil {
			return err
		}
	}
	return nil
}

// Queries and heartbeats wait for nobody: two loops serve 120,000 of them while brokers register changed
// tables, and no lock or channel that was waited for lies on their way.
func TestQueriesWaitForNoLock(t *testing.T) {
	lockProfiles(t)
	s := start(t)
	table := many(200, 4)
	c := s.dial()
	c.register(broker("a").having(table...), broker("b").having(table...))

	var brokers, clients sync.WaitGroup
	var done atomic.Bool
	for _, name := range []string{"a", "b"} {
		c := s.dial()
		brokers.Go(func() {
			for i := 0; !done.Load(); i++ {
				changed := slices.Clone(table)
				changed[i%len(changed)].queues = i
				c.register(broker(name).having(changed...).counter(int64(i + 2)))
			}
		})
	}
	var asked []byte
	for i := range int32(10) {
		for k, r := range []request{routeOf(table[i].name), routeOf("None"), broker("a").heartbeat()} {
			asked = append(asked, r.frame(3*i+int32(k))...)
		}
	}
	rounds := 1000
	if raceflag.Enabled {
		rounds = 100 // it slows, and is after something else
	}
	for range 4 {
		c := s.dial()
		clients.Go(func() {
			for range rounds {
				if err := c.exchange(asked, 30); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	clients.Wait()
	done.Store(true)
	brokers.Wait()

	all := append(waits(runtime.MutexProfile), waits(runtime.BlockProfile)...)
	for _, calls := range all {
		if ofReadPath(calls) && !ofRuntime(calls) {
			t.Errorf("waited in\n\t%s", strings.Join(calls, "\n\t"))
		}
	}
	if !slices.ContainsFunc(all, func(calls []string) bool { return !ofRuntime(calls) }) {
		t.Error("nobody waited for anything: the profiles show nothing")
	}
}
