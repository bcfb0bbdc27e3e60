package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/waymark-mq/waymark/codec"
	"github.com/waymark-mq/waymark/namesrv"
)

// fakeServer stands in for the nameserver.
type fakeServer struct {
	server   // what no test needs
	options  namesrv.Options
	startErr error
	stopErr  error
	hang     bool     // Stop never ends by itself
	drains   []string // by whom it was told to drain
	onDrain  func(times int, s signals)
	onStart  func(o namesrv.Options) // after a start that succeeded
	signals  signals
	patient  time.Duration
	stopping chan struct{}
}

func (s *fakeServer) ReadyAddresses() []string { return nil }
func (s *fakeServer) Start() error {
	if s.startErr == nil && s.onStart != nil {
		s.onStart(s.options)
	}
	return s.startErr
}
func (s *fakeServer) Addr() string { return "[::]:4321" }
func (s *fakeServer) Drain(by string) bool {
	s.drains = append(s.drains, by)
	s.onDrain(len(s.drains), s.signals)
	return len(s.drains) == 1
}
func (s *fakeServer) StopLimit() time.Duration {
	return cmp.Or(s.patient, time.Hour)
}
func (s *fakeServer) Stop(context.Context) error {
	close(s.stopping)
	if s.hang {
		select {}
	}
	return s.stopErr
}

type outcome struct {
	exit           int
	stdout, stderr string
	server         *fakeServer
}

// start runs the process with a signal already waiting, so that a server that
// starts stops at once.
func start(t *testing.T, srv *fakeServer, env map[string]string, args ...string) outcome {
	t.Helper()
	return startWith(t, srv, &fakeAdmin{}, env, args...)
}

func startWith(t *testing.T, srv *fakeServer, side *fakeAdmin, env map[string]string, args ...string) outcome {
	t.Helper()
	signals := newSignals()
	signals.stop <- syscall.SIGTERM
	return startSignalled(t, srv, side, env, signals, args...)
}

// startSignalled starts it with these signals. A server that hangs gets another SIGTERM while it stops, unless it is to
// be given up.
func startSignalled(t *testing.T, srv *fakeServer, side *fakeAdmin, env map[string]string, signals signals, args ...string) outcome {
	t.Helper()
	srv.stopping, srv.signals = make(chan struct{}), signals
	if srv.hang && srv.patient == 0 {
		go func() {
			<-srv.stopping
			signals.drain <- drainSignal // these two end nothing
			signals.hangup <- hangup
			signals.stop <- syscall.SIGTERM
		}()
	}
	var stdout, stderr bytes.Buffer
	exit := run(process{
		args: args, stdout: &stdout, stderr: &stderr, signals: signals,
		getenv: func(name string) string {
			if value, ok := env[name]; ok || name != "HOME" {
				return value
			}
			return "/home/rmq"
		},
		newServer: func(o namesrv.Options) (server, error) {
			srv.options = o
			return srv, nil
		},
		listenAdmin: side.listen,
	})
	return outcome{exit, stdout.String(), stderr.String(), srv}
}

func writeConfig(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "namesrv.properties")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestBootLine(t *testing.T) {
	got := start(t, &fakeServer{}, nil)
	if got.exit != 0 || got.stdout != "The Name Server boot success. serializeType=JSON, address 0.0.0.0:4321\n" {
		t.Errorf("exit %d, %q", got.exit, got.stdout)
	}
	if s := got.server.options.Settings; s.ListenPort != 9876 || s.KVConfigPath != "/home/rmq/namesrv/kvConfig.json" || s.RocketmqHome != "" {
		t.Errorf("settings %+v", s)
	}
}

func TestConfigFile(t *testing.T) {
	file := writeConfig(t, "listenPort=4321\nbindAddress=127.0.0.1\nbogus=1\n")
	for _, args := range [][]string{{"-c", file}, {"--configFile", file}, {"--configFile=" + file}, {"-configFile", file}, {"stray", "-c", file, "words"}, {"-n", "x:1", "-c", file}} {
		got := start(t, &fakeServer{}, nil, args...)
		want := "load config properties file OK, " + file + "\nThe Name Server boot success. serializeType=JSON, address 127.0.0.1:4321\n"
		if got.exit != 0 || got.stdout != want {
			t.Errorf("%q: exit %d, %q, %q", args, got.exit, got.stdout, got.stderr)
		}
		if !strings.Contains(got.stderr, "line=3") || !strings.Contains(got.stderr, "bogus") {
			t.Errorf("%q: no warning of the unknown key: %q", args, got.stderr)
		}
		if s := got.server.options.Settings; s.ListenPort != 4321 || s.ConfigStorePath != file {
			t.Errorf("%q: settings %+v", args, s)
		}
	}
}

