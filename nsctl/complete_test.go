package nsctl

import (
	"fmt"
	"strings"
	"testing"
)

// Only names that every shell takes as they are are completed, whatever is registered, and so many at most.
func TestCompletionsAreSafe(t *testing.T) {
	a := start(t)
	good := []string{"%RETRY%group", "Orders", "a-b_c.d", "a1@x,y+z/w"}
	evil := []string{"$(touch x)", "`id`", "a b", "a;b", "a|b", "a&b", `a"b`, "a'b", `a\b`, "a\nb", "a\tb", "~root", "-rf", "--help", "a*", "a?", "a[b]", "{a,b}", "a<b", "a>b", "#a", "!1", "a:b", "a=b",
		"\x1b[2J", "\u202eab", "ü"}
	if safeName.MatchString(strings.Repeat("a", 256)) || !safeName.MatchString(strings.Repeat("a", 255)) || safeName.MatchString("") {
		t.Error("lengths")
	}
	a.register("broker-a", append(evil, good...)...)
	a.register("$(touch x)", "Orders")
	got := run(t, "__complete", "route", "-n", a.Addr(), "")
	if want := strings.Join(good, "\n") + "\npad\n:4\n"; got.stdout != want {
		t.Errorf("%q, want %q", got.stdout, want)
	}
	if got := run(t, "__complete", "broker", "-n", a.Addr(), ""); got.stdout != "broker-a\n:4\n" {
		t.Errorf("%q", got.stdout)
	}
	var many []string
	for i := range maxCompleted + 10 {
		many = append(many, fmt.Sprint("many", i))
	}
	a.register("broker-b", many...)
	if got := run(t, "__complete", "events", "-n", a.Addr(), "--topic", "many"); strings.Count(got.stdout, "many") != maxCompleted {
		t.Errorf("%d", strings.Count(got.stdout, "many"))
	}
	if got := run(t, "__complete", "route", "-n", "127.0.0.1:1", ""); got.stdout != ":4\n" {
		t.Errorf("%q", got.stdout)
	}
}
