package harness

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// mqadminLimit is how long a command of the admin tool may take.
const mqadminLimit = 2 * time.Minute

// MQAdmin runs a command of Apache's admin tool to its end and returns what it printed, both outputs together. The
// tool's exit status says nothing: many a failure is told in words only.
func (j *Java) MQAdmin(jars Jars, home string, args ...string) (string, error) {
	if err := writeLogConfig(home, logTool); err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(context.Background(), mqadminLimit)
	defer cancel()
	cmd := j.mqadmin(ctx, jars, home, args)
	cmd.SysProcAttr = dieWithParent()
	out, err := cmd.CombinedOutput()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && ctx.Err() == nil {
		err = nil
	}
	if err != nil {
		return string(out), fmt.Errorf("harness: mqadmin %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return string(out), nil
}

// EndlessMQAdmin is a running command of the admin tool that doesn't end by itself unless it fails.
type EndlessMQAdmin struct {
	home    string
	process *Process
}

// StartMQAdmin starts such a command, with its files in home.
func (j *Java) StartMQAdmin(jars Jars, home string, args ...string) (*EndlessMQAdmin, error) {
	if err := writeLogConfig(home, logTool); err != nil {
		return nil, err
	}
	process, err := StartProcess("mqadmin "+args[0], home, j.mqadmin(context.Background(), jars, home, args))
	return &EndlessMQAdmin{home: home, process: process}, err
}

// Output returns what it has printed so far, both outputs together.
func (e *EndlessMQAdmin) Output() (string, error) {
	output, err := os.ReadFile(filepath.Join(e.home, outputFile))
	return string(output), err
}

// Running reports whether it has not failed yet.
func (e *EndlessMQAdmin) Running() bool { return e.process.Running() }

// Kill ends it.
func (e *EndlessMQAdmin) Kill() { killAndWait(e.process) }

func (j *Java) mqadmin(ctx context.Context, jars Jars, home string, args []string) *exec.Cmd {
	return j.command(ctx, run{
		classPath: []string{jars.classPath()}, heapMiB: 128, home: home, args: args,
		class: "org.apache.rocketmq.tools.command.MQAdminStartup",
	})
}

// AdminShell runs commands of the admin tool, one after another, in one virtual machine. Its methods are for one
// goroutine at a time.
type AdminShell struct {
	start   func() (*Session, error)
	session *Session // nil before the first command, and after one that ended the virtual machine
}

// NewAdminShell describes a shell; classes are those of AdminShell.java, compiled for the version of jars.
func NewAdminShell(java *Java, jars Jars, classes, home string) *AdminShell {
	return &AdminShell{start: func() (*Session, error) {
		return java.StartSession(jars, classes, home, "AdminShell")
	}}
}

// Run runs a command and returns what it printed, both outputs together, as MQAdmin does.
func (s *AdminShell) Run(args ...string) (string, error) {
	if s.session == nil {
		var err error
		if s.session, err = s.start(); err != nil {
			return "", err
		}
	}
	session := s.session
	answer, err := session.Ask(strings.Join(args, "\t"), "", mqadminLimit)
	end, text, _ := strings.Cut(answer, " ")
	if err != nil || end != "done" {
		s.Kill()
	}
	if err != nil {
		return "", fmt.Errorf("harness: mqadmin %s: %w\n%s", strings.Join(args, " "), err, session.Logs())
	}
	out, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return "", fmt.Errorf("harness: mqadmin %s: answer %q: %w", strings.Join(args, " "), answer, err)
	}
	return string(out), nil
}

// Kill ends the virtual machine; a further command starts another.
func (s *AdminShell) Kill() {
	if s.session != nil {
		s.session.Kill()
		s.session = nil
	}
}
