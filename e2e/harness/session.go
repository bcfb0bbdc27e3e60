package harness

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// Session is a running peer program that takes commands as lines and tells what happens as lines. Its methods are for
// one goroutine at a time.
type Session struct {
	name  string
	dir   string
	stdin io.WriteCloser
	proc  *Process
	lines chan string // what it printed and nobody has read; closed at its end

	mu   sync.Mutex
	said []string // all it printed, for a failing test
}

// sessionBacklog is how many lines a program may be ahead of its reader before it has to wait.
const sessionBacklog = 100_000

// StartSession starts a compiled Java program whose commands come on its standard input. Its errors go to a file in home.
// The arguments that begin with -D and come first are the virtual machine's.
func (j *Java) StartSession(jars Jars, classes, home, class string, args ...string) (*Session, error) {
	if err := writeLogConfig(home, logTool); err != nil {
		return nil, err
	}
	options := []string{"-Drocketmq.client.logRoot=" + filepath.Join(home, "logs")}
	for len(args) > 0 && strings.HasPrefix(args[0], "-D") {
		options, args = append(options, args[0]), args[1:]
	}
	return startSession(class, home, j.command(context.Background(), run{
		classPath: []string{classes, jars.classPath()}, heapMiB: sessionHeapMiB, home: home, options: options, class: class, args: args,
	}))
}

const sessionHeapMiB = 192

func startSession(name, dir string, cmd *exec.Cmd) (*Session, error) {
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("harness: %s: %w", name, err)
	}
	reader, writer := io.Pipe()
	proc, err := startProcess(name, dir, cmd, writer)
	if err != nil {
		return nil, err
	}
	s := &Session{name: name, dir: dir, stdin: stdin, proc: proc, lines: make(chan string, sessionBacklog)}
	go func() {
		<-proc.Done()
		_ = writer.Close()
	}()
	go s.read(reader)
	return s, nil
}

func (s *Session) read(r io.Reader) {
	defer close(s.lines)
	scanner := bufio.NewScanner(r)
	scanner.Buffer(nil, maxAnswerBytes)
	for scanner.Scan() {
		s.mu.Lock()
		s.said = append(s.said, scanner.Text())
		s.mu.Unlock()
		s.lines <- scanner.Text()
	}
	_, _ = io.Copy(io.Discard, r) // a line beyond the buffer must not stop the program
}

// Tell gives the program a command, one line.
func (s *Session) Tell(command string) error {
	if _, err := io.WriteString(s.stdin, command+"\n"); err != nil {
		return fmt.Errorf("harness: tell %s %q: %w", s.name, command, err)
	}
	return nil
}

// Await returns the next line that begins with the prefix and forgets those before it.
func (s *Session) Await(prefix string, limit time.Duration) (string, error) {
	deadline := time.After(limit)
	for {
		select {
		case line, ok := <-s.lines:
			if !ok {
				return "", fmt.Errorf("harness: %s ended (%v) without saying %q", s.name, s.proc.endErr, prefix)
			}
			if strings.HasPrefix(line, prefix) {
				return line, nil
			}
		case <-deadline:
			return "", fmt.Errorf("harness: %s didn't say %q within %v", s.name, prefix, limit)
		}
	}
}

// Ask gives the program a command and returns the next line that begins with the prefix.
func (s *Session) Ask(command, prefix string, limit time.Duration) (string, error) {
	if err := s.Tell(command); err != nil {
		return "", err
	}
	return s.Await(prefix, limit)
}

// Process is the program's process.
func (s *Session) Process() *Process { return s.proc }

// Kill ends the program and waits for its end.
func (s *Session) Kill() { killAndWait(s.proc) }

// Errors returns the end of what the program printed to its standard error.
func (s *Session) Errors() string { return tailOutput(s.name, s.dir) }

// Logs returns the end of what the program said.
func (s *Session) Logs() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	last := s.said[max(0, len(s.said)-tailLines):]
	return fmt.Sprintf("--- %s: end of what it said\n%s\n", s.name, strings.Join(last, "\n"))
}
