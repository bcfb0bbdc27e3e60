package servers

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// RustProgram is what rocketmq-rust's nameserver is looked for as; `cargo install rocketmq-namesrv --version 1.0.0 --locked` makes it.
const RustProgram = "rocketmq-namesrv-rust"

// rustSwitches are the settings of rocketmq-rust 1.0.0 that are off by default and meant to make it faster.
var rustSwitches = []string{
	"namesrvRouteResponseCacheEnable = true",
	"namesrvTypedZoneRouteEnable = true",
	"enableRegistrationDelta = true",
	`expiryIndexMode = "active"`,
}

// Rust is rocketmq-rust's nameserver, the program at binary or the one on the PATH; tuned switches on what it has for speed.
func Rust(binary string, tuned bool) (*Server, error) {
	if binary == "" {
		var err error
		if binary, err = exec.LookPath(RustProgram); err != nil {
			return nil, fmt.Errorf("servers: rocketmq-rust: %w; make it with: cargo install rocketmq-namesrv --version 1.0.0 --locked", err)
		}
	}
	s := &Server{Name: "rust"}
	var switches []string
	if tuned {
		s.Name, switches = "rust-tuned", rustSwitches
	}
	s.command = func(_ *Server, port int, dir string) (*exec.Cmd, error) {
		config := filepath.Join(dir, "namesrv.toml")
		lines := append([]string{
			`bindAddress = "127.0.0.1"`, "listenPort = " + strconv.Itoa(port), "rocketmqHome = " + strconv.Quote(dir),
			"kvConfigPath = " + strconv.Quote(filepath.Join(dir, "kvConfig.json")),
			"configStorePath = " + strconv.Quote(filepath.Join(dir, "stored.properties")),
		}, switches...)
		if err := os.WriteFile(config, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
			return nil, fmt.Errorf("servers: %w", err)
		}
		cmd := exec.Command(binary, "-c", config, "--log-filter", "warn")
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "ROCKETMQ_HOME="+dir, "HOME="+dir)
		return cmd, nil
	}
	return s, nil
}
