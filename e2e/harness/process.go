package harness

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// outputFile is the file in a peer's folder that takes its standard output and error.
const outputFile = "output.log"

// OutputFile is that file of the peer in dir.
func OutputFile(dir string) string { return filepath.Join(dir, outputFile) }

// Process is one started peer. Its methods may be called from any goroutine.
type Process struct {
	name string
	cmd  *exec.Cmd

	done    chan struct{} // closed when the process has ended and been reaped
	endedAt time.Time     // valid after done
	endErr  error         // valid after done: nil, or how it ended
}

// StartProcess starts cmd with its output appended to a file in dir. The process ends with the caller's at the latest,
// where the system can arrange that.
func StartProcess(name, dir string, cmd *exec.Cmd) (*Process, error) {
	return startProcess(name, dir, cmd, nil)
}

// startProcess sends the standard output to stdout instead of the file, unless stdout is nil.
func startProcess(name, dir string, cmd *exec.Cmd, stdout io.Writer) (*Process, error) {
	output, err := os.OpenFile(filepath.Join(dir, outputFile), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, fmt.Errorf("harness: output of %s: %w", name, err)
	}
	defer output.Close()
	cmd.Stdout, cmd.Stderr = output, output
	if stdout != nil {
		cmd.Stdout = stdout
	}
	cmd.SysProcAttr = dieWithParent()
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("harness: start %s: %w", name, err)
	}
	p := &Process{name: name, cmd: cmd, done: make(chan struct{})}
	go func() {
		p.endErr = cmd.Wait()
		p.endedAt = time.Now()
		close(p.done)
	}()
	return p, nil
}

// Done is closed when the process has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Running reports whether the process has not ended yet.
func (p *Process) Running() bool {
	select {
	case <-p.done:
		return false
	default:
		return true
	}
}

// EndedAt is the time at which the system reported the end of the process. Call it after Done.
func (p *Process) EndedAt() time.Time { return p.endedAt }

// Terminate asks the process to stop (SIGTERM).
func (p *Process) Terminate() error { return p.signal(syscall.SIGTERM) }

// Kill ends the process without asking (SIGKILL).
func (p *Process) Kill() error { return p.signal(syscall.SIGKILL) }

// Freeze stops the process where it stands (SIGSTOP), with its sockets open, until Thaw.
func (p *Process) Freeze() error { return p.signal(syscall.SIGSTOP) }

// Thaw lets a frozen process go on (SIGCONT).
func (p *Process) Thaw() error { return p.signal(syscall.SIGCONT) }

// Drain tells a nameserver of ours to send its clients elsewhere (SIGUSR1).
func (p *Process) Drain() error { return p.signal(syscall.SIGUSR1) }

// PID is the number by which the system knows the process.
func (p *Process) PID() int { return p.cmd.Process.Pid }

func (p *Process) signal(sig os.Signal) error {
	if err := p.cmd.Process.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("harness: signal %s: %w", p.name, err)
	}
	return nil
}

// Stop asks the process to stop and kills it when it has not ended within limit, which is an error. It returns how
// the process ended: nil for exit status 0.
func (p *Process) Stop(limit time.Duration) error {
	if err := p.Terminate(); err != nil {
		return err
	}
	select {
	case <-p.done:
		return p.endErr
	case <-time.After(limit):
		_ = p.Kill()
		<-p.done
		return fmt.Errorf("harness: %s did not stop within %v", p.name, limit)
	}
}

// killAndWait ends a process that may never have been started.
func killAndWait(p *Process) {
	if p == nil {
		return
	}
	_ = p.Kill()
	<-p.done
}

// Eventually calls check every 50 ms until it returns nil, the limit passes or one of the processes ends. The error
// carries the last reason why check was not content.
func Eventually(limit time.Duration, check func() error, needs ...*Process) error {
	deadline := time.Now().Add(limit)
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	for {
		err := check()
		if err == nil {
			return nil
		}
		for _, p := range needs {
			if !p.Running() {
				return fmt.Errorf("harness: %s ended (%v) before: %w", p.name, p.endErr, err)
			}
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("harness: not within %v: %w", limit, err)
		}
		<-ticker.C
	}
}

// tailLines is how much of a peer's output a failing test shows.
const tailLines = 60

// tailOutput returns the end of what the peer with its files in dir printed.
func tailOutput(title, dir string) string {
	text, err := os.ReadFile(filepath.Join(dir, outputFile))
	if err != nil {
		return fmt.Sprintf("--- %s: %v\n", title, err)
	}
	lines := strings.Split(strings.TrimRight(string(text), "\n"), "\n")
	lines = lines[max(0, len(lines)-tailLines):]
	return fmt.Sprintf("--- %s: end of its output\n%s\n", title, strings.Join(lines, "\n"))
}
