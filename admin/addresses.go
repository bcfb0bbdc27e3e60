package admin

import (
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"
)

// The address server tells clients which nameservers to use: those that are started with the system property rocketmq.namesrv.domain ask it at the
// start and every other minute, Java's at /rocketmq/nsaddr, or with a unit's name at /rocketmq/nsaddr-UNIT?nofix=1.
//
// The answer is one line, ip:port;ip:port, sorted. Clients keep what they have when they are answered anything but 200, so 503 is what they get
// while no nameserver is ready. Refusals have a text: without one Java clients fail with a NullPointerException instead of telling the status.

// Bounds of the address server: clients ask seldom, and in one packet.
const (
	maxAddressConns   = 256
	addressTimeout    = 5 * time.Second
	maxAddressHeaders = 8 << 10
)

// AddressOptions are what an address server is made of.
type AddressOptions struct {
	Addr   string          // host:port; port 0 takes a free one
	Ready  func() []string // nameservers that are ready, ip:port each; any goroutine
	Logger *slog.Logger    // nil: slog.Default()
}

// ListenAddresses binds the address server; Serve serves it. The error names the address.
func ListenAddresses(o AddressOptions) (*Server, error) {
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	ln, err := net.Listen("tcp", o.Addr)
	if err != nil {
		return nil, fmt.Errorf("admin: addressServerListen %q: %w", o.Addr, err)
	}
	server := &http.Server{
		Handler:           addressHandler(o.Ready),
		MaxHeaderBytes:    maxAddressHeaders,
		ReadHeaderTimeout: addressTimeout, ReadTimeout: addressTimeout, WriteTimeout: addressTimeout,
		ErrorLog: slog.NewLogLogger(o.Logger.Handler(), slog.LevelDebug), // of clients' making
	}
	// A client comes back in two minutes: until then its connection would only take a place.
	server.SetKeepAlivesEnabled(false)
	return &Server{
		listener: keepNewest(ln, maxAddressConns),
		http:     server,
	}, nil
}

func addressHandler(ready func() []string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		unit, ours := strings.CutPrefix(r.URL.Path, "/rocketmq/nsaddr")
		if !ours || (unit != "" && (unit[0] != '-' || strings.ContainsRune(unit, '/'))) {
			http.NotFound(w, r)
			return
		}
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "GET or HEAD", http.StatusMethodNotAllowed)
			return
		}
		w.Header().Set("Cache-Control", "no-store")
		addrs := ready()
		if len(addrs) == 0 {
			http.Error(w, "no nameserver is ready", http.StatusServiceUnavailable)
			return
		}
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = io.WriteString(w, strings.Join(addrs, ";"))
	})
}
