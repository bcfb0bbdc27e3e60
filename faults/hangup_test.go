//go:build faults && linux

package faults

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/waymark-mq/waymark/codec"
)

// TestHangup: a terminal that is closed stops the server in order, though the signal may come twice; one that was started with
// nohup stays.
func TestHangup(t *testing.T) {
	t.Run("terminal", func(t *testing.T) {
		heeded := make(chan os.Signal, 1) // these tests may be run with nohup: a child isn't, if its parent heeds the signal
		signal.Notify(heeded, syscall.SIGHUP)
		defer signal.Stop(heeded)
		s := newSite(t)
		p := s.start()
		c := s.register("a", time.Minute)
		p.signal(syscall.SIGHUP)
		p.signal(syscall.SIGHUP)
		c.wantEnd()
		p.wantExit(0, waitLimit)
	})
	t.Run("nohup", func(t *testing.T) {
		s := newSite(t)
		p := run(t, s.home, "/bin/sh", "-c", `trap "" HUP && exec "$0" -c "$1"`, program, s.config)
		p.waitForBoot()
		s.register("a", time.Minute)
		p.signal(syscall.SIGHUP)
		s.dial().want(codec.ResponseSuccess, route("a"))
		p.stop()
		if p.stderr.has("signal=" + syscall.SIGHUP.String()) {
			t.Error("SIGHUP was the reason to stop")
		}
	})
}

// startOnPipe starts a nameserver whose standard output and error are a pipe, and returns its other end, read up to the boot line.
func (s *site) startOnPipe() (p *process, pipe *os.File) {
	s.t.Helper()
	path := s.home + "/output"
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		s.t.Fatal(err)
	}
	pipe, err := os.OpenFile(path, os.O_RDWR|syscall.O_NONBLOCK, 0) // both, so that it doesn't wait for a writer
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = pipe.Close() })
	p = run(s.t, s.home, "/bin/sh", "-c", `exec "$0" -c "$1" >"$2" 2>&1`, program, s.config, path)
	_ = pipe.SetReadDeadline(time.Now().Add(waitLimit))
	var output strings.Builder
	for buf := make([]byte, 4096); !strings.Contains(output.String(), bootLine); {
		n, err := pipe.Read(buf)
		if err != nil {
			s.t.Fatalf("%v after %q", err, output.String())
		}
		output.Write(buf[:n])
	}
	return p, pipe
}

// TestReaderOfTheLogDies: when nobody reads standard output and error any more, lines are lost and the server serves on.
func TestReaderOfTheLogDies(t *testing.T) {
	s := newSite(t)
	p, pipe := s.startOnPipe()
	if err := pipe.Close(); err != nil {
		t.Fatal(err)
	}
	s.register("a", time.Minute) // which is logged
	c := s.register("b", time.Minute)
	s.dial().want(codec.ResponseSuccess, route("a"))
	p.signal(syscall.SIGTERM)
	c.wantEnd()
	p.wantExit(0, waitLimit)
}

// TestReaderOfTheLogStandsStill: whoever reads standard output and error holds the pipe, reads nothing, and it is full. Whatever is logged then,
// on whichever goroutine, keeps nobody waiting, and the server stops in order.
func TestReaderOfTheLogStandsStill(t *testing.T) {
	s := newSite(t, "adminAllowList=10.0.0.0/8")
	p, pipe := s.startOnPipe()
	_ = pipe.SetWriteDeadline(time.Now().Add(time.Second))
	if _, err := pipe.Write(make([]byte, 16<<20)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("the pipe isn't full: %v", err)
	}
	s.register("a", time.Minute) // the writer logs, and a decoder
	foreign := s.dial()          // a loop logs
	_, _ = foreign.conn.Write([]byte("GET / HTTP/1.1\r\nHost: x\r\n\r\n"))
	foreign.wantGone()
	c := s.dial()
	c.want(codec.ResponseNoPermission, ask(codec.RequestPutKVConfig, "namespace", "n", "key", "k", "value", "v")) // likewise
	for i := range 20 {
		b := s.register(fmt.Sprint("b", i), time.Minute)
		c.want(codec.ResponseSuccess, route(b.name))
		b.close()
	}
	waitFor(t, "end of the last broker", func() bool { return c.call(route("b19")).Code == codec.ResponseTopicNotExist })
	c.want(codec.ResponseSuccess, route("a"))
	p.signal(syscall.SIGTERM)
	c.wantEnd()
	p.wantExit(0, waitLimit)
}
