package admin

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/pprof"
	"net/netip"
	"time"

	"github.com/waymark-mq/waymark/namesrv"
)

// aliveLimit is how long loops and writer have for a sign of life.
const aliveLimit = 3 * time.Second

// newHandler is the table of paths. It refuses what a web page elsewhere makes a browser on this machine send.
func newHandler(o *Options) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", newMetrics(o))
	mux.Handle("GET /livez", limitRequests(maxProbes, livez(o.Source)))
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) { readyz(w, o.Source.State()) })
	mux.Handle("GET /debug/pprof/", onLoopback(pprof.Index))
	mux.Handle("GET /debug/pprof/cmdline", onLoopback(pprof.Cmdline))
	mux.Handle("GET /debug/pprof/profile", onLoopback(pprof.Profile))
	mux.Handle("GET /debug/pprof/symbol", onLoopback(pprof.Symbol))
	mux.Handle("GET /debug/pprof/trace", onLoopback(pprof.Trace))
	if o.API != nil {
		mux.Handle("/api/v1/", o.API)
	}
	if o.Drain != nil {
		mux.Handle("POST /drain", onLoopback(func(w http.ResponseWriter, _ *http.Request) {
			o.Drain()
			text(w, http.StatusAccepted, "draining")
		}))
	}
	return http.NewCrossOriginProtection().Handler(mux)
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

func readyz(w http.ResponseWriter, state namesrv.State) {
	if state != namesrv.Serving {
		text(w, http.StatusServiceUnavailable, state.String())
		return
	}
	text(w, http.StatusOK, "ok")
}

func text(w http.ResponseWriter, status int, line string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, line+"\n")
}

// onLoopback serves peers on this machine and nobody else, whatever address is listened on.
func onLoopback(h http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !isLoopback(r.RemoteAddr) {
			text(w, http.StatusForbidden, "only from this machine")
			return
		}
		h(w, r)
	})
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
