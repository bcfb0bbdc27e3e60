package harness

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// TestMain lets the test binary play a peer: PEER says what it does.
func TestMain(m *testing.M) {
	switch os.Getenv("PEER") {
	case "":
		os.Exit(m.Run())
	case "echo":
		lines := bufio.NewScanner(os.Stdin)
		for lines.Scan() {
			fmt.Println("heard", lines.Text())
		}
	default:
		fmt.Println("peer is up")
		select {}
	}
}

func peerCommand(does string) *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "PEER="+does)
	return cmd
}

func startPeer(t *testing.T, dir string) *Process {
	t.Helper()
	p, err := StartProcess("peer", dir, peerCommand("wait"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { killAndWait(p) })
	return p
}

func TestProcess(t *testing.T) {
	dir := t.TempDir()
	p := startPeer(t, dir)
	err := Eventually(10*time.Second, func() error {
		if !strings.Contains(tailOutput("peer", dir), "peer is up") {
			return errors.New("silent")
		}
		return nil
	}, p)
	if err != nil {
		t.Fatal(err)
	}
	if !p.Running() {
		t.Error("not running before its end")
	}
	before := time.Now()
	if err := p.Stop(10 * time.Second); err == nil || !strings.Contains(err.Error(), "terminated") {
		t.Errorf("end by SIGTERM: %v", err)
	}
	if p.Running() || p.EndedAt().Before(before) {
		t.Errorf("running %v, ended at %v, asked at %v", p.Running(), p.EndedAt(), before)
	}
	if err := p.Kill(); err != nil {
		t.Errorf("kill after the end: %v", err)
	}
}

func TestEventuallyGivesUp(t *testing.T) {
	reason := errors.New("the reason")
	never := func() error { return reason }
	if err := Eventually(0, never); !errors.Is(err, reason) {
		t.Errorf("limit passed: %v", err)
	}
	p := startPeer(t, t.TempDir())
	killAndWait(p)
	if err := Eventually(time.Hour, never, p); !errors.Is(err, reason) || !strings.Contains(err.Error(), "peer ended") {
		t.Errorf("process ended: %v", err)
	}
}
