package admin

import (
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
)

// TestAddressServer: clients get one line of addresses and nothing else, whatever query they append; nothing that could be taken for an address otherwise.
func TestAddressServer(t *testing.T) {
	var ready atomic.Pointer[[]string]
	set := func(addrs ...string) { ready.Store(&addrs) }
	s, err := ListenAddresses(AddressOptions{Addr: "127.0.0.1:0", Ready: func() []string { return *ready.Load() }})
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
	for _, c := range []struct {
		method, path string
		ready        string
		status       int
		body         string
	}{
		{"GET", "/rocketmq/nsaddr", "10.0.0.1:9876 10.0.0.2:9876", 200, "10.0.0.1:9876;10.0.0.2:9876"},
		{"GET", "/rocketmq/nsaddr-unit?nofix=1", "10.0.0.1:9876", 200, "10.0.0.1:9876"},
		{"HEAD", "/rocketmq/nsaddr", "10.0.0.1:9876", 200, ""},
		{"GET", "/rocketmq/nsaddr", "", 503, ""},
		{"POST", "/rocketmq/nsaddr", "10.0.0.1:9876", 405, ""},
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
