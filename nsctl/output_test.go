package nsctl

import (
	"bufio"
	"bytes"
	"encoding/json"
	"net"
	"strings"
	"syscall"
	"testing"
)

func TestPrintable(t *testing.T) {
	for s, want := range map[string]string{
		"plain ü 漢字 🚀": "plain ü 漢字 🚀", "a\tb\nc": `a\tb\nc`, "\xff\x00": `\xff\x00`, "\u0085\u2028\ufeff": `\u0085\u2028\ufeff`, `back\slash`: `back\slash`, "\ufffd": "\ufffd",
	} {
		if got := printable(s); got != want {
			t.Errorf("%q: %q, want %q", s, got, want)
		}
	}
	var out bytes.Buffer
	w := bufio.NewWriter(&out)
	table := (&tool{out: w}).newTable("A")
	table.row(strings.Repeat("é", maxCell))
	table.end()
	_ = w.Flush()
	if got := out.String(); strings.Count(got, "é") != (maxCell-len("…"))/2 || !strings.Contains(got, "…") {
		t.Errorf("%q", got)
	}
}

// JSON means what was sent, and has nothing that a terminal obeys.
func TestJSONIsEscaped(t *testing.T) {
	var out bytes.Buffer
	w := &tool{out: bufio.NewWriter(&out)}
	text := "ü <&> \x1b[2J \u009b2J \u202e \U000e0001 \x7f \ufffd 🚀"
	raw, err := json.Marshal(text)
	if err != nil {
		t.Fatal(err)
	}
	for name, v := range map[string]any{"a text": text, "as sent": json.RawMessage(raw), "as sent, not escaped": json.RawMessage("\"ü <&> \\u001b[2J \u009b2J \u202e \U000e0001 \x7f \ufffd 🚀\"")} {
		out.Reset()
		var back string
		if err := w.writeJSON(v); err != nil || json.Unmarshal(out.Bytes(), &back) != nil || back != text {
			t.Errorf("%s: %v, %s means %q", name, err, out.Bytes(), back)
		}
		if line := strings.TrimSuffix(out.String(), "\n"); printable(line) != line || !strings.Contains(line, "ü") {
			t.Errorf("%s: %q", name, line)
		}
	}
	out.Reset()
	if err := w.writeJSON(json.RawMessage("\"a\xffb\"")); err != nil || out.String() != "\"a\ufffdb\"\n" {
		t.Errorf("%v, %q", err, out.String())
	}
}

// full is an output that takes so many bytes.
type full struct {
	left int
	err  error
}

func (f *full) Write(b []byte) (int, error) {
	n := min(len(b), f.left)
	if f.left -= n; n < len(b) {
		return n, f.err
	}
	return n, nil
}

// Output that can't be written is no success, whatever was to be told: on a full disk exit code 2 with a line, and where the reader has
// gone what a shell makes of SIGPIPE, without one.
func TestOutputErrors(t *testing.T) {
	a, b := start(t), start(t)
	b.register("broker-a", "Orders")
	at := []string{"-n", b.Addr(), "--admin", b.side}
	for _, args := range [][]string{
		{"diff", "--settle", "1ms", a.Addr(), a.Addr()}, {"diff", "--settle", "1ms", a.Addr(), b.Addr()}, append([]string{"route", "Orders"}, at...), append([]string{"broker", "broker-a"}, at...),
		append([]string{"top", "--once"}, at...), append([]string{"top"}, at...), append([]string{"events"}, at...), append([]string{"events", "-f"}, at...),
		{"check-config", "testdata/apache.properties"}, {"check-config", "testdata/wrong.properties"}, {"--version"}, {"help"}, {"route", "-h"}, {"completion", "bash"},
		{"__complete", "route", "-n", b.Addr(), ""},
	} {
		for _, form := range []string{"table", "json"} {
			args := append(args, "-o", form)
			if strings.Contains(args[0], "__") || args[0] == "--version" { // the last argument of __complete is what is completed
				args = args[:len(args)-2]
			}
			for _, left := range []int{0, 10} {
				for _, end := range []struct {
					err  error
					code int
					note string
				}{{syscall.ENOSPC, exitFailed, "nsctl: output: no space left on device\n"}, {&net.OpError{Op: "write", Err: syscall.EPIPE}, exitPipe, ""}} {
					var errs bytes.Buffer
					code := Run(t.Context(), Process{Args: args, Getenv: func(string) string { return "" }, Stdout: &full{left, end.err}, Stderr: &errs})
					note := errs.String()
					if args[0] == "__complete" { // cobra's own line
						_, note, _ = strings.Cut(note, "\n")
					}
					if code != end.code || note != end.note {
						t.Errorf("%q, %d bytes, %v: exit %d, %q", args, left, end.err, code, note)
					}
				}
			}
		}
	}
}
