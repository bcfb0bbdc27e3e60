//go:build faults && linux

package faults

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/waymark-mq/waymark/e2e/harness"
)

// site is where one nameserver after another runs: a home folder with the
// configuration file, and a port. The KV file is at its default place.
type site struct {
	t                    *testing.T
	home, config, kvFile string
	addr                 string
	openDescriptors      int           // ulimit -n of the processes; 0: inherited
	env                  []string      // name=value, of the processes
	group                string        // folder of the control group that processes start in; "": the test's
	host                 *harness.Host // that processes run on; nil: the test's
}

// newSite makes a site whose configuration file has lines besides the address. The HTTP side is off unless they say otherwise.
func newSite(t *testing.T, lines ...string) *site {
	t.Helper()
	port, err := harness.FreePort()
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	s := &site{t: t, home: home, config: filepath.Join(home, "namesrv.properties"),
		kvFile: filepath.Join(home, "namesrv", "kvConfig.json"), addr: harness.Loopback(port)}
	lines = append([]string{"bindAddress=127.0.0.1", fmt.Sprintf("listenPort=%d", port), "adminListen=off"}, lines...)
	writeFile(t, s.config, strings.Join(lines, "\n")+"\n")
	return s
}

// bootLine begins what a nameserver prints once it serves.
const bootLine = "The Name Server boot success."

// launch starts a nameserver, which may fail to come up.
func (s *site) launch() *process {
	s.t.Helper()
	if s.openDescriptors > 0 {
		return run(s.t, s.home, "/bin/sh", "-c", fmt.Sprintf(`ulimit -n %d && exec "$0" -c "$1"`, s.openDescriptors), program, s.config)
	}
	if s.group != "" {
		return run(s.t, s.home, "/bin/sh", "-c", `echo $$ > "$2/cgroup.procs" && exec "$0" -c "$1"`, program, s.config, s.group)
	}
	if s.host != nil {
		return run(s.t, s.home, "ip", "netns", "exec", s.host.Namespace, program, "-c", s.config)
	}
	if len(s.env) > 0 {
		return run(s.t, s.home, "/usr/bin/env", append(slices.Clone(s.env), program, "-c", s.config)...)
	}
	return run(s.t, s.home, program, "-c", s.config)
}

// start starts a nameserver and waits until it serves.
func (s *site) start() *process {
	s.t.Helper()
	p := s.launch()
	p.waitForBoot()
	return p
}

func (p *process) waitForBoot() {
	p.t.Helper()
	waitFor(p.t, "boot line", func() bool {
		select {
		case <-p.done:
			p.t.Fatalf("ended with exit code %d instead of starting", p.exit)
		default:
		}
		return p.stdout.has(bootLine)
	})
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
