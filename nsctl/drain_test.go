package nsctl

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/waymark-mq/waymark/namesrv"
)

// A drain is of the nameserver that is named, and of no other that happens to have its HTTP side at the default place. Another one is no
// success, and none that nobody has confirmed.
func TestDrain(t *testing.T) {
	a := start(t)
	at := []string{"drain", "-n", a.Addr(), "--admin", a.side}
	if got := run(t, "drain", "-n", a.Addr()+";127.0.0.1:1", "--admin", a.side); got.code != exitFailed || a.State() != namesrv.Serving {
		t.Errorf("%+v, %v", got, a.State())
	}
	run(t, at...).want(t, exitOK, "draining: the nameserver at <itself>", "", a.Addr(), "<itself>")
	if a.State() != namesrv.Draining {
		t.Errorf("%v", a.State())
	}
	run(t, at...).want(t, exitNo, "", "nsctl: <side>: already draining", a.side, "<side>")
	got := run(t, append(at, "-o", "json")...)
	var j struct {
		Begun          *bool
		State, Address string
	}
	if err := json.Unmarshal([]byte(got.stdout), &j); err != nil || got.code != exitNo || j.Begun == nil || *j.Begun || j.State != "draining" || j.Address != a.Addr() {
		t.Errorf("%+v, %v", got, err)
	}
	if got := run(t, "top", "--once", "-n", a.Addr(), "--admin", a.side); !strings.Contains(got.stdout, "draining") {
		t.Errorf("%+v", got)
	}
}

func TestDrainOfWhatIsNone(t *testing.T) {
	const server = `{"state":"serving","address":"127.0.0.1:1","startedAt":"2026-01-02T03:04:05Z"}`
	for _, tt := range []struct {
		status       int
		server, body string
		code         int
		text         string
	}{
		{202, server, `{"begun":true,"state":"draining"}`, exitOK, ""},
		{202, `{"state":"serving"}`, `{"begun":true,"state":"draining"}`, exitFailed, "not a Waymark admin API"},
		{200, server, `{}`, exitFailed, "not a Waymark admin API"},
		{202, server, `<html>`, exitFailed, "not a Waymark admin API"},
		{409, server, `{"begun":false,"state":"stopping"}`, exitNo, "no drain has begun: the nameserver is stopping"},
		{403, server, "only from this machine", exitFailed, "refused: status 403: only from this machine"},
		{404, server, "", exitFailed, "no drain is served here"},
		{500, server, "x\x1b]0;y" + strings.Repeat("z", 10_000), exitFailed, `refused: status 500: x\x1b]0;yz`},
	} {
		side := serveSide(t, func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodGet {
				_, _ = io.WriteString(w, tt.server)
				return
			}
			w.WriteHeader(tt.status)
			_, _ = io.WriteString(w, tt.body)
		})
		got := run(t, "drain", "-n", "127.0.0.1:1", "--admin", side)
		if got.code != tt.code || !strings.Contains(got.stderr, tt.text) || len(got.stderr) > 1000 || strings.Contains(got.stderr, "\x1b") || (got.stdout == "") == (tt.code == exitOK) {
			t.Errorf("%d %.100q: %+v", tt.status, tt.body, got)
		}
	}
}
