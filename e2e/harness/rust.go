package harness

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// rustNameserver is what rocketmq-rust's nameserver is looked for as; `cargo install rocketmq-namesrv --version 1.0.0 --locked` makes it.
const rustNameserver = "rocketmq-namesrv-rust"

// RustProgram is rocketmq-rust's nameserver, as it is on the path.
func RustProgram() (Program, error) {
	binary, err := findTool(rustNameserver)
	if err != nil {
		return Program{}, err
	}
	return Program{Name: "rust", command: func(home, configFile string) *exec.Cmd {
		toml := filepath.Join(home, "namesrv.toml")
		cmd := exec.Command(binary, "-c", toml, "--log-filter", "warn")
		cmd.Err = writeTOML(toml, home, configFile)
		cmd.Dir = home
		cmd.Env = append(os.Environ(), "ROCKETMQ_HOME="+home, "HOME="+home)
		return cmd
	}}, nil
}

// writeTOML writes the properties as that nameserver reads them, and keeps its files in its home.
func writeTOML(toml, home, properties string) error {
	text, err := os.ReadFile(properties)
	if err != nil {
		return fmt.Errorf("harness: %w", err)
	}
	var b strings.Builder
	for line := range strings.Lines(string(text)) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		if _, err := strconv.Atoi(value); err != nil {
			value = strconv.Quote(value)
		}
		fmt.Fprintf(&b, "%s = %s\n", key, value)
	}
	fmt.Fprintf(&b, "rocketmqHome = %q\nkvConfigPath = %q\nconfigStorePath = %q\n",
		home, filepath.Join(home, "kvConfig.json"), filepath.Join(home, "stored.properties"))
	if err := os.WriteFile(toml, []byte(b.String()), 0o600); err != nil {
		return fmt.Errorf("harness: %w", err)
	}
	return nil
}
