package admin

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/waymark-mq/waymark/core"
	"github.com/waymark-mq/waymark/namesrv"
)

func TestReadyz(t *testing.T) {
	source := &fakeSource{}
	url := serve(t, Options{Source: source})
	for state := namesrv.Starting; state <= namesrv.Stopping; state++ {
		source.state = state
		wantStatus, want := http.StatusServiceUnavailable, state.String()+"\n"
		if state == namesrv.Serving {
			wantStatus, want = http.StatusOK, "ok\n"
		}
		if status, body := do(t, "GET", url+"/readyz"); status != wantStatus || body != want {
			t.Errorf("%v: %d %q", state, status, body)
		}
	}
	source.state = namesrv.Serving
	source.restored = namesrv.Restored{RestoreStatus: core.RestoreStatus{Brokers: 12, Clusters: 3, Confirmed: 7, ToCome: 5}, Left: 41 * time.Second}
	want := "ok\nrestored 12 brokers of 3 clusters, 7 confirmed, 5 to come, 41 s left\n"
	if status, body := do(t, "GET", url+"/readyz"); status != http.StatusOK || body != want {
		t.Errorf("while routes are provisional: %d %q", status, body)
	}
}

// A probe waits for a sign of life, but not for ever, and not with many others.
func TestLivez(t *testing.T) {
	source := &fakeSource{}
	url := serve(t, Options{Source: source})
	if status, body := do(t, "GET", url+"/livez"); status != http.StatusOK || body != "ok\n" {
		t.Errorf("%d %q", status, body)
	}
	source.alive = func(ctx context.Context) error {
		if due, ok := ctx.Deadline(); !ok || time.Until(due) > aliveLimit {
			t.Error("no deadline")
		}
		return errors.New("the writer sleeps")
	}
	if status, body := do(t, "GET", url+"/livez"); status != http.StatusServiceUnavailable || body != "the writer sleeps\n" {
		t.Errorf("%d %q", status, body)
	}
}

func TestRequestsAtATimeAreBounded(t *testing.T) {
	entered, leave := make(chan struct{}), make(chan struct{})
	h := limitRequests(2, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		entered <- struct{}{}
		<-leave
	}))
	ask := func() int {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest("GET", "/livez", nil))
		return w.Code
	}
	done := make(chan int, 2)
	for range 2 {
		go func() { done <- ask() }()
		<-entered
	}
	if status := ask(); status != http.StatusServiceUnavailable {
		t.Errorf("the third: %d", status)
	}
	close(leave)
	for range 2 {
		if status := <-done; status != http.StatusOK {
			t.Errorf("of the first two: %d", status)
		}
	}
}

// Only what is in the table of paths is answered, by the methods there; nothing of http.DefaultServeMux is.
func TestPaths(t *testing.T) {
	http.HandleFunc("/secret", func(http.ResponseWriter, *http.Request) { t.Error("DefaultServeMux is served") })
	drained := 0
	api := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { text(w, http.StatusOK, r.URL.Path) })
	full := serve(t, Options{Source: &fakeSource{state: namesrv.Serving}, API: api, Drain: func(string) bool { drained++; return true }})
	bare := serve(t, Options{Source: &fakeSource{state: namesrv.Serving}})
	for _, tt := range []struct {
		url, method, path string
		status            int
	}{
		{full, "GET", "/metrics", 200}, {full, "HEAD", "/metrics", 200}, {full, "POST", "/metrics", 405}, {full, "PUT", "/livez", 405},
		{full, "HEAD", "/readyz", 200}, {full, "DELETE", "/readyz", 405}, {full, "GET", "/", 404}, {full, "GET", "/secret", 404},
		{full, "GET", "/debug/pprof/", 200}, {full, "GET", "/debug/pprof/goroutine?debug=1", 200}, {full, "POST", "/debug/pprof/symbol", 405},
		{full, "GET", "/debug/pprof/cmdline", 200}, {full, "GET", "/api/v1/topics/x", 200}, {full, "POST", "/api/v1/topics", 200}, // it says no itself
		{full, "GET", "/drain", 405}, {full, "POST", "/drain", 202},
		{bare, "GET", "/api/v1/topics", 404}, {bare, "POST", "/drain", 404},
	} {
		if status, body := do(t, tt.method, tt.url+tt.path); status != tt.status {
			t.Errorf("%s %s: %d %q, want %d", tt.method, tt.path, status, body, tt.status)
		}
	}
	if drained != 1 {
		t.Errorf("drained %d times", drained)
	}
	// A page of another site, open in a browser on this machine.
	if status, _ := do(t, "POST", full+"/drain", "Sec-Fetch-Site", "cross-site", "Origin", "http://elsewhere.example"); status != http.StatusForbidden || drained != 1 {
		t.Errorf("from another site: %d, drained %d times", status, drained)
	}
}

