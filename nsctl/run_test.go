package nsctl

import (
	"encoding/json"
	"net"
	"path/filepath"
	"strings"
	"testing"
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
