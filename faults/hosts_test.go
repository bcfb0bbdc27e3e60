//go:build faults && linux

package faults

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// hostsHeld has TestHostsOfAKilledRun make hosts and do nothing any more.
const hostsHeld = "WAYMARK_FAULTS_HOSTS"

// TestHostsOfAKilledRun: the network of a test that is killed is removed by the next one that makes hosts, and no sooner.
func TestHostsOfAKilledRun(t *testing.T) {
	if os.Getenv(hostsHeld) != "" {
		hosts := newHosts(t)
		if _, err := hosts.Add(2); err != nil {
			t.Fatal(err)
		}
		fmt.Println("held")
		time.Sleep(10 * waitLimit)
		return
	}
	first := newHosts(t) // or there is nothing to test here
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := run(t, t.TempDir(), "/usr/bin/env", hostsHeld+"=1", "WAYMARK_BIN="+program, self, "-test.run=^"+t.Name()+"$")
	waitFor(t, "hosts of another process", func() bool { return p.stdout.has("held") })
	theirs := func() (n int) {
		for _, list := range []string{"-br link", "netns list"} {
			out, err := exec.Command("ip", strings.Fields(list)...).Output()
			if err != nil {
				t.Fatal(err)
			}
			n += strings.Count(string(out), fmt.Sprintf("wm%db", p.cmd.Process.Pid))
		}
		return n
	}
	again := func() {
		t.Helper()
		if err := first.Close(); err != nil {
			t.Fatal(err)
		}
		first = newHosts(t)
	}
	again()
	const bridgeLinkAndNamespace = 3
	if n := theirs(); n < bridgeLinkAndNamespace {
		t.Errorf("a process that runs has %d of its %d left", n, bridgeLinkAndNamespace)
	}
	p.kill()
	if n := theirs(); n < bridgeLinkAndNamespace {
		t.Errorf("a killed process has left %d: nothing is tested", n)
	}
	again()
	if n := theirs(); n != 0 {
		t.Errorf("of a killed process %d are left", n)
	}
}
