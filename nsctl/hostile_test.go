package nsctl

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
)

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

// An HTTP side that isn't a nameserver's says nothing of a topic or a broker: the protocol does, and a line says why.
func TestOthersAreNotBelieved(t *testing.T) {
	a := start(t)
	a.register("broker-a", "Orders")
	for _, body := range []string{`{}`, `{"state":"UP"}`, `<html>`} {
		side := serveSide(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, body) })
		for _, args := range [][]string{{"route", "Orders"}, {"broker", "broker-a"}, {"top", "--once"}} {
			got := run(t, append(args, "-n", a.Addr(), "--admin", side, "-o", "json")...)
			if told := strings.Contains(got.stderr, "not a Waymark admin API"); got.code != exitOK || !strings.Contains(got.stdout, `"source":"remoting"`) || told != (args[0] != "top") {
				t.Errorf("%s: %q: %+v", body, args, got)
			}
		}
		if got := run(t, "events", "-n", a.Addr(), "--admin", side); got.code != exitFailed || !strings.Contains(got.stderr, "not a Waymark admin API") {
			t.Errorf("%s: %+v", body, got)
		}
	}
	// It says who it is, but what it says of the topic is none of a nameserver's.
	side := serveSide(t, func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/server") {
			_, _ = io.WriteString(w, `{"state":"serving","startedAt":"2026-01-02T03:04:05Z"}`)
			return
		}
		w.WriteHeader(http.StatusNotFound)
	})
	if got := run(t, "route", "Orders", "-n", a.Addr(), "--admin", side); got.code != exitOK || !strings.Contains(got.stdout, "broker-a") {
		t.Errorf("%+v", got)
	}
}

// What servers say in errors is cut and escaped.
func TestErrorTextsAreBounded(t *testing.T) {
	long := "\x1b]0;evil\x07" + strings.Repeat("x", 1<<16)
	side := serveSide(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusInternalServerError)
		_, _ = io.WriteString(w, long)
	})
	for _, args := range [][]string{{"events", "-n", "127.0.0.1:1"}, {"drain", "-n", "127.0.0.1:1"}, {"route", long, "-n", "127.0.0.1:1"}, {"nonsense" + long}} {
		got := run(t, append(args, "--admin", side)...)
		if got.code != exitFailed || len(got.stderr) > 2*(maxLine+100) || strings.Contains(got.stderr, "\x1b") {
			t.Errorf("%.20q: exit %d, %d bytes: %.300s", args, got.code, len(got.stderr), got.stderr)
		}
	}
}
