package admin

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/waymark-mq/waymark/namesrv"
)

// Source is what a Server shows of a nameserver. *namesrv.Server is one.
type Source interface {
	State() namesrv.State
	// Restored tells how far restored brokers have registered; false without any, and once that is over.
	Restored() (namesrv.Restored, bool)
	// Metrics collects; ctx bounds the wait for event loops, and those that miss it are counted as missing.
	Metrics(ctx context.Context) *namesrv.Metrics
	// Alive returns an error that names what makes no progress before ctx ends.
	Alive(ctx context.Context) error
}

// Options are what a Server is made of.
type Options struct {
	Addr   string // host:port; port 0 takes a free one
	Source Source
	Logger *slog.Logger         // nil: slog.Default()
	API    http.Handler         // mounted at /api/v1/; nil: not there
	Drain  func(by string) bool // of POST /drain, by whose address; whether it has begun one; nil: not there
	TLS    func() time.Time     // when the certificate expires; nil, or the zero time: there is none
}

// Bounds of what peers may cost.
const (
	maxConns       = 32
	maxHeaderBytes = 16 << 10
	headerTimeout  = 5 * time.Second
	readTimeout    = 10 * time.Second
	writeTimeout   = time.Minute // profiles take their own
	idleTimeout    = 2 * time.Minute
)

// Server is a bound address.
type Server struct {
	listener net.Listener
	http     *http.Server
}

// Listen binds o.Addr; Serve serves it. The error names the address.
func Listen(o Options) (*Server, error) {
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	ln, err := net.Listen("tcp", o.Addr)
	if err != nil {
		return nil, fmt.Errorf("admin: adminListen %q: %w", o.Addr, err)
	}
	return &Server{
		listener: limitConns(ln, maxConns),
		http: &http.Server{
			Handler:           newHandler(&o, ln.Addr()),
			MaxHeaderBytes:    maxHeaderBytes,
			ReadHeaderTimeout: headerTimeout, ReadTimeout: readTimeout, WriteTimeout: writeTimeout, IdleTimeout: idleTimeout,
			ErrorLog: slog.NewLogLogger(o.Logger.Handler(), slog.LevelDebug), // of peers' making
		},
	}, nil
}

// Addr is the bound address.
func (s *Server) Addr() string { return s.listener.Addr().String() }

// Serve answers until Close; its error is nil then.
func (s *Server) Serve() error {
	if err := s.http.Serve(s.listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("admin: %w", err)
	}
	return nil
}

// Close ends the server and its connections at once.
func (s *Server) Close() {
	_ = s.http.Close()
	_ = s.listener.Close() // if it was never served
}
