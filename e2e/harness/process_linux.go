package harness

import "syscall"

// dieWithParent makes the system kill the peer when this process is gone, for example after a test's time-out, which
// runs no cleanup.
func dieWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
