package nsctl

import (
	"strings"
	"testing"
)

func TestTop(t *testing.T) {
	a, b := start(t), start(t)
	a.register("broker-a", "Orders")
	got := run(t, "top", "--once", "-n", a.Addr()+";"+b.Addr(), "--admin", a.side+";127.0.0.1:1")
	got.want(t, 0, "NAMESERVER STATE UP CLUSTERS BROKERS TOPICS CONNECTIONS REQUESTS/S FAILED/S\n<a> serving <age> 1 1 2 1 - -\n<b> answers - 0 0 0 - - -\n\n"+
		"BROKER CLUSTER ID ADDRESS SILENT CONNECTION TOPICS\nbroker-a c1 0 10.0.0.1:10911 <age> <peer> 2", "", a.Addr(), "<a>", b.Addr(), "<b>")
	if got := run(t, "top", "--count", "2", "--interval", "1ms", "-o", "json", "-n", b.Addr(), "--admin", b.side); got.code != 0 || strings.Count(got.stdout, "\n") != 2 ||
		strings.Count(got.stdout, `"requestsPerSecond":`) != 1 {
		t.Errorf("%+v", got)
	}
}

// Of a nameserver that can't be reached it is told why; what isn't there has no table.
func TestTopOfWhatIsNotThere(t *testing.T) {
	a := start(t)
	got := run(t, "top", "--once", "-n", a.Addr()+";127.0.0.1:1", "--admin", a.side+";127.0.0.1:1")
	if got.code != exitOK || strings.Contains(got.stdout, "BROKER ") || !strings.Contains(got.stdout, "unreachable") || strings.Count(got.stdout, "connection refused") != 1 {
		t.Errorf("%+v", got)
	}
}

// However often it is looked at, a nameserver's HTTP side, which takes 32 connections, isn't used up.
func TestTopKeepsNoConnections(t *testing.T) {
	a := start(t)
	got := run(t, "top", "--count", "40", "--interval", "1ms", "-o", "json", "-n", a.Addr(), "--admin", a.side, "--timeout", waitLimit.String())
	if n := strings.Count(got.stdout, `"source":"api"`); got.code != exitOK || n != 40 {
		t.Errorf("%d of 40 looks by the API: exit %d, %s", n, got.code, got.stderr)
	}
}

// Rates are of the time between two looks; a server that was started anew has none.
func TestRates(t *testing.T) {
	look := func(total float64, second int) []nameserverJSON {
		n := nameserverJSON{at: when(second)}
		n.requests.Total = total
		return []nameserverJSON{n}
	}
	now := look(300, 4)
	if rates(look(100, 2), now); now[0].Requests == nil || *now[0].Requests != 100 {
		t.Errorf("%v", now[0].Requests)
	}
	now = look(50, 4)
	if rates(look(100, 2), now); now[0].Requests != nil {
		t.Errorf("%v", *now[0].Requests)
	}
}
