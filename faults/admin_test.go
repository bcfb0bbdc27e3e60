//go:build faults && linux

package faults

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/waymark-mq/waymark/e2e/harness"
)

// startWithAdmin starts a nameserver with its HTTP side on and returns that side's address.
func startWithAdmin(t *testing.T, lines ...string) (*site, *process, string) {
	t.Helper()
	port, err := harness.FreePort()
	if err != nil {
		t.Fatal(err)
	}
	s := newSite(t, append(lines, fmt.Sprintf("adminListen=127.0.0.1:%d", port))...)
	return s, s.start(), "http://" + harness.Loopback(port)
}

// get returns status and text; status 0 is no answer.
func get(url string) (status int, text string) {
	return getThrough(&http.Transport{DisableKeepAlives: true}, url)
}

func getThrough(way *http.Transport, url string) (status int, text string) {
	client := http.Client{Timeout: waitLimit, Transport: way}
	answer, err := client.Get(url)
	if err != nil {
		return 0, err.Error()
	}
	defer answer.Body.Close()
	b, err := io.ReadAll(answer.Body)
	if err != nil {
		return 0, err.Error()
	}
	return answer.StatusCode, string(b)
}

// TestAdminDefaultTaken: a default address that another process has costs the metrics and one warning, not the start.
func TestAdminDefaultTaken(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:9870")
	if err == nil { // else somebody has it already
		t.Cleanup(func() { _ = l.Close() })
	}
	s := newSite(t)
	writeFile(t, s.config, strings.Replace(readFile(t, s.config), "adminListen=off\n", "", 1))
	p := s.start()
	waitFor(t, "warning", func() bool { return p.stderr.has("adminListen") })
	s.dial().want(0, ask(206))
	p.stop()
	if n := strings.Count(p.stderr.String(), "level=WARN"); n != 1 {
		t.Errorf("%d warnings", n)
	}
}

// TestProbesOfALifetime: ready once it serves, alive after it stood still, not ready while it says goodbye, silent at the end.
func TestProbesOfALifetime(t *testing.T) {
	s, p, url := startWithAdmin(t, "enableShutdownGracefully=true", "shutdownWaitTimeSeconds=2", "needWaitForService=true", "waitSecondsForService=2")
	if status, text := get(url + "/readyz"); status != http.StatusServiceUnavailable || text != "waiting\n" {
		t.Errorf("while it waits for brokers: %d %q", status, text)
	}
	waitFor(t, "ready", func() bool { status, _ := get(url + "/readyz"); return status == http.StatusOK })
	s.dial().want(0, ask(206))

	p.signal(syscall.SIGSTOP)
	time.Sleep(4 * time.Second) // longer than a probe waits
	p.signal(syscall.SIGCONT)
	if status, text := get(url + "/livez"); status != http.StatusOK {
		t.Errorf("after it stood still: %d %q", status, text)
	}
	if status, text := get(url + "/metrics"); status != http.StatusOK || !strings.Contains(text, "\nwaymark_loops_missing 0\n") {
		t.Errorf("status %d, or loops are missing", status)
	}

	p.signal(syscall.SIGTERM)
	waitFor(t, "not ready", func() bool {
		status, text := get(url + "/readyz")
		return status == http.StatusServiceUnavailable && text == "stopping\n"
	})
	if status, text := get(url + "/livez"); status != http.StatusOK {
		t.Errorf("while it stops: %d %q", status, text)
	}
	p.wantExit(0, waitLimit)
	if status, _ := get(url + "/readyz"); status != 0 {
		t.Errorf("status %d of an ended process", status)
	}
}
