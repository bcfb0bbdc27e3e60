package admin

import (
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
)

// openAddressServer starts one that says this is ready.
func openAddressServer(t *testing.T, ready func() []string) *Server {
	t.Helper()
	s, err := ListenAddresses(AddressOptions{Addr: "127.0.0.1:0", Ready: ready})
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- s.Serve() }()
	t.Cleanup(func() {
		s.Close()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return s
}

// TestAddressServer: clients get one line of addresses and nothing else, whatever query they append. With any other status there is a
// text, for Java clients, which take none for a null.
func TestAddressServer(t *testing.T) {
	var ready atomic.Pointer[[]string]
	set := func(addrs ...string) { ready.Store(&addrs) }
	s := openAddressServer(t, func() []string { return *ready.Load() })
	for _, c := range []struct {
		method, path string
		ready        string
		status       int
		body         string
	}{
		{"GET", "/rocketmq/nsaddr", "10.0.0.1:9876 10.0.0.2:9876", 200, "10.0.0.1:9876;10.0.0.2:9876"},
		{"GET", "/rocketmq/nsaddr-unit?nofix=1", "10.0.0.1:9876", 200, "10.0.0.1:9876"},
		{"HEAD", "/rocketmq/nsaddr", "10.0.0.1:9876", 200, ""},
		{"GET", "/rocketmq/nsaddr", "", 503, "no nameserver is ready\n"},
		{"HEAD", "/rocketmq/nsaddr", "", 503, ""},
		{"POST", "/rocketmq/nsaddr", "10.0.0.1:9876", 405, "GET or HEAD\n"},
		{"GET", "/rocketmq/nsaddress", "10.0.0.1:9876", 404, "404 page not found\n"},
		{"GET", "/rocketmq/nsaddr-a/b", "10.0.0.1:9876", 404, "404 page not found\n"},
		{"GET", "/metrics", "10.0.0.1:9876", 404, "404 page not found\n"},
	} {
		set(strings.Fields(c.ready)...)
		r, err := http.NewRequestWithContext(t.Context(), c.method, "http://"+s.Addr()+c.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(answer.Body)
		_ = answer.Body.Close()
		if err != nil || answer.StatusCode != c.status || string(body) != c.body {
			t.Errorf("%s %s: %d %q, %v", c.method, c.path, answer.StatusCode, body, err)
		}
	}
	if _, err := ListenAddresses(AddressOptions{Addr: s.Addr()}); err == nil || !strings.Contains(err.Error(), "addressServerListen") {
		t.Errorf("an address that is taken: %v", err)
	}
}

// TestAddressServerIsNotHeld: clients that keep their connection, and strangers that send nothing, keep nobody out: a connection ends with its
// answer, and one that comes when all places are taken gets that of the oldest.
func TestAddressServerIsNotHeld(t *testing.T) {
	s := openAddressServer(t, func() []string { return []string{"10.0.0.1:9876"} })
	ask := func(from net.Conn) string {
		t.Helper()
		if _, err := io.WriteString(from, "GET /rocketmq/nsaddr HTTP/1.1\r\nHost: addresses\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		answer, err := io.ReadAll(from)
		if err != nil {
			t.Fatal(err)
		}
		return string(answer)
	}
	var silent []net.Conn // but the last
	for range maxAddressConns + 1 {
		c, err := net.Dial("tcp", s.Addr())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		silent = append(silent, c)
	}
	if _, err := silent[0].Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("the oldest of too many: %v", err)
	}
	newest := silent[len(silent)-1]
	if answer := ask(newest); !strings.HasPrefix(answer, "HTTP/1.1 200") || !strings.Contains(answer, "Connection: close") {
		t.Errorf("beside those that send nothing: %q", answer)
	}
}
