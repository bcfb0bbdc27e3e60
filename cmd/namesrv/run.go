package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/waymark-mq/waymark/admin"
	"github.com/waymark-mq/waymark/admin/api"
	"github.com/waymark-mq/waymark/codec"
	"github.com/waymark-mq/waymark/namesrv"
	"github.com/waymark-mq/waymark/namesrv/product"
	"github.com/waymark-mq/waymark/namesrv/settings"
	"github.com/waymark-mq/waymark/namesrv/tlsconfig"
)

// Exit codes. Source: Apache RocketMQ 5.5.0, observed.
const (
	exitOK      = 0
	exitOptions = 1   // a bad command line
	exitForced  = 130 // a second signal while stopping, or a stop that takes too long; ours
	exitFailed  = 255 // the file, the settings or the start
)

const (
	// drainSignal sends peers elsewhere; the process stays until it is told to stop.
	drainSignal = syscall.SIGUSR1
	// hangup, a terminal that is closed, stops the process. Shell and kernel may both send it, so a second one means no hurry.
	hangup = syscall.SIGHUP
)

// server is what run needs of a *namesrv.Server.
type server interface {
	admin.Source
	api.Source
	Start() error
	Addr() string
	Drain() bool
	StopLimit() time.Duration
	Stop(context.Context) error
}

// process is everything of the operating system that run touches.
type process struct {
	args           []string
	getenv         func(string) string
	stdout, stderr io.Writer
	signals        <-chan os.Signal
	newServer      func(namesrv.Options) (server, error)
	listenAdmin    func(admin.Options) (adminServer, error)
}

// run is the life of the process; it returns the exit code.
func run(p process) int {
	o, err := parseOptions(p.args)
	if err != nil {
		fmt.Fprintln(p.stderr, err)
		fmt.Fprint(p.stdout, usage)
		return exitOptions
	}
	if o.help {
		fmt.Fprint(p.stdout, usage)
		return exitOK
	}
	env := settings.ProcessEnv(p.getenv)
	s, warnings, err := settings.Load(env, o.configFile)
	if err != nil {
		fmt.Fprintln(p.stderr, err)
		return exitFailed
	}
	logged := s
	if o.printItems { // makes no file
		logged = settings.Default(env)
	}
	logger, err := openLog(env, logged, p.stderr)
	if err != nil {
		fmt.Fprintln(p.stderr, err)
		return exitFailed
	}
	defer logger.close()
	for _, w := range warnings {
		if w.FromBackup {
			logger.Error("configuration file read from its backup; later changes are lost", "path", w.File, "problem", w.Text)
			continue
		}
		logger.Warn("configuration file", "file", w.File, "line", w.Line, "key", w.Key, "problem", w.Text)
	}
	if o.configFile != "" {
		fmt.Fprintf(p.stdout, "load config properties file OK, %s\n", o.configFile)
	}
	if o.printItems {
		_, _ = p.stdout.Write(s.AllText())
		return exitOK
	}
	return p.serve(env, s, logger)
}

// serve starts the server and stops it at the first signal.
func (p process) serve(env settings.Env, s *settings.Settings, logger log) int {
	limit := limitMemory(logger.Logger)
	o, err := p.serverOptions(env, s, logger)
	if err != nil {
		fmt.Fprintln(p.stderr, err)
		return exitFailed
	}
	o.MemoryLimit = limit
	srv, err := p.newServer(o)
	if err != nil {
		fmt.Fprintln(p.stderr, err)
		return exitFailed
	}
	side, warning, err := p.openAdmin(s, admin.Options{
		Source: srv, Logger: logger.Logger, API: api.New(srv), Drain: func() { srv.Drain() }, TLS: expiryOf(o.TLS),
	})
	if err == nil {
		defer side.Close()
		err = srv.Start()
	}
	if err != nil {
		fmt.Fprintln(p.stderr, err)
		return exitFailed
	}
	if warning != nil {
		logger.Warn("no metrics and probes: the default address can't be listened on; adminListen chooses another", "error", warning)
	} else if addr := side.Addr(); addr != "" {
		logger.Info("metrics and probes", "addr", addr)
	}
	fmt.Fprintf(p.stdout, "The Name Server boot success. serializeType=%s, address %s:%s\n",
		serializeNames[o.SerializeType], s.BindAddress, portOf(srv.Addr()))
	p.waitForStop(srv, logger)
	return p.stop(srv)
}