// A configuration file that was lost is replaced by its backup, which is one line that can't be overlooked.
func TestConfigFromBackup(t *testing.T) {
	file := writeConfig(t, "")
	if err := os.WriteFile(file+".bak", []byte("listenPort=4321\nlogLevel=error\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	got := start(t, &fakeServer{}, nil, "-c", file)
	if got.exit != 0 || !strings.HasPrefix(got.stdout, "load config properties file OK, "+file+"\n") {
		t.Errorf("exit %d, %q", got.exit, got.stdout)
	}
	if s := got.server.options.Settings; s.ListenPort != 4321 || s.ConfigStorePath != file {
		t.Errorf("settings %+v", s)
	}
	if strings.Count(got.stderr, "\n") != 1 || !strings.Contains(got.stderr, "level=ERROR") || !strings.Contains(got.stderr, "path="+file+".bak") {
		t.Errorf("log %q", got.stderr)
	}
}

func TestPrintItems(t *testing.T) {
	file := writeConfig(t, "listenPort=19876\nbogus=1\n")
	for _, flag := range []string{"-p", "--printConfigItem"} {
		got := start(t, &fakeServer{}, map[string]string{"ROCKETMQ_HOME": "/opt/rocketmq"}, flag, "-c", file)
		if got.exit != 0 || got.server.options.Settings != nil {
			t.Errorf("%s: exit %d, server made: %v", flag, got.exit, got.server.options.Settings != nil)
		}
		for _, line := range []string{"listenPort=19876", "bogus=1", "eventLoops=0", "connectTimeoutMillis=3000", "rocketmqHome=/opt/rocketmq", "configStorePath=" + file} {
			if !strings.Contains(got.stdout, "\n"+line+"\n") {
				t.Errorf("%s: %s is missing in\n%s", flag, line, got.stdout)
			}
		}
	}
}

func TestHelpAndBadOptions(t *testing.T) {
	for _, c := range []struct {
		args   []string
		exit   int
		stderr string
	}{
		{[]string{"-h"}, 0, ""},
		{[]string{"--help", "-c", "/absent"}, 0, ""},
		{[]string{"-x"}, 1, "-x"},
		{[]string{"--nope=1"}, 1, "-nope"},
		{[]string{"--configFile"}, 1, "needs an argument"},
	} {
		got := start(t, &fakeServer{}, nil, c.args...)
		if got.exit != c.exit || got.stdout != usage || !strings.Contains(got.stderr, c.stderr) || (c.stderr == "") != (got.stderr == "") {
			t.Errorf("%q: exit %d, stdout %q, stderr %q", c.args, got.exit, got.stdout, got.stderr)
		}
	}
}

func TestFailures(t *testing.T) {
	bad := writeConfig(t, "a=1\nlistenPort=x\n")
	controller := writeConfig(t, "enableControllerInNamesrv=true\n")
	taken := errors.New("namesrv: listen tcp 0.0.0.0:9876: address already in use")
	for _, c := range []struct {
		name   string
		srv    fakeServer
		env    map[string]string
		args   []string
		stderr string
	}{
		{"missing file", fakeServer{}, nil, []string{"-c", "/absent/file"}, "/absent/file"},
		{"bad value", fakeServer{}, nil, []string{"-c", bad}, bad + ":2: listenPort"},
		{"controller", fakeServer{}, nil, []string{"-c", controller}, "standalone controller"},
		{"port taken", fakeServer{startErr: taken}, nil, nil, taken.Error()},
		{"serialize type", fakeServer{}, map[string]string{"ROCKETMQ_SERIALIZE_TYPE": "xml"}, nil, `"xml" is neither JSON nor ROCKETMQ`},
		{"stop", fakeServer{stopErr: errors.New("namesrv: not stopped")}, nil, nil, "not stopped"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := start(t, &c.srv, c.env, c.args...)
			lines := strings.Split(strings.TrimSuffix(got.stderr, "\n"), "\n")
			if got.exit != 255 || !strings.Contains(lines[len(lines)-1], c.stderr) {
				t.Errorf("exit %d, stderr %q", got.exit, got.stderr)
			}
			if c.name != "stop" && (len(lines) != 1 || strings.Contains(got.stdout, "boot success")) {
				t.Errorf("stderr %q, stdout %q: want one line, and no success", got.stderr, got.stdout)
			}
		})
	}
}

func TestSerializeType(t *testing.T) {
	for _, c := range []struct {
		name string
		env  map[string]string
		want codec.SerializeType
	}{
		{"nothing", nil, codec.SerializeJSON},
		{"blank", map[string]string{"ROCKETMQ_SERIALIZE_TYPE": " "}, codec.SerializeJSON},
		{"environment", map[string]string{"ROCKETMQ_SERIALIZE_TYPE": "ROCKETMQ"}, codec.SerializeROCKETMQ},
		{"property", map[string]string{"JAVA_OPT": "-Xmx1g -Drocketmq.serialize.type=ROCKETMQ"}, codec.SerializeROCKETMQ},
		{"property before environment", map[string]string{"JAVA_OPT_EXT": "-Drocketmq.serialize.type=JSON", "ROCKETMQ_SERIALIZE_TYPE": "ROCKETMQ"}, codec.SerializeJSON},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := start(t, &fakeServer{}, c.env)
			if got.exit != 0 || got.server.options.SerializeType != c.want || !strings.Contains(got.stdout, "serializeType="+serializeNames[c.want]+",") {
				t.Errorf("exit %d, type %v, %q", got.exit, got.server.options.SerializeType, got.stdout)
			}
		})
	}
}

