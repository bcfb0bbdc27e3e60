package archtest

import (
	"os"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

func TestModule(t *testing.T) {
	const root = "../.."
	mod, err := os.ReadFile(root + "/go.mod")
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(strings.Split(string(mod), "\n"), "module "+modulePath) {
		t.Fatalf("go.mod of another module than %s", modulePath)
	}
	broken, err := check(os.DirFS(root))
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range broken {
		t.Error(line)
	}
}

// TestRulesPointDownward follows the table: no package reaches itself.
func TestRulesPointDownward(t *testing.T) {
	below := func(pkg string) (list []string) {
		for other := range rules {
			if other != pkg && rules[pkg].allows(modulePath+"/"+other) {
				list = append(list, other)
			}
		}
		return list
	}
	for pkg := range rules {
		seen := map[string]bool{}
		for todo := below(pkg); len(todo) > 0; {
			next := todo[0]
			todo = todo[1:]
			if next == pkg {
				t.Errorf("%s may import itself by way of others", pkg)
				break
			}
			if !seen[next] {
				seen[next] = true
				todo = append(todo, below(next)...)
			}
		}
	}
}

func TestRulesNameKnownPackages(t *testing.T) {
	for pkg, r := range rules {
		if _, err := os.Stat("../../" + pkg); err != nil {
			t.Errorf("a rule for a package that isn't there: %v", err)
		}
		for _, name := range r.ours {
			matches := func(other string) bool {
				return other == name || path.Dir(other)+"/*" == name
			}
			known := false
			for other := range rules {
				known = known || matches(other)
			}
			if !known {
				t.Errorf("%s may import %s, which has no rule", pkg, name)
			}
		}
	}
	for _, pkg := range pure {
		if _, ok := rules[pkg]; !ok {
			t.Errorf("%s is pure but has no rule", pkg)
		}
	}
}

// TestCheck gives one file at a time and the line that it breaks, or none.
func TestCheck(t *testing.T) {
	ours := func(pkg, imported string) string {
		return "package " + pkg + "\n\nimport _ \"" + modulePath + "/" + imported + "\"\n"
	}
	other := func(pkg, imported string) string {
		return "package " + pkg + "\n\nimport _ \"" + imported + "\"\n"
	}
	tests := []struct {
		name, file, src string
		want            string // "": allowed
	}{
		{"standard library", "codec/a.go", other("codec", "encoding/binary"), ""},
		{"compress below its module", "codec/a.go", other("codec", compress+"/zlib"), ""},
		{"library not allowed", "codec/a.go", other("codec", xsync), "codec/a.go:3: codec must not import " + xsync},
		{"name that only begins alike", "codec/a.go", other("codec", compress+"x"), "codec/a.go:3: codec must not import " + compress + "x"},
		{"upward", "codec/a.go", ours("codec", "core"), "codec/a.go:3: codec must not import " + modulePath + "/core"},
		{"the module itself", "core/a.go", other("core", modulePath), "core/a.go:3: core must not import " + modulePath},
		{"downward", "core/a.go", ours("core", "codec"), ""},
		{"below by pattern", "core/a.go", ours("core", "core/cow"), ""},
		{"two below by pattern", "core/a.go", ours("core", "core/cow/x"), "core/a.go:3: core must not import " + modulePath + "/core/cow/x"},
		{"gnet outside netpoll", "namesrv/a.go", other("namesrv", gnet), "namesrv/a.go:3: namesrv must not import " + gnet},
		{"gnet in netpoll", "netpoll/a.go", other("netpoll", gnet+"/pkg/errors"), ""},
		{"gnet in a test", "namesrv/a_test.go", other("namesrv_test", gnet), ""},
		{"golden in code", "namesrv/a.go", ours("namesrv", "internal/golden"), "namesrv/a.go:3: namesrv must not import " + modulePath + "/internal/golden"},
		{"golden in a test", "core/a_test.go", ours("core_test", "internal/golden"), ""},
		{"any build tag", "codec/a.go", "//go:build plan9 && never\n\n" + ours("codec", "core"), "codec/a.go:5: codec must not import " + modulePath + "/core"},
		{"unlisted package", "codec/zip/a.go", "package zip\n", "codec/zip: package without a rule; add a line to rules in internal/archtest/rules_test.go"},
		{"the root", "a.go", "package waymark\n", ".: package without a rule; add a line to rules in internal/archtest/rules_test.go"},
		{"empty name", "codec/a.go", "package util\n", "codec/a.go:1: package util of folder codec: name it for what it holds"},
		{"empty name of a test", "codec/a_test.go", "package common_test\n", "codec/a_test.go:1: package common_test of folder codec: name it for what it holds"},
		{"test data", "codec/testdata/a.go", ours("util", "core"), ""},
		{"hidden folder", ".cache/a.go", ours("util", "core"), ""},
		{"time in core", "core/a.go", other("core", "time"), "core/a.go:3: core must not import time: it is pure"},
		{"time in a test of core", "core/a_test.go", other("core", "time"), ""},
		{"time in codec", "codec/a.go", other("codec", "time"), ""},
		{"below net", "core/a.go", other("core", "net/netip"), "core/a.go:3: core must not import net/netip: it is pure"},
		{"log/slog", "core/wheel/a.go", other("wheel", "log/slog"), "core/wheel/a.go:3: core/wheel must not import log/slog: it is pure"},
		{"sync", "core/cow/a.go", other("cow", "sync"), "core/cow/a.go:3: core/cow must not import sync: it is pure"},
		{"sync/atomic", "core/a.go", other("core", "sync/atomic"), ""},
		{"cgo", "core/a.go", other("core", "C"), "core/a.go:3: core must not import C: it is pure"},
		{"go statement", "core/a.go", "package core\n\nfunc f() { go f() }\n", "core/a.go:3: core has a go statement: it is pure"},
		{"channel type", "core/a.go", "package core\n\nvar c chan int\n", "core/a.go:3: core has a channel type: it is pure"},
		{"send", "core/a.go", "package core\n\nfunc f() { x.c <- 1 }\n", "core/a.go:3: core has a send: it is pure"},
		{"receive", "core/a.go", "package core\n\nfunc f() { <-x.c }\n", "core/a.go:3: core has a receive: it is pure"},
		{"select", "core/a.go", "package core\n\nfunc f() { select {} }\n", "core/a.go:3: core has a select statement: it is pure"},
		{"minus and not in core", "core/a.go", "package core\n\nvar a, b = -1, !true\n", ""},
		{"goroutine in a test of core", "core/a_test.go", "package core\n\nfunc f() { go f() }\n", ""},
		{"goroutine in netpoll", "netpoll/a.go", "package netpoll\n\nfunc f() { go f() }\n", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			broken, err := check(fstest.MapFS{tt.file: {Data: []byte(tt.src)}})
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(broken, "\n"); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestCheckSkipsOtherModules(t *testing.T) {
	broken, err := check(fstest.MapFS{
		"tools/go.mod":   {Data: []byte("module tools\n")},
		"tools/main.go":  {Data: []byte("package util\n")},
		"tools/x/sub.go": {Data: []byte("package x\n")},
	})
	if err != nil || len(broken) != 0 {
		t.Errorf("%v, %v", broken, err)
	}
}

func TestCheckReportsUnreadableSource(t *testing.T) {
	if _, err := check(fstest.MapFS{"codec/a.go": {Data: []byte("no Go")}}); err == nil {
		t.Error("a file that is no Go counts as in order")
	}
}