// A drain tells whether it has begun, and whose it is.
func TestDrainTellsWhetherItBegins(t *testing.T) {
	for _, tt := range []struct {
		begins bool
		state  namesrv.State
		status int
		body   string
	}{
		{true, namesrv.Draining, http.StatusAccepted, `{"begun":true,"state":"draining"}`},
		{false, namesrv.Draining, http.StatusConflict, `{"begun":false,"state":"draining"}`},
		{false, namesrv.Stopping, http.StatusConflict, `{"begun":false,"state":"stopping"}`},
		{false, namesrv.Starting, http.StatusConflict, `{"begun":false,"state":"starting"}`},
	} {
		by := ""
		h := newHandler(&Options{Source: &fakeSource{state: tt.state}, Logger: quiet(), Drain: func(who string) bool { by = who; return tt.begins }}, everywhere)
		r := httptest.NewRequest("POST", "/drain", nil)
		r.Host, r.RemoteAddr = "localhost", "127.0.0.1:4711"
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != tt.status || w.Body.String() != tt.body+"\n" || w.Header().Get("Content-Type") != "application/json" || by != r.RemoteAddr {
			t.Errorf("%+v: %d %s by %q", tt, w.Code, w.Body, by)
		}
	}
}

var everywhere = &net.TCPAddr{IP: net.IPv6unspecified, Port: 9870}

// A web page can give its site's name our address, and is refused by that name: everything on a loopback address, elsewhere what is
// for this machine only.
func TestOtherNamesOfThisMachine(t *testing.T) {
	hosts := []struct {
		host string
		ours bool
	}{
		{"127.0.0.1:9870", true}, {"127.0.0.1", true}, {"[::1]:9870", true}, {"[::1]", true}, {"10.0.0.1:9870", true}, {"localhost:9870", true}, {"LocalHost", true},
		{"admin.example:9870", true}, {"Admin.Example", true}, {"", true},
		{"evil.example:9870", false}, {"evil.example", false}, {"127.0.0.1.evil.example", false}, {"localhost.evil.example:9870", false},
		{"evil.admin.example", false}, {"127.0.0.1:9870:9870", false}, {"127.1:9870", false},
	}
	for _, tt := range []struct {
		bound        net.Addr
		method, path string
		open         bool // whatever the host
	}{
		{&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 9870}, "GET", "/readyz", false},
		{&net.TCPAddr{IP: net.IPv6loopback, Port: 9870}, "GET", "/api/v1/topics", false},
		{&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 9870}, "POST", "/drain", false},
		{everywhere, "GET", "/readyz", true},
		{everywhere, "GET", "/api/v1/topics", true},
		{everywhere, "POST", "/drain", false},
		{everywhere, "GET", "/debug/pprof/cmdline", false},
	} {
		drained := false
		h := newHandler(&Options{Addr: "admin.example:9870", Source: &fakeSource{state: namesrv.Serving}, Logger: quiet(),
			API:   http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { text(w, http.StatusOK, "topics") }),
			Drain: func(string) bool { drained = true; return true }}, tt.bound)
		for _, host := range hosts {
			r := httptest.NewRequest(tt.method, tt.path, nil)
			r.Host, r.RemoteAddr = host.host, "127.0.0.1:1"
			r.Header.Set("Origin", "http://"+host.host) // a page of that very site
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			served := tt.open || host.ours
			if (w.Code/100 == 2) != served || !served && w.Code != http.StatusForbidden || drained != (served && tt.path == "/drain") {
				t.Errorf("%s on %v by %q: %d, drained %v", tt.path, tt.bound, host.host, w.Code, drained)
			}
			drained = false
		}
	}
}

