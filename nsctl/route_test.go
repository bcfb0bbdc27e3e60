package nsctl

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
)

// A topic and a broker are shown with why, and by the protocol alone where there is no HTTP side.
func TestRouteAndBroker(t *testing.T) {
	a := start(t)
	a.register("broker-a", "Orders")
	run(t, "route", "Orders", "-n", a.Addr(), "--admin", a.side).want(t, 0,
		"BROKER CLUSTER READ WRITE PERM ID ADDRESS SILENT CONNECTION\nbroker-a c1 4 4 RW 0 10.0.0.1:10911 <age> <peer>\n"+
			"broker-a: <time> #1 registered: broker registered cluster=c1 broker=broker-a id=0 address=10.0.0.1:10911 topics=2 changed=2 from=<peer>", "")
	run(t, "route", "None", "-n", a.Addr(), "--admin", a.side).want(t, 1, "", "nsctl: no route of None: no broker has registered this topic since the start of the server")
	run(t, "broker", "none", "-n", a.Addr(), "--admin", a.side).want(t, 1, "", "nsctl: no broker none: no broker of this name")
	got := run(t, "broker", "broker-a", "-n", a.Addr(), "--admin", a.side, "-o", "json")
	var j struct {
		Source string
		Found  struct{ Members []struct{ Address string } }
	}
	if err := json.Unmarshal([]byte(got.stdout), &j); err != nil || j.Source != "api" || len(j.Found.Members) != 1 {
		t.Errorf("%+v, %v", got, err)
	}
	// An HTTP side that nobody chose must be this nameserver's.
	const nobody = "127.0.0.1:1"
	got = run(t, "route", "Orders", "-n", a.Addr(), "--admin", nobody)
	got.stderr, _, _ = strings.Cut(got.stderr, ": ")
	got.want(t, 0, "BROKER CLUSTER READ WRITE PERM ID ADDRESS SILENT CONNECTION\nbroker-a c1 4 4 RW 0 10.0.0.1:10911 - -", "nsctl")
	if got := run(t, "route", "None", "-n", a.Addr(), "--admin", nobody); got.code != 1 || !strings.Contains(got.stderr, "no route of None") {
		t.Errorf("%+v", got)
	}
	if got := run(t, "broker", "broker-a", "-n", a.Addr(), "--admin", nobody, "-o", "json"); got.code != 0 || !strings.Contains(got.stdout, `"source":"remoting"`) {
		t.Errorf("%+v", got)
	}
}

// What probes and peers say of a broker is in tables, too.
func TestSuspicionIsShown(t *testing.T) {
	a := start(t)
	side := serveSide(t, func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/server") {
			_, _ = io.WriteString(w, `{"state":"serving","startedAt":"2026-01-02T03:04:05Z"}`)
			return
		}
		_, _ = io.WriteString(w, `{"name":"b","cluster":"c","topics":1,"why":{},"members":[
			{"id":0,"address":"h0:1","silentSeconds":7,"probe":{"suspect":true,"failures":3,"lastFailure":"no answer in 1s","accusers":["ns2 (suspect)"]}},
			{"id":1,"address":"h1:1","silentSeconds":8,"provisional":true,"probe":{"suspect":false,"failures":0,"notProbed":"of another network"}},
			{"id":2,"address":"h2:1","silentSeconds":9,"probe":{"suspect":false,"failures":0}}]}`)
	})
	got := run(t, "broker", "b", "-n", a.Addr(), "--admin", side)
	for _, want := range []string{
		"7s suspect", "8s provisional", "b 0: h0:1 hasn't answered 3 probes: no answer in 1s", "b 0: other nameservers speak against h0:1: ns2 (suspect)",
		"b 1: h1:1 isn't probed: of another network",
	} {
		if strings.Count(got.stdout, want) != 1 {
			t.Errorf("no %q in %+v", want, got)
		}
	}
	if strings.Contains(got.stdout, "9s suspect") || strings.Contains(got.stdout, "b 2: h2") {
		t.Errorf("%+v", got)
	}
}
