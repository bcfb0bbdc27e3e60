package netpoll

import (
	"sync/atomic"
	"testing"
	"time"
)

// parkLoop stops a loop until release is called.
func parkLoop(t *testing.T, l *loop) (release func()) {
	t.Helper()
	parked, released := make(chan struct{}), make(chan struct{})
	l.post(func() {
		close(parked)
		<-released
	})
	await(t, parked)
	return func() { close(released) }
}

func await(t *testing.T, done <-chan struct{}) {
	t.Helper()
	select {
	case <-done:
	case <-time.After(waitLimit):
		t.Fatal("waited in vain for a loop")
	}
}

// passed waits until a loop has worked off what was posted before.
func passed(t *testing.T, l *loop) {
	t.Helper()
	done := make(chan struct{})
	l.post(func() { close(done) })
	await(t, done)
}

func TestBarrierComesOnceAfterEveryLoop(t *testing.T) {
	const loops = 3
	for last := range loops {
		s := startServer(t, newEcho(), Options{EventLoops: loops})
		var release [loops]func()
		for i, l := range s.loops {
			release[i] = parkLoop(t, l)
		}
		var calls atomic.Int32
		done := make(chan struct{}, loops)
		s.Barrier(func() {
			calls.Add(1)
			done <- struct{}{}
		})
		for i, l := range s.loops {
			if i != last {
				release[i]()
				passed(t, l)
			}
		}
		if n := calls.Load(); n != 0 {
			t.Errorf("came %d times while loop %d was behind", n, last)
		}
		release[last]()
		await(t, done)
		for _, l := range s.loops {
			passed(t, l)
		}
		if n := calls.Load(); n != 1 {
			t.Errorf("loop %d last: came %d times, want once", last, n)
		}
	}
}

// What a loop was told of before the barrier is handled when it comes.
func TestBarrierComesAfterFramesInTheSocket(t *testing.T) {
	for range 20 {
		h := newEcho()
		var frames atomic.Int32
		stuck, released := make(chan struct{}), make(chan struct{})
		h.onFrame = func(_ *Conn, dst, _ []byte) ([]byte, error) {
			if frames.Add(1) == 1 {
				close(stuck)
				<-released
			}
			return dst, nil
		}
		s := startServer(t, h, Options{EventLoops: 1})
		slow, quick := dial(t, s), dial(t, s)
		waitFor(t, "both", func() bool { return stats(t, s).Opened == 2 })
		send(t, slow, frameOf("stops the loop"))
		await(t, stuck)
		send(t, quick, frameOf("waits unread"))
		done := make(chan struct{})
		s.Barrier(func() { close(done) })
		close(released)
		await(t, done)
		if n := frames.Load(); n != 2 {
			t.Fatalf("%d frames handled before the barrier came, want 2", n)
		}
	}
}

// A loop held up in a task has the frames of that time unread; so have others that it works off first.
func TestBarrierComesAfterFramesBehindTasks(t *testing.T) {
	h := newEcho()
	var frames atomic.Int32
	h.onFrame = func(_ *Conn, dst, _ []byte) ([]byte, error) {
		frames.Add(1)
		return dst, nil
	}
	s := startServer(t, h, Options{EventLoops: 1})
	quick := dial(t, s)
	waitFor(t, "the connection", func() bool { return stats(t, s).Opened == 1 })
	release := parkLoop(t, s.loops[0])
	send(t, quick, frameOf("waits unread"))
	done := make(chan struct{})
	var n int32
	s.Barrier(func() {
		n = frames.Load()
		close(done)
	})
	for range 600 { // more than the engine runs without a look at the sockets
		s.loops[0].post(func() {})
	}
	release()
	await(t, done)
	if n != 1 {
		t.Errorf("%d frames handled when the barrier came, want 1", n)
	}
}