// serverOptions is what settings, environment and system properties make of the server.
func (p process) serverOptions(env settings.Env, s *settings.Settings, logger log) (o namesrv.Options, err error) {
	o = namesrv.Options{Settings: s, Logger: logger.Logger, Level: logger.level}
	if o.SerializeType, err = readSerializeType(env, p.getenv); err != nil {
		return o, err
	}
	if o.MaxFrameBytes, err = readMaxFrameBytes(env); err != nil {
		return o, err
	}
	properties, err := tlsconfig.Read(env.Properties, func(name string) string { return env.Origins[name] })
	if err != nil {
		return o, err
	}
	if o.TLS, err = tlsconfig.Open(properties, logger.Logger); err != nil {
		return o, err
	}
	if s.ClusterTest {
		property := func(name string) string { return env.Properties[name] }
		o.Product = product.Find(property, p.getenv, s.ProductEnvName)
	}
	o.EventLoops = spareProcessor(s.EventLoops, p.getenv)
	return o, nil
}

// expiryOf tells when the certificate in use expires; nil without TLS.
func expiryOf(source *tlsconfig.Source) func() time.Time {
	if source == nil {
		return nil
	}
	return func() time.Time {
		at, _ := source.Expiry()
		return at
	}
}

// waitForStop returns at the first signal that ends the process; others make the server drain.
func (p process) waitForStop(srv server, logger log) {
	for s := range p.signals {
		if s != drainSignal {
			logger.Info("stopping", "signal", s)
			return
		}
		if !srv.Drain() {
			logger.Info("draining already", "signal", s)
		}
	}
}

// stop ends srv. A signal that comes meanwhile ends the process at once, and so does the limit; a drain's signal and a hangup
// do nothing any more.
func (p process) stop(srv server) int {
	limit := srv.StopLimit()
	stopped := make(chan error, 1)
	go func() { stopped <- srv.Stop(context.Background()) }()
	late := time.After(limit)
	for {
		select {
		case err := <-stopped:
			if err != nil {
				fmt.Fprintln(p.stderr, err)
				return exitFailed
			}
			return exitOK
		case s := <-p.signals:
			if s != drainSignal && s != hangup {
				return exitForced
			}
		case <-late:
			fmt.Fprintf(p.stderr, "namesrv: not stopped within %v\n", limit)
			return exitForced
		}
	}
}

var serializeNames = map[codec.SerializeType]string{codec.SerializeJSON: "JSON", codec.SerializeROCKETMQ: "ROCKETMQ"}

// readSerializeType reads the header form of answers: a system property, then an
// environment variable, else JSON.
func readSerializeType(env settings.Env, getenv func(string) string) (codec.SerializeType, error) {
	name, ok := env.Properties["rocketmq.serialize.type"]
	if !ok {
		name = getenv("ROCKETMQ_SERIALIZE_TYPE")
	}
	if strings.TrimSpace(name) == "" {
		return codec.SerializeJSON, nil
	}
	for t, known := range serializeNames {
		if name == known {
			return t, nil
		}
	}
	return 0, fmt.Errorf("namesrv: rocketmq.serialize.type (ROCKETMQ_SERIALIZE_TYPE) %q is neither JSON nor ROCKETMQ", name)
}

// readMaxFrameBytes reads the limit of a frame, its 4 length bytes included; 0 is the
// default of 16 MiB.
func readMaxFrameBytes(env settings.Env) (int, error) {
	const name, least, most = "com.rocketmq.remoting.frameMaxLength", 1 << 10, 1 << 30
	text, ok := env.Properties[name]
	if !ok {
		return 0, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < least || n > most {
		return 0, fmt.Errorf("namesrv: %s %q is no number from %d to %d", name, text, least, most)
	}
	return n, nil
}

// portOf returns the port of a listening address; the host of the boot line is
// bindAddress as it was written.
func portOf(addr string) string {
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		return addr
	}
	return port
}