func TestSecondSignalEndsAtOnce(t *testing.T) {
	if got := start(t, &fakeServer{hang: true}, nil); got.exit != exitForced {
		t.Errorf("exit %d", got.exit)
	}
}

// A stop that never ends is given up, with a line that says so.
func TestStopHasALimit(t *testing.T) {
	got := start(t, &fakeServer{hang: true, patient: time.Millisecond}, nil)
	if got.exit != exitForced || !strings.Contains(got.stderr, "not stopped within 1ms") {
		t.Errorf("exit %d, stderr %q", got.exit, got.stderr)
	}
}

// SIGUSR1 makes the server drain and ends nothing, however often it comes.
func TestDrainSignal(t *testing.T) {
	waiting := newSignals()
	waiting.drain <- drainSignal
	srv := &fakeServer{onDrain: func(times int, s signals) {
		if times == 1 {
			s.drain <- drainSignal
			return
		}
		s.stop <- syscall.SIGTERM
	}}
	got := startSignalled(t, srv, &fakeAdmin{}, nil, waiting)
	if got.exit != exitOK || strings.Join(srv.drains, " ") != "SIGUSR1 SIGUSR1" || strings.Count(got.stderr, "draining already") != 1 {
		t.Errorf("exit %d, told to drain by %q, stderr %q", got.exit, srv.drains, got.stderr)
	}
}

// A closed terminal is told of twice, by its shell and by the kernel: that is one stop, in order.
func TestHangupForcesNothing(t *testing.T) {
	waiting := newSignals()
	waiting.hangup <- hangup
	srv := &fakeServer{hang: true, patient: 50 * time.Millisecond}
	go func() { waiting.hangup <- hangup }()
	got := startSignalled(t, srv, &fakeAdmin{}, nil, waiting)
	if got.exit != exitForced || !strings.Contains(got.stderr, "not stopped within 50ms") {
		t.Errorf("exit %d, stderr %q: want the limit of the stop to end it", got.exit, got.stderr)
	}
}

// A fault that the server can't go on with ends the process, also while it stops, with a line that says so.
func TestFaultEndsTheProcess(t *testing.T) {
	fault := errors.New("namesrv: it is broken")
	for name, stopping := range map[string]bool{"serving": false, "stopping": true} {
		t.Run(name, func(t *testing.T) {
			srv, waiting := &fakeServer{hang: true, patient: time.Hour}, newSignals()
			srv.onStart = func(o namesrv.Options) {
				go func() {
					if stopping {
						waiting.stop <- syscall.SIGTERM
						<-srv.stopping
					}
					o.Fatal(fault)
					t.Error("who can't go on goes on")
				}()
			}
			got := startSignalled(t, srv, &fakeAdmin{}, nil, waiting)
			if got.exit != exitBroken || !strings.HasSuffix(got.stderr, "namesrv: it is broken; the process ends\n") {
				t.Errorf("exit %d, stderr %q", got.exit, got.stderr)
			}
		})
	}
}
