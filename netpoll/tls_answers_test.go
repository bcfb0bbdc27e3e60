package netpoll

import (
	"bytes"
	"crypto/tls"
	"io"
	"math/rand/v2"
	"net"
	"sync"
	"testing"
	"time"
)

func TestTLSLargeAnswersFollow(t *testing.T) {
	tail := bytes.Repeat([]byte("0123456789abcdef"), 3<<20/16)
	h := newEcho()
	h.onFrame = func(c *Conn, dst, frame []byte) ([]byte, error) {
		c.Follow(tail)
		return append(dst, frame...), nil
	}
	s := startServer(t, h, withTLS(Options{SendBufferBytes: 64 * kib}))
	c := dialTLS(t, s)
	const requests = 6
	send(t, c, bytes.Repeat(frameOf("give"), requests))
	for range requests {
		expect(t, c, frameOf("give"))
		expect(t, c, tail)
	}
}

func TestTLSPeersThatNeverRead(t *testing.T) {
	answer := bytes.Repeat([]byte("x"), 1<<20)
	h := newEcho()
	h.onFrame = func(_ *Conn, dst, frame []byte) ([]byte, error) {
		if bytes.Contains(frame, []byte("big")) {
			return append(dst, answer...), nil
		}
		return append(dst, frame...), nil
	}
	s := startServer(t, h, withTLS(Options{StallTimeout: time.Second, MaxUnsentBytes: 16 << 20, SendBufferBytes: 16 * kib}))
	const peers = 10
	for range peers {
		c := dial(t, s)
		_ = c.SetReadBuffer(16 * kib)
		send(t, secure(t, c, clientTLS()), bytes.Repeat(frameOf("big"), 100))
	}
	good := dialTLS(t, s)
	for range 20 {
		send(t, good, frameOf("small"))
		expect(t, good, frameOf("small"))
	}
	if n, most := s.UnsentBytes(), int64(peers*(2*len(answer)+highWaterBytes)); n > most {
		t.Errorf("%d bytes unsent, more than %d", n, most)
	}
	waitFor(t, "them to be ended", func() bool { return stats(t, s).Closed["stalled"] == peers })
	send(t, good, frameOf("still here"))
	expect(t, good, frameOf("still here"))
}

func TestTLSServerCloseLetsAnswersOut(t *testing.T) {
	answer := bytes.Repeat([]byte("z"), 200*kib)
	h := newEcho()
	h.onFrame = func(_ *Conn, dst, _ []byte) ([]byte, error) { return append(dst, answer...), nil }
	s := startServer(t, h, withTLS(Options{SendBufferBytes: 16 * kib}))
	raw := dial(t, s)
	_ = raw.SetReadBuffer(16 * kib)
	c := secure(t, raw, clientTLS())
	send(t, c, frameOf("give"))
	waitFor(t, "the answer to be written", func() bool { return stats(t, s).Writes == 1 })
	closed := make(chan error, 1)
	go func() { closed <- s.Close(t.Context()) }()
	expect(t, c, answer)
	if n, err := c.Read(make([]byte, 1)); n != 0 || err != io.EOF {
		t.Fatalf("read %d bytes, %v", n, err)
	}
	if err := <-closed; err != nil {
		t.Fatal(err)
	}
	h.waitClosed(t, ErrServerClosed)
}

// What has come inside TLS is handled before a barrier is over, as any other frame.
func TestTLSBarrier(t *testing.T) {
	h := newEcho()
	s := startServer(t, h, withTLS(Options{EventLoops: 1}))
	c := dialTLS(t, s)
	send(t, c, frameOf("known"))
	expect(t, c, frameOf("known"))
	release := parkLoop(t, s.loops[0])
	send(t, c, frameOf("waits unread"))
	done := make(chan struct{})
	var n uint64
	s.Barrier(func() {
		n = s.loops[0].counts.frames
		close(done)
	})
	release()
	await(t, done)
	if n != 2 {
		t.Errorf("%d frames handled when the barrier came, want 2", n)
	}
}

// A panic ends a connection inside TLS and nothing else, after what was answered before.
func TestTLSPanic(t *testing.T) {
	h := newEcho()
	h.onFrame = func(_ *Conn, dst, frame []byte) ([]byte, error) {
		if bytes.Contains(frame, []byte("panic")) {
			panic("boom")
		}
		return append(dst, frame...), nil
	}
	s := startServer(t, h, withTLS(Options{EventLoops: 1}))
	good, bad := dialTLS(t, s), dialTLS(t, s)
	send(t, bad, append(frameOf("before"), frameOf("panic")...))
	expect(t, bad, frameOf("before"))
	h.waitClosed(t, ErrPanic)
	send(t, good, frameOf("two"))
	expect(t, good, frameOf("two"))
}

// TestTLSChurn closes connections inside TLS from both sides at random moments, the handshake's included.
func TestTLSChurn(t *testing.T) {
	h := newEcho()
	s := startServer(t, h, withTLS(Options{}))
	const workers, each = 6, 40
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			rnd := rand.New(rand.NewPCG(2, uint64(w)))
			for range each {
				raw, err := net.Dial("tcp", s.Addr().String())
				if err != nil {
					t.Error(err)
					return
				}
				c := tls.Client(raw, clientTLS())
				switch rnd.IntN(4) {
				case 0: // in the middle of the handshake
					_ = raw.SetReadDeadline(time.Now().Add(time.Duration(rnd.IntN(1000)) * time.Microsecond))
					_ = c.Handshake()
				default:
					_, _ = c.Write(bytes.Repeat(frameOf("churn"), 1+rnd.IntN(20)))
				}
				h.mu.Lock()
				for _, conn := range h.open {
					if rnd.IntN(3) == 0 {
						go conn.Close()
					} else if conn.TLS() {
						go conn.Send(frameOf("pushed"))
					}
					break
				}
				h.mu.Unlock()
				if rnd.IntN(3) == 0 {
					_ = raw.(*net.TCPConn).SetLinger(0)
				}
				_ = raw.Close()
			}
		})
	}
	wg.Wait()
	waitFor(t, "all to come and end", func() bool {
		h.mu.Lock()
		defer h.mu.Unlock()
		return len(h.opens) == workers*each && s.ConnCount() == 0 && s.handshakes.pending.Load() == 0
	})
	h.mu.Lock()
	defer h.mu.Unlock()
	for id := range h.opens {
		if len(h.reasons[id]) != 1 {
			t.Fatalf("connection %d closed %d times: %v", id, len(h.reasons[id]), h.reasons[id])
		}
	}
	st := stats(t, s)
	if st.UnsentBytes != 0 || st.HeldBytes != 0 || st.TLSConns != 0 {
		t.Fatalf("still counted: %d unsent, %d held, %d connections", st.UnsentBytes, st.HeldBytes, st.TLSConns)
	}
}
