package api

import (
	"context"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/waymark-mq/waymark/namesrv"
	"github.com/waymark-mq/waymark/namesrv/digest"
	"github.com/waymark-mq/waymark/namesrv/peers"
)

// fellow is a source that knows one other nameserver, of a name that needs escaping.
type fellow struct{ Source }

func (fellow) Peers() namesrv.PeerList {
	return namesrv.PeerList{On: true, Name: "me", Digest: peers.Digest{Routes: 1}, Members: []peers.Member{
		{Name: "a/b", Self: peers.Self{State: peers.Draining}, Alive: true, Comparable: true, Differs: 90 * time.Second, Heard: time.Second},
		{Name: "gone", Left: true, Heard: -1},
	}}
}

func (fellow) PeerDiff(_ context.Context, name string) (namesrv.PeerDiff, error) {
	if name != "a/b" {
		return namesrv.PeerDiff{}, namesrv.ErrNoPeer
	}
	return namesrv.PeerDiff{
		Brokers: digest.Difference{Other: []string{"x"}, More: 3},
		Topics:  []namesrv.PartDiff{{Name: "x", Difference: digest.Difference{OnlyHere: []string{"T"}}}},
	}, nil
}

// TestPeers: what is known of other nameservers, and where one differs.
func TestPeers(t *testing.T) {
	h := New(fellow{})
	for _, c := range []struct {
		path   string
		status int
		has    []string
	}{
		{"peers", 200, []string{`"state":"draining"`, `"divergedSeconds":90`, `"routesAgree":false`, `"state":"left"`, `"routesDigest":"0000000000000001"`}},
		{"peers/a%2Fb/diff", 200, []string{`"equal":false`, `"differ":["x"],"more":3`, `"onlyHere":["T"]`}},
		{"peers/nobody/diff", 404, []string{`"not_found"`}},
		{"peers/a%2Fb", 404, nil},
		{"peers/a%2Fb/more", 404, nil},
		{"peers/a/b/diff", 404, nil},
		{"kv/a/diff", 404, nil},
	} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET", Prefix+c.path, nil))
		if w.Code != c.status {
			t.Errorf("%s: %d %s", c.path, w.Code, w.Body)
		}
		for _, text := range c.has {
			if !strings.Contains(w.Body.String(), text) {
				t.Errorf("%s lacks %s: %s", c.path, text, w.Body)
			}
		}
	}
}
