package bench

import (
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"
)

// Machine is where and when a result was measured. What can't be told is empty.
type Machine struct {
	Date   string `json:"date"`
	Commit string `json:"commit"` // of the working directory's checkout
	CPU    string `json:"cpu"`
	Cores  int    `json:"cores"`
	Kernel string `json:"kernel"`
	Go     string `json:"go"`
	Load   string `json:"load"` // load averages over 1, 5 and 15 minutes at the beginning
}

// ThisMachine describes the machine now.
func ThisMachine() Machine {
	m := Machine{Date: time.Now().UTC().Format("2006-01-02"), Cores: runtime.NumCPU(), Go: runtime.Version()}
	if out, err := exec.Command("git", "describe", "--always", "--dirty", "--exclude", "*").Output(); err == nil {
		m.Commit = strings.TrimSpace(string(out))
	}
	m.Kernel = firstLine("/proc/sys/kernel/osrelease")
	if fields := strings.Fields(firstLine("/proc/loadavg")); len(fields) >= 3 {
		m.Load = strings.Join(fields[:3], " ")
	}
	if text, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for line := range strings.Lines(string(text)) {
			if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == "model name" {
				m.CPU = strings.TrimSpace(value)
				break
			}
		}
	}
	return m
}

func firstLine(path string) string {
	text, _ := os.ReadFile(path) // what isn't there stays empty
	line, _, _ := strings.Cut(string(text), "\n")
	return line
}
