//go:build e2e

package e2e

import (
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
)

// editedList is an address server whose answer is edited by hand.
type editedList struct {
	addr string

	mu    sync.Mutex
	text  string
	asked map[string]bool // what clients asked for
}

func newEditedList(t *testing.T) *editedList {
	t.Helper()
	l := &editedList{asked: map[string]bool{}}
	server := httptest.NewServer(l)
	t.Cleanup(server.Close)
	l.addr = server.Listener.Addr().String()
	return l
}

func (l *editedList) set(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text = text
}

func (l *editedList) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.asked[r.Method+" "+r.RequestURI] = true
	_, _ = io.WriteString(w, l.text)
}

// checkAsked: peers ask for what the address server of Waymark answers.
func (l *editedList) checkAsked(t *testing.T) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, want := range []string{"GET /rocketmq/nsaddr", "GET /rocketmq/nsaddr-blue?nofix=1", "GET /rocketmq/nsaddr-green"} {
		if !l.asked[want] {
			t.Errorf("nobody asked for %s, but for %v", want, l.asked)
		}
	}
	if len(l.asked) != 3 {
		t.Errorf("peers asked for %v", l.asked)
	}
}
