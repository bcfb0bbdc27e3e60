package servers

import (
	"os"
	"strings"
	"testing"
)

func TestRust(t *testing.T) {
	dir := t.TempDir()
	for _, tuned := range []bool{false, true} {
		s, err := Rust("/opt/rust/namesrv", tuned)
		if err != nil {
			t.Fatal(err)
		}
		cmd, err := s.command(s, 4711, dir)
		if err != nil {
			t.Fatal(err)
		}
		config, err := os.ReadFile(cmd.Args[2])
		if err != nil {
			t.Fatal(err)
		}
		if cmd.Path != "/opt/rust/namesrv" || !strings.Contains(string(config), "listenPort = 4711\n") {
			t.Errorf("%v with %s", cmd.Args, config)
		}
		if cached := strings.Contains(string(config), "ResponseCacheEnable = true"); cached != tuned {
			t.Errorf("tuned %t: %s", tuned, config)
		}
	}
	t.Setenv("PATH", dir)
	if _, err := Rust("", false); err == nil || !strings.Contains(err.Error(), "cargo install") {
		t.Errorf("%v; want how to get it", err)
	}
}
