package nsctl

import (
	"encoding/json"
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
