package nsctl

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/waymark-mq/waymark/namesrv/tlsconfig"
)

// Two nameservers that say the same are the same; a topic and a KV value that differ are named.
func TestDiff(t *testing.T) {
	a, b := start(t), start(t)
	for _, f := range []*fixture{a, b} {
		f.register("broker-a", "Orders")
		f.putKV("Orders", "broker-a:4")
	}
	run(t, "diff", "--settle", "1ms", a.Addr(), b.Addr()).want(t, 0, "the same: 1 brokers, 2 topics, 2 routes", "")
	b.register("broker-b", "Late")
	a.putKV("Orders", "broker-a:8")
	got := run(t, "diff", "--settle", "1ms", a.Addr(), b.Addr())
	got.want(t, 1, strings.Join([]string{
		"KIND NAME WHAT <a> <b>",
		"broker broker-b known - yes",
		"cluster c1 broker broker-b - yes",
		"kv ORDER_TOPIC_CONFIG key Orders broker-a:8 broker-a:4",
		"route pad broker broker-b: address of id 0 - 10.0.0.1:10912",
		"route pad broker broker-b: cluster - c1",
		"route pad queues on broker-b - read 4, write 4, perm RW, flags 0",
		"topic Late known - yes",
	}, "\n"), "", a.Addr(), "<a>", b.Addr(), "<b>")
	var j diffJSON
	got = run(t, "diff", "--settle", "1ms", "-o", "json", a.Addr(), b.Addr())
	if err := json.Unmarshal([]byte(got.stdout), &j); err != nil || got.code != 1 || j.Same || len(j.Differences) == 0 {
		t.Errorf("%+v, %v", got, err)
	}
}

// What can't be told is exit code 2 and one line.
func TestErrorsAreOneLine(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	gone := l.Addr().String()
	_ = l.Close()
	a := start(t)
	for _, args := range [][]string{
		{"diff", a.Addr(), gone}, {"diff", a.Addr()}, {"diff", "--in-flight", "0", a.Addr(), a.Addr()}, {"diff", "a:b:c", a.Addr()},
		{"route", "T", "-n", gone}, {"route"}, {"broker", "b", "-n", gone}, {"top", "--once", "-n", gone}, {"events", "-n", gone}, {"drain", "-n", gone},
		{"check-config", filepath.Join(t.TempDir(), "none")}, {"nonsense"}, {"top", "--timeout", "0s"}, {"top", "-o", "xml"},
		{"route", "T", "-n", a.Addr(), "--tls-skip-verify"}, {"route", "T", "-n", a.Addr(), "--tls", "--tls-ca", "/none"},
	} {
		got := run(t, args...)
		if lines := strings.Split(strings.TrimSuffix(got.stderr, "\n"), "\n"); got.code != exitFailed || !strings.HasPrefix(lines[len(lines)-1], "nsctl: ") ||
			strings.Contains(got.stdout, "Usage") || len(lines) > 2 || len(lines) == 2 && !strings.Contains(lines[0], "by the remoting protocol alone") {
			t.Errorf("%q: %+v", args, got)
		}
	}
}

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

// Events are told from the last so many on, filtered.
func TestEvents(t *testing.T) {
	a := start(t)
	a.register("broker-a", "Orders")
	a.putKV("k", "v")
	got := run(t, "events", "-n", a.Addr(), "--admin", a.side)
	if lines := strings.Split(strings.TrimSpace(got.stdout), "\n"); got.code != 0 || len(lines) != 2 || !strings.Contains(lines[0], "#1 registered: ") ||
		!strings.Contains(lines[0], "broker=broker-a") || !strings.Contains(lines[1], "#2 kv_put: ") {
		t.Errorf("%+v", got)
	}
	if got := run(t, "events", "-n", a.Addr(), "--admin", a.side, "--last", "1", "-o", "json"); strings.Count(got.stdout, "\n") != 1 || !strings.Contains(got.stdout, `"kv_put"`) {
		t.Errorf("%+v", got)
	}
	if got := run(t, "events", "-n", a.Addr(), "--admin", a.side, "--kind", "registered"); strings.Count(got.stdout, "\n") != 1 {
		t.Errorf("%+v", got)
	}
	if got := run(t, "events", "-n", a.Addr(), "--admin", a.side, "--kind", "nope"); got.code != exitFailed || !strings.Contains(got.stderr, "unknown kind") {
		t.Errorf("%+v", got)
	}
}

func TestCheckConfig(t *testing.T) {
	file := filepath.Join(t.TempDir(), "namesrv.properties")
	check := func(text string) result {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return run(t, "check-config", file)
	}
	check("listenPort=9876\nserverWorkerThreads=8\nenableTopicList=false\n").want(t, 0,
		"LINE KEY VALUE WORKS PROBLEM\n1 listenPort 9876 at restart -\n2 serverWorkerThreads 8 never: Apache's alone -\n3 enableTopicList false at once -", "")
	check("listenprot=1\n").want(t, 1, "LINE KEY VALUE WORKS PROBLEM\n1 listenprot 1 - unknown key, kept without effect",
		"nsctl: <file>: a nameserver starts with it, but not all of it has an effect", file, "<file>")
	if got := check("listenPort=x\n"); got.code != 1 || !strings.Contains(got.stderr, "doesn't start") {
		t.Errorf("%+v", got)
	}
}

