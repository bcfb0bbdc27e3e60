package nsctl

import (
	"strings"
	"testing"
)

// A list is read as Apache's tools write it, and an IPv6 address in every usual spelling.
func TestAddresses(t *testing.T) {
	for list, want := range map[string]string{
		"a:1;b,[::1]:2 [::1]": "a:1 b:9 [::1]:2 [::1]:9",
		"::1":                 "[::1]:9",
		"::":                  "[::]:9",
		"::1;10.0.0.1;a":      "[::1]:9 10.0.0.1:9 a:9",
		"2001:db8::1":         "[2001:db8::1]:9",
		"[2001:db8::1]:9876":  "[2001:db8::1]:9876",
		"::ffff:10.0.0.1":     "[::ffff:10.0.0.1]:9",
		"fe80::1%eth0":        "[fe80::1%eth0]:9",
		"[fe80::1%eth0]":      "[fe80::1%eth0]:9",
		"[fe80::1%eth0]:1":    "[fe80::1%eth0]:1",
		"ns-1.example.:65535": "ns-1.example.:65535",
		" ; ,":                "",
	} {
		if got, err := addresses(list, "9"); err != nil || strings.Join(got, " ") != want {
			t.Errorf("%q: %q, %v; want %q", list, got, err, want)
		}
	}
	for _, bad := range []string{
		":1", "a:", "a:1:2", "a:x", "a:0", "a:65536", "a:-1", "[::1", "::1]", "[::1]1", "[::1]:", "[a]:1", "[a]", "[]", "[]:1", "[1.2.3.4]", ":::1",
		"http://a:1", "http://a", "a/b", "user@a:1", "a\x1b:1", "a%b",
	} {
		if got, err := addresses(bad, "9"); err == nil {
			t.Errorf("%q is taken as %q", bad, got)
		}
	}
}

// All options and arguments that name nameservers or their HTTP sides take the same spellings.
func TestAddressesOfOptions(t *testing.T) {
	const none = "[::1]:1" // nobody listens there
	for _, args := range [][]string{
		{"events", "-n", "::1", "--admin", none}, {"events", "-n", "[::1]", "--admin", none}, {"events", "--admin", none},
		{"diff", "--timeout", "1s", none, "[::1]:2"}, {"top", "--once", "-n", none}, {"drain", "-n", "::1", "--admin", none},
	} {
		if got := run(t, args...); got.code != exitFailed || !strings.Contains(got.stderr, "[::1]:") || strings.Contains(got.stderr, "is none of") {
			t.Errorf("%q: %+v", args, got)
		}
	}
	for _, args := range [][]string{{"events", "-n", "a:b:c"}, {"events", "--admin", "a:b:c"}, {"diff", "a:b:c", "a"}, {"top", "-n", "a:b:c"}} {
		if got := run(t, args...); got.code != exitFailed || !strings.Contains(got.stderr, `address "a:b:c" is none of host`) {
			t.Errorf("%q: %+v", args, got)
		}
	}
}
