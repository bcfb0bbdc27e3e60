package servers

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// Waymark is this project's nameserver, as built at binary. Its HTTP side is on, as by default, but on a port of its own.
func Waymark(binary string, loops int) *Server {
	return &Server{Name: "waymark", Loops: loops, command: func(s *Server, port int, dir string) (*exec.Cmd, error) {
		config, err := writeConfig(dir, port, "eventLoops="+strconv.Itoa(loops), "adminListen=127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		cmd := exec.Command(binary, "-c", config)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "ROCKETMQ_HOME="+dir, "HOME="+dir)
		return cmd, nil
	}}
}

// Floor is package floor, run by a program of which it is a subcommand.
func Floor(program string, loops int) *Server {
	return &Server{Name: "floor", Loops: loops, Floor: true, command: func(s *Server, port int, dir string) (*exec.Cmd, error) {
		return exec.Command(program, "floor", "-addr", "127.0.0.1:"+strconv.Itoa(port), "-loops", strconv.Itoa(loops), "-size", strconv.Itoa(s.AnswerSize)), nil
	}}
}

// External is a server that runs already; it is neither started nor stopped. Its CPU time and memory are unknown without a pid.
func External(name, addr string, pid int) *Server {
	return &Server{Name: name, addr: addr, pid: pid}
}

// BuildWaymark compiles the nameserver of the module into dir and returns the program's path. WAYMARK_BIN names a program to take
// instead.
func BuildWaymark(moduleRoot, dir string) (string, error) {
	if binary := os.Getenv("WAYMARK_BIN"); binary != "" {
		return binary, nil
	}
	binary := filepath.Join(dir, "namesrv")
	cmd := exec.Command("go", "build", "-trimpath", "-o", binary, "./cmd/namesrv")
	cmd.Dir = moduleRoot
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("servers: build waymark: %w\n%s", err, out)
	}
	return binary, nil
}

// ModuleRoot is the folder of the module's go.mod, looked for from the working directory upward.
func ModuleRoot() (string, error) {
	out, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		return "", fmt.Errorf("servers: %w", err)
	}
	mod := strings.TrimSpace(string(out))
	text, err := os.ReadFile(mod)
	if err != nil || !strings.Contains(string(text), "module github.com/waymark-mq/waymark\n") {
		return "", fmt.Errorf("servers: not within a checkout of waymark, and so nothing to build; give a program by WAYMARK_BIN or bin=")
	}
	return filepath.Dir(mod), nil
}

// writeConfig writes a properties file for a server on a loopback port.
func writeConfig(dir string, port int, settings ...string) (string, error) {
	path := filepath.Join(dir, "namesrv.properties")
	lines := append([]string{"bindAddress=127.0.0.1", "listenPort=" + strconv.Itoa(port)}, settings...)
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		return "", fmt.Errorf("servers: %w", err)
	}
	return path, nil
}
