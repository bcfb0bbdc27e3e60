package servers

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"time"

	"github.com/waymark-mq/waymark/e2e/harness"
)

const (
	startLimit = time.Minute
	stopLimit  = 20 * time.Second
)

// Server is a nameserver that can be measured.
type Server struct {
	Name  string // the heading of its column
	Loops int    // event loops; 0: unknown
	Floor bool   // looks at nothing and answers everything alike

	// AnswerSize is told to a floor before its start.
	AnswerSize int

	addr    string // of one that runs already
	pid     int
	command func(s *Server, port int, dir string) (*exec.Cmd, error)
}

// Running is a server that accepts connections.
type Running struct {
	Addr      string
	PID       int           // 0: unknown
	Listening time.Duration // from its start to its first accepted connection; 0: it ran already

	process *harness.Process
	dir     string
}

// Start starts the server in a new folder, on a loopback port of its own, and waits until it accepts connections. One that runs
// already is only looked for.
func (s *Server) Start(ctx context.Context) (*Running, error) {
	if s.command == nil {
		r := &Running{Addr: s.addr, PID: s.pid}
		return r, r.await(ctx)
	}
	port, err := harness.FreePort()
	if err != nil {
		return nil, fmt.Errorf("servers: %w", err)
	}
	dir, err := os.MkdirTemp("", "nsload-")
	if err != nil {
		return nil, fmt.Errorf("servers: %w", err)
	}
	r := &Running{Addr: harness.Loopback(port), dir: dir}
	cmd, err := s.command(s, port, dir)
	if err == nil {
		began := time.Now()
		if r.process, err = harness.StartProcess(s.Name, dir, cmd); err == nil {
			r.PID = r.process.PID()
			err = r.await(ctx)
			r.Listening = time.Since(began)
		}
	}
	if err != nil {
		return nil, errors.Join(err, r.Stop())
	}
	return r, nil
}

// await waits until the server accepts a connection.
func (r *Running) await(ctx context.Context) error {
	deadline := time.Now().Add(startLimit)
	for {
		conn, err := net.DialTimeout("tcp", r.Addr, time.Second)
		if err == nil {
			return conn.Close()
		}
		if r.process == nil {
			return fmt.Errorf("servers: %w", err)
		}
		if !r.process.Running() || time.Now().After(deadline) {
			return fmt.Errorf("servers: the server does not come up at %s: %w\n%s", r.Addr, err, r.output())
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("servers: %w", ctx.Err())
		case <-time.After(time.Millisecond):
		}
	}
}

// Stop ends a server that Start started.
func (r *Running) Stop() error {
	if r.process != nil {
		// A Java process that is asked to stop ends with a status of its own.
		if err := r.process.Stop(stopLimit); err != nil && !errors.As(err, new(*exec.ExitError)) {
			return fmt.Errorf("servers: %w", err)
		}
	}
	if r.dir == "" {
		return nil
	}
	return os.RemoveAll(r.dir)
}

// Alive reports whether a started server still runs; its output tells why not.
func (r *Running) Alive() error {
	if r.process == nil || r.process.Running() {
		return nil
	}
	return fmt.Errorf("servers: the server has ended\n%s", r.output())
}

const outputShown = 4 << 10

func (r *Running) output() string {
	text, err := os.ReadFile(harness.OutputFile(r.dir))
	if err != nil {
		return err.Error()
	}
	return string(text[max(0, len(text)-outputShown):])
}