// Names from the network reach no terminal as they are, in tables and notes; completions leave them out; JSON has them as sent.
func TestTextOfTheNetworkIsEscaped(t *testing.T) {
	a, b := start(t), start(t)
	evil := "T\x1b[2J\u202eevil\tX"
	a.register("b\x1b]0;x\x07", evil, "Telling", "Other")
	for _, got := range []result{
		run(t, "diff", "--settle", "1ms", a.Addr(), b.Addr()), run(t, "route", evil, "-n", a.Addr(), "--admin", a.side), run(t, "route", evil, "-n", b.Addr(), "--admin", b.side),
		run(t, "top", "--once", "-n", a.Addr(), "--admin", a.side), run(t, "events", "-n", a.Addr(), "--admin", a.side), run(t, "broker", "b\x1b]0;x\x07", "-n", a.Addr(), "--admin", a.side),
	} {
		if strings.ContainsAny(got.stdout+got.stderr, "\x1b\x07\u202e") || !strings.Contains(got.stdout+got.stderr, `\x1b`) {
			t.Errorf("%+v", got)
		}
	}
	if got := run(t, "__complete", "route", "-n", a.Addr(), "T"); !strings.HasPrefix(got.stdout, "Telling\n:") {
		t.Errorf("%+v", got)
	}
	got := run(t, "route", evil, "-n", a.Addr(), "--admin", a.side, "-o", "json")
	var j struct{ Found struct{ Topic string } }
	if err := json.Unmarshal([]byte(got.stdout), &j); err != nil || j.Found.Topic != evil {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestPrintable(t *testing.T) {
	for s, want := range map[string]string{
		"plain ü 漢字 🚀": "plain ü 漢字 🚀", "a\tb\nc": `a\tb\nc`, "\xff\x00": `\xff\x00`, "\u0085\u2028\ufeff": `\u0085\u2028\ufeff`, `back\slash`: `back\slash`, "\ufffd": "\ufffd",
	} {
		if got := printable(s); got != want {
			t.Errorf("%q: %q, want %q", s, got, want)
		}
	}
	var out bytes.Buffer
	table := newTable(&out, "A")
	table.row(strings.Repeat("é", maxCell))
	table.flush()
	if got := out.String(); strings.Count(got, "é") != maxCell/2 || !strings.Contains(got, "…") {
		t.Errorf("%q", got)
	}
}

func TestAddresses(t *testing.T) {
	got, err := addresses("a:1;b,[::1]:2 [::1]", "9")
	if want := "a:1 b:9 [::1]:2 [::1]:9"; err != nil || strings.Join(got, " ") != want {
		t.Errorf("%q, %v; want %q", got, err, want)
	}
	for _, bad := range []string{"::1", ":1", "a:", "a:1:2"} {
		if got, err := addresses(bad, "9"); err == nil {
			t.Errorf("%q is taken as %q", bad, got)
		}
	}
}

// A drain is of the nameserver that is named, and of no other that happens to have its HTTP side at the default place.
func TestDrain(t *testing.T) {
	a := start(t)
	run(t, "drain", "-n", a.Addr(), "--admin", a.side).want(t, 0, "draining", "")
	select {
	case <-a.drained:
	default:
		t.Error("nothing was drained")
	}
	if got := run(t, "drain", "-n", a.Addr()+";127.0.0.1:1", "--admin", a.side); got.code != exitFailed || len(a.drained) > 0 {
		t.Errorf("%+v", got)
	}
}

// Through TLS the same is told; a certificate that nobody we trust has signed is refused unless it is to be taken.
func TestTLS(t *testing.T) {
	properties, err := tlsconfig.Read(map[string]string{"tls.config.file": filepath.Join(t.TempDir(), "none")}, func(string) string { return "test" })
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := tlsconfig.Open(properties, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	a := startWith(t, certificate)
	a.register("broker-a", "Orders")
	if got := run(t, "diff", "--settle", "1ms", a.Addr(), a.Addr(), "--tls", "--tls-skip-verify"); got.code != exitOK {
		t.Errorf("%+v", got)
	}
	if got := run(t, "diff", "--settle", "1ms", a.Addr(), a.Addr(), "--tls"); got.code != exitFailed || !strings.Contains(got.stderr, "certificate") {
		t.Errorf("%+v", got)
	}
}

// An HTTP side at the default place is taken only if it is the nameserver's own: another's would tell of, or drain, another.
func TestDefaultSideMustBeTheNameservers(t *testing.T) {
	a, b := start(t), start(t)
	tool := &tool{flags: flags{timeout: waitLimit}, sidePort: portOf(a.side)}
	if _, s, err := tool.httpSide(t.Context(), a.Addr(), 0, 1); err != nil || s.State != "serving" {
		t.Errorf("its own: %+v, %v", s, err)
	}
	if _, _, err := tool.httpSide(t.Context(), b.Addr(), 0, 1); err == nil || !strings.Contains(err.Error(), "not of "+b.Addr()) {
		t.Errorf("another's: %v", err)
	}
	tool.flags.admin = a.side
	if _, _, err := tool.httpSide(t.Context(), b.Addr(), 0, 1); err != nil {
		t.Errorf("one that was chosen: %v", err)
	}
}
