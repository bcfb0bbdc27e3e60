package main

import (
	"bytes"
	"context"
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/waymark-mq/waymark/bench/floor"
	"github.com/waymark-mq/waymark/profiles"
)

// TestMain lets the test program be nsload's own, which runs the floor as its subcommand.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "floor" {
		os.Exit(run(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

func nsload(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = run(t.Context(), args, &out, &errs)
	return code, out.String(), errs.String()
}

func TestWrongUsage(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"", "no -profile"},
		{"-smoke", "no -profile"},
		{"-colour", "-colour"},
		{"-profile steady", `no profile "steady"`},
		{"-profile absent.toml", "absent.toml"},
		{"-profile steady-read extra", `"extra"`},
		{"-profile steady-read -variant absent", `no variant matches "absent"`},
		{"-profile steady-read -variant (", "missing closing"},
		{"-profile steady-read -runs 0", "-runs"},
		{"-profile steady-read -depth x", "no number"},
		{"-profile steady-read -depth 0", "clients.depth: 0"},
		{"-profile steady-read -header xml", `clients.header: "xml"`},
		{"-profile steady-read -duration 5", "duration"},
		{"-profile steady-read -server other", "neither waymark"},
		{"-profile steady-read -server waymark,size=4", `"size" is no option`},
		{"-profile steady-read -server waymark,loops=x", "loops=x"},
		{"-profile steady-read -server waymark -server waymark,loops=2", "give it a name"},
		{"plot", "no file with results"},
		{"floor -size x", "size"},
	} {
		code, _, stderr := nsload(t, strings.Fields(c.args)...)
		if code != exitUsage || !strings.Contains(stderr, c.want) {
			t.Errorf("nsload %s: status %d, %q; want %q", c.args, code, stderr, c.want)
		}
	}
}

func TestHelpAndList(t *testing.T) {
	for _, args := range [][]string{{"-h"}, {"plot", "-h"}, {"floor", "-h"}} {
		if code, out, _ := nsload(t, args...); code != exitOK || !strings.HasPrefix(out, usage) {
			t.Errorf("nsload %v: status %d, %q", args, code, out)
		}
	}
	code, out, _ := nsload(t, "-list")
	if code != exitOK {
		t.Error(code)
	}
	for _, name := range profiles.Names() {
		if !strings.Contains(out, "\n"+name+" ") && !strings.HasPrefix(out, name+" ") {
			t.Errorf("-list lacks %s", name)
		}
	}
}

func TestTargets(t *testing.T) {
	for text, want := range map[string]target{
		"waymark":                               {kind: "waymark", name: "waymark"},
		"waymark,loops=2,name=two,bin=/tmp/old": {kind: "waymark", name: "two", bin: "/tmp/old", numbers: map[string]int{"loops": 2}},
		"apache-tuned,heap=64":                  {kind: "apache-tuned", name: "apache-tuned", numbers: map[string]int{"heap": 64}},
		"rust-tuned,bin=/opt/rust/namesrv":      {kind: "rust-tuned", name: "rust-tuned", bin: "/opt/rust/namesrv"},
		"127.0.0.1:9876,pid=4711,name=other":    {kind: "127.0.0.1:9876", name: "other", numbers: map[string]int{"pid": 4711}},
		"[::1]:9876":                            {kind: "[::1]:9876", name: "[::1]:9876"},
	} {
		got, err := parseTarget(text)
		if err != nil || got.kind != want.kind || got.name != want.name || got.bin != want.bin || fmt.Sprint(got.numbers) != fmt.Sprint(want.numbers) {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
}

// TestMeasurePlotReport puts a small load on the floor and looks at all that comes of it.
func TestMeasurePlotReport(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("load can be put on a server from Linux only")
	}
	dir := t.TempDir()
	results := filepath.Join(dir, "results.jsonl")
	code, out, stderr := nsload(t, "-profile", "steady-read", "-variant", "^16-json", "-smoke", "-runs", "2", "-connections", "3", "-rate", "500",
		"-server", "floor,size="+strconv.Itoa(floor.MinSize+200), "-json", results)
	if code != exitOK || strings.Count(stderr, "floor: ") != 2 {
		t.Fatalf("status %d, %s\n%s", code, stderr, out)
	}
	for _, want := range []string{"## steady-read\n", "### 16-json\n", "3 connections, 500 requests/s", "| floor, 1 loop |", "| p99, µs |", "2 rounds"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	for _, args := range [][]string{{"-y", "max"}, {"-x", "connections", "-y", "p99"}} {
		svg := filepath.Join(dir, "plot.svg")
		if code, _, stderr := nsload(t, append(append([]string{"plot", "-o", svg}, args...), results)...); code != exitOK {
			t.Fatalf("%v: status %d, %s", args, code, stderr)
		}
		text, err := os.ReadFile(svg)
		if err != nil || xml.Unmarshal(text, new(struct{ XMLName xml.Name })) != nil {
			t.Errorf("%v: %v, %.200s", args, err, text)
		}
	}
	if code, _, stderr := nsload(t, "plot", "-y", "colour", results); code != exitUsage {
		t.Errorf("status %d, %s", code, stderr)
	}
}

func TestServerThatFails(t *testing.T) {
	code, _, stderr := nsload(t, "-profile", "steady-read", "-variant", "^16-json", "-smoke", "-server", "127.0.0.1:1")
	if code != exitFailed || !strings.Contains(stderr, "127.0.0.1:1") {
		t.Errorf("status %d, %s", code, stderr)
	}
}