// Profiles and drain are for this machine, whatever address is listened on.
func TestOnlyFromThisMachine(t *testing.T) {
	drained := false
	h := newHandler(&Options{Source: &fakeSource{state: namesrv.Serving}, Logger: quiet(), Drain: func(string) bool { drained = true; return true }}, everywhere)
	for _, path := range []string{"/debug/pprof/", "/debug/pprof/heap", "/debug/pprof/cmdline", "/debug/pprof/profile", "/debug/pprof/trace", "/debug/pprof/symbol", "/drain", "/readyz"} {
		method, ok := "GET", http.StatusOK
		if path == "/drain" {
			method, ok = "POST", http.StatusAccepted
		}
		for _, peer := range []struct {
			addr string
			ours bool
		}{
			{"127.0.0.1:1", true}, {"127.9.9.9:1", true}, {"[::1]:1", true}, {"[::ffff:127.0.0.1]:1", true},
			{"10.0.0.1:1", false}, {"[2001:db8::1]:1", false}, {"[::ffff:10.0.0.1]:1", false}, {"localhost:1", false}, {"", false}, {"@", false},
		} {
			if peer.ours && (path == "/debug/pprof/profile" || path == "/debug/pprof/trace") {
				continue // take their time
			}
			r := httptest.NewRequest(method, path, nil)
			r.Host, r.RemoteAddr = "localhost:9870", peer.addr
			r.Header.Set("X-Forwarded-For", "127.0.0.1")
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			want := http.StatusForbidden
			if peer.ours || path == "/readyz" {
				want = ok
			}
			if w.Code != want || drained != (path == "/drain" && peer.ours) {
				t.Errorf("%s from %q: %d, want %d; drained %v", path, peer.addr, w.Code, want, drained)
			}
			drained = false
		}
	}
}

func TestListenErrors(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for _, addr := range []string{taken.Addr().String(), "9870", "127.0.0.1:port"} {
		s, err := Listen(Options{Addr: addr, Source: &fakeSource{}})
		if err == nil {
			s.Close()
		}
		if err == nil || !strings.Contains(err.Error(), addr) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", addr, err)
		}
	}
}

// A server that was never served can be closed, and its address is free again.
func TestCloseWithoutServe(t *testing.T) {
	s, err := Listen(Options{Addr: "127.0.0.1:0", Source: &fakeSource{}})
	if err != nil {
		t.Fatal(err)
	}
	s.Close()
	again, err := net.Listen("tcp", s.Addr())
	if err != nil {
		t.Fatal(err)
	}
	_ = again.Close()
}

// Peers that only hold connections keep nobody out for ever, and take a bounded number of descriptors.
func TestConnectionsAreBounded(t *testing.T) {
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ln := limitConns(inner, 2)
	accepted := make(chan net.Conn, 8)
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				close(accepted)
				return
			}
			accepted <- c
		}
	}()
	for range 4 {
		c, err := net.Dial("tcp", inner.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
	}
	first, second := <-accepted, <-accepted
	select {
	case <-accepted:
		t.Error("a third connection was accepted")
	case <-time.After(20 * time.Millisecond):
	}
	_ = first.Close()
	_ = first.Close() // frees its place once
	third := <-accepted
	select {
	case <-accepted:
		t.Error("a place was freed twice")
	case <-time.After(20 * time.Millisecond):
	}
	_ = second.Close()
	_ = third.Close()
	_ = ln.Close()
	for c := range accepted {
		_ = c.Close()
	}
}
