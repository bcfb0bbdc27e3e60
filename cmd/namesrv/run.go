package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
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
	exitBroken  = 2   // a fault that the server can't go on with; ours, as Go's runtime has it
	exitForced  = 130 // a second signal while stopping, or a stop that takes too long; ours
	exitFailed  = 255 // the file, the settings or the start
)

// server is what run needs of a *namesrv.Server.
type server interface {
	admin.Source
	api.Source
	Start() error
	Addr() string
	Drain(by string) bool
	ReadyAddresses() []string
	StopLimit() time.Duration
	Stop(context.Context) error
}

// process is everything of the operating system that run touches.
type process struct {
	args           []string
	getenv         func(string) string
	stdout, stderr io.Writer
	signals        signals
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
	out := openOutput(logged, p.stdout, p.stderr)
	p.stdout, p.stderr = out.stdout, out.stderr
	exit := exitFailed
	if logger, err := openLog(env, logged, out); err != nil {
		fmt.Fprintln(p.stderr, err)
	} else {
		exit = p.configured(o, env, s, warnings, logger)
	}
	p.flush(out, exit)
	return exit
}

// configured does what the process is asked to with its settings.
func (p process) configured(o options, env settings.Env, s *settings.Settings, warnings []settings.Warning, logger log) int {
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
	broken := make(chan error, 1)
	o.Fatal = func(err error) {
		broken <- err
		select {} // the process ends
	}
	srv, err := p.newServer(o)
	if err != nil {
		fmt.Fprintln(p.stderr, err)
		return exitFailed
	}
	side, warning, err := p.openAdmin(s, admin.Options{
		Source: srv, Logger: logger.Logger, API: api.New(srv), Drain: srv.Drain, TLS: expiryOf(o.TLS),
	})
	closeAddresses := func() {}
	if err == nil {
		defer side.Close()
		closeAddresses, err = openAddresses(s, srv, logger)
	}
	if err == nil {
		defer closeAddresses()
		err = srv.Start()
	}
	if err != nil {
		fmt.Fprintln(p.stderr, err)
		return exitFailed
	}
	if warning != nil {
		logger.Warn("no metrics, health and API: the default address can't be listened on; adminListen chooses another", "error", warning)
	} else if addr := side.Addr(); addr != "" {
		logger.Info("metrics, health and API", "addr", addr)
	}
	fmt.Fprintf(p.stdout, "The Name Server boot success. serializeType=%s, address %s:%s\n",
		serializeNames[o.SerializeType], s.BindAddress, portOf(srv.Addr()))
	if err := p.waitForStop(srv, logger, broken); err != nil {
		return p.broken(err)
	}
	return p.stop(srv, broken)
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

// waitForStop returns at the first signal that ends the process, or with a fault that does; others make the server drain.
func (p process) waitForStop(srv server, logger log, broken <-chan error) error {
	for {
		select {
		case s := <-p.signals.stop:
			logger.Info("stopping", "signal", s)
			return nil
		case s := <-p.signals.hangup:
			logger.Info("stopping", "signal", s)
			return nil
		case s := <-p.signals.drain:
			if !srv.Drain(drainName) {
				logger.Info("draining already", "signal", s)
			}
		case err := <-broken:
			return err
		}
	}
}

// stop ends srv. A signal to stop that comes meanwhile ends the process at once, and so do the limit and a fault. A drain's
// signal and a hangup do nothing any more.
func (p process) stop(srv server, broken <-chan error) int {
	limit := srv.StopLimit()
	stopped := make(chan error, 1)
	go func() { stopped <- srv.Stop(context.Background()) }()
	select {
	case err := <-stopped:
		if err != nil {
			fmt.Fprintln(p.stderr, err)
			return exitFailed
		}
		return exitOK
	case <-p.signals.stop:
		return exitForced
	case <-time.After(limit):
		fmt.Fprintf(p.stderr, "namesrv: not stopped within %v\n", limit)
		return exitForced
	case err := <-broken:
		return p.broken(err)
	}
}

// broken says why the process ends without having stopped the server.
func (p process) broken(err error) int {
	fmt.Fprintf(p.stderr, "%v; the process ends\n", err)
	return exitBroken
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
