//go:build faults && linux

package faults

import (
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

// TestReaderOfTheLogDies: when nobody reads standard output and error any more, lines are lost and the server serves on.
func TestReaderOfTheLogDies(t *testing.T) {
	s := newSite(t)
	pipe := s.home + "/output"
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	reader, err := os.OpenFile(pipe, os.O_RDWR, 0) // both, so that it doesn't wait for a writer
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = reader.Close() })
	p := run(t, s.home, "/bin/sh", "-c", `exec "$0" -c "$1" >"$2" 2>&1`, program, s.config, pipe)
	_ = reader.SetReadDeadline(time.Now().Add(waitLimit))
	var output strings.Builder
	for buf := make([]byte, 4096); !strings.Contains(output.String(), bootLine); {
		n, err := reader.Read(buf)
		if err != nil {
			t.Fatalf("%v after %q", err, output.String())
		}
		output.Write(buf[:n])
	}
	if err := reader.Close(); err != nil {
		t.Fatal(err)
	}
	s.register("a", time.Minute) // which is logged
	c := s.register("b", time.Minute)
	s.dial().want(codec.ResponseSuccess, route("a"))
	p.signal(syscall.SIGTERM)
	c.wantEnd()
	p.wantExit(0, waitLimit)
}
