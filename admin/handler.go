package admin

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/pprof"
	"net/netip"
	"strings"
	"time"

	"github.com/waymark-mq/waymark/namesrv"
)

// aliveLimit is how long loops and writer have for a sign of life.
const aliveLimit = 3 * time.Second

// newHandler is the table of paths. It refuses what a web page elsewhere makes a browser on this machine send. bound is where it listens.
func newHandler(o *Options, bound net.Addr) http.Handler {
	onLoopback := func(h http.HandlerFunc) http.Handler { return fromLoopback(toOurHost(o.Addr, h)) }
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", newMetrics(o))
	mux.Handle("GET /livez", limitRequests(maxProbes, livez(o.Source)))
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) { readyz(w, o.Source) })
	mux.Handle("GET /debug/pprof/", onLoopback(pprof.Index))
	mux.Handle("GET /debug/pprof/cmdline", onLoopback(pprof.Cmdline))
	mux.Handle("GET /debug/pprof/profile", onLoopback(pprof.Profile))
	mux.Handle("GET /debug/pprof/symbol", onLoopback(pprof.Symbol))
	mux.Handle("GET /debug/pprof/trace", onLoopback(pprof.Trace))
	if o.API != nil {
		mux.Handle("/api/v1/", o.API)
	}
	if o.Drain != nil {
		mux.Handle("POST /drain", onLoopback(func(w http.ResponseWriter, r *http.Request) { drain(w, r, o) }))
	}
	h := http.NewCrossOriginProtection().Handler(mux)
	if isLoopback(bound.String()) {
		return toOurHost(o.Addr, h)
	}
	return h // the names that others have for this machine aren't known
}

// maxProbes bounds the liveness probes under way: one that waits leaves a task with each loop.
const maxProbes = 4

func livez(s Source) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), aliveLimit)
		defer cancel()
		if err := s.Alive(ctx); err != nil {
			text(w, http.StatusServiceUnavailable, err.Error())
			return
		}
		text(w, http.StatusOK, "ok")
	})
}

// readyz says whether the server is ready, and in a second line, while restored routes are in use, how far they are confirmed.
func readyz(w http.ResponseWriter, s Source) {
	status, lines := http.StatusOK, "ok"
	if state := s.State(); state != namesrv.Serving {
		status, lines = http.StatusServiceUnavailable, state.String()
	}
	if r, ok := s.Restored(); ok {
		lines += "\n" + r.String()
	}
	text(w, status, lines)
}

// drain answers 202 if a drain has begun, 409 if the server drains or stops already, or has yet to start.
func drain(w http.ResponseWriter, r *http.Request, o *Options) {
	status := http.StatusConflict
	begun := o.Drain(r.RemoteAddr)
	if begun {
		status = http.StatusAccepted
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(struct {
		Begun bool   `json:"begun"`
		State string `json:"state"`
	}{begun, o.Source.State().String()})
}

func text(w http.ResponseWriter, status int, line string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, line+"\n")
}

// fromLoopback serves peers on this machine and nobody else, whatever address is listened on.
func fromLoopback(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !isLoopback(r.RemoteAddr) {
			text(w, http.StatusForbidden, "only from this machine")
			return
		}
		h.ServeHTTP(w, r)
	})
}

// toOurHost refuses requests to another host: a name that its owner lets mean this machine makes a browser take us for the site of
// that name, whose pages may read our answers (DNS rebinding).
func toOurHost(listen string, h http.Handler) http.Handler {
	ours, _, _ := net.SplitHostPort(listen) // it was listened on
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !isOurHost(r.Host, ours) {
			text(w, http.StatusForbidden, "only by the host of adminListen, an address or localhost")
			return
		}
		h.ServeHTTP(w, r)
	})
}

// isOurHost takes addresses, which no site's owner can give another meaning, localhost, and ours. No host at all is none of a browser's.
func isOurHost(hostPort, ours string) bool {
	host := hostPort
	if name, _, err := net.SplitHostPort(hostPort); err == nil {
		host = name
	}
	host = strings.Trim(host, "[]")
	_, err := netip.ParseAddr(host)
	return err == nil || host == "" || strings.EqualFold(host, "localhost") || strings.EqualFold(host, ours)
}

func isLoopback(hostPort string) bool {
	host, _, err := net.SplitHostPort(hostPort)
	if err != nil {
		return false
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.Unmap().IsLoopback()
}

// limitRequests answers 503 to requests beyond most at a time.
func limitRequests(most int, h http.Handler) http.Handler {
	slots := make(chan struct{}, most)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case slots <- struct{}{}:
			defer func() { <-slots }()
			h.ServeHTTP(w, r)
		default:
			w.Header().Set("Retry-After", "1")
			text(w, http.StatusServiceUnavailable, "too many requests at a time")
		}
	})
}
