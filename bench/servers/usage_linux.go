package servers

import (
	"fmt"
	"os"
	"runtime"
	"syscall"
	"time"
	"unsafe"
)

// cpuTime is what all threads of the process have used, those that ended included, in user and system mode. The clock counts
// nanoseconds; the fields of /proc/PID/stat count hundredths of a second, which is more than a short phase uses.
func cpuTime(pid int) (time.Duration, error) {
	// clock_getcpuclockid(3): the complement of the pid, shifted, with the clock of what the scheduler counted.
	const scheduled = 2
	clock := ^pid<<3 | scheduled
	var t syscall.Timespec
	_, _, errno := syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, uintptr(clock), uintptr(unsafe.Pointer(&t)), 0)
	runtime.KeepAlive(&t)
	if errno != 0 {
		return 0, fmt.Errorf("servers: CPU time of process %d: %w", pid, errno)
	}
	return time.Duration(t.Nano()), nil
}

// memory reads the process's resident memory, in bytes.
func memory(pid int) (resident, peak int64, err error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, 0, fmt.Errorf("servers: memory: %w", err)
	}
	return parseStatus(string(text))
}
