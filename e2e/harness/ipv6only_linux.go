package harness

import (
	"fmt"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
)

// EnterIPv6Only moves the calling goroutine, what it connects and the processes that it starts into a network namespace of their
// own, whose loopback interface has ::1 and these addresses, and none of IPv4. The goroutine keeps its thread, and the namespace
// ends with that thread and the processes. Other goroutines, those of subtests too, stay outside. An error says why this machine
// doesn't allow it.
func EnterIPv6Only(addrs ...string) error {
	runtime.LockOSThread() // for good: the thread must not serve others
	if err := syscall.Unshare(syscall.CLONE_NEWNET); err != nil {
		return fmt.Errorf("harness: network namespace: %w", err)
	}
	commands := []string{"link set lo up", "addr flush dev lo scope host", "addr add ::1/128 dev lo"}
	for _, addr := range addrs {
		commands = append(commands, "addr add "+addr+" dev lo nodad")
	}
	for _, command := range commands {
		if out, err := exec.Command("ip", strings.Fields(command)...).CombinedOutput(); err != nil {
			return fmt.Errorf("harness: ip %s: %w: %s", command, err, out)
		}
	}
	return nil
}
