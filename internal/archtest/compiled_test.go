package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/waymark-mq/waymark/internal/raceflag"
)

// compiled are the packages that a query passes through.
var compiled = []string{"codec", "core", "core/cow", "netpoll"}

// inlined are functions whose call would cost more than what they do, by package. A change that makes one too large for the
// compiler's taste doesn't show otherwise.
var inlined = map[string]map[string]string{
	"codec": {
		"FrameLength":                  "each frame",
		"FinishFrameBefore":            "each answer",
		"setHeaderLength":              "each answer",
		"(*Command).IsOneway":          "each request",
		"(*Command).IsResponse":        "each request",
		"(*Command).addField":          "each ext field",
		"cutLength32":                  "each text of a binary header",
		"isDigit":                      "each byte of a number",
		"isBlank":                      "each token",
		"isNumberStart":                "each value",
		"(*headerScanner).peek":        "each token",
		"(*headerScanner).skip":        "each token",
		"(*headerScanner).skipBlanks":  "each token",
		"(*headerScanner).skipDigits":  "each number",
		"(*headerScanner).shortNumber": "each number",
		"(*headerScanner).endMember":   "each member",
		"(*headerScanner).skipString":  "each unknown member",
		"(*nesting).push":              "each unknown member",
		"(*nesting).pop":               "each unknown member",
	},
	"core": {
		"queue.group":          "each queue of an answer put together from fragments",
		"queue.setting":        "each queue of an answer put together from fragments",
		"(*settingTable).at":   "each queue of an answer put together from fragments",
		"(*Table).Load":        "each query",
		"(*routeTexts).slot":   "each answer",
		"(*routeTexts).find":   "each answer",
		"(*LiveCell).Touch":    "each heartbeat",
		"(*LiveCell).Refresh":  "each heartbeat",
		"(*LiveCell).Last":     "each sweep, by cell",
		"(*LiveCell).Owner":    "each sweep, by cell",
		"(*queueList).find":    "each topic of a registration",
		"(*queueLists).step":   "each topic of a registration",
		"(*topicIndex).enter":  "each topic that changes its list",
		"(*topicIndex).leave":  "each topic that changes its list",
		"(*settingIndex).hold": "each queue of a new list",
	},
	"core/cow": {
		"hashOf":      "each look-up",
		"shardOf":     "each look-up",
		"tagOf":       "each look-up",
		"firstGroup":  "each look-up",
		"matching":    "each group of slots looked at",
		"empty":       "each group of slots looked at",
		"marks.first": "each slot looked at",
		"marks.rest":  "each slot looked at",
	},
	"netpoll": {
		"(*loop).stamp":      "each read",
		"(*loop).highWater":  "each read",
		"(*loop).peekSize":   "each read",
		"(*loop).setHeld":    "each read",
		"(*loop).overloaded": "each query",
		"(*Conn).Overloaded": "each query",
		"(*Conn).inbound":    "each read",
		"(*Conn).old":        "each read",
		"(*LargeFrame).len":  "each read",
		"poison":             "each frame; nothing but in builds with internal checks",
	},
}

// onStack are the files of which nothing may move to the heap, but in the functions named; growing a slice of the caller's is
// no such move.
var onStack = map[string][]string{
	"codec/frame.go":             nil,
	"codec/command.go":           nil,
	"codec/shape.go":             nil,
	"codec/repeat.go":            nil,
	"codec/header_json.go":       nil,
	"codec/header_json_skip.go":  nil,
	"codec/header_json_token.go": nil,
	"codec/header_rocketmq.go":   nil,
	"core/route.go":              nil,
	"core/routetext.go":          {"newRouteText"}, // once for each list, by its first reader
	"core/liveness.go":           {"liveKey"},      // the writer's
}

// remark is a line of the compiler's.
type remark struct {
	file string // below the module
	line int
	text string
}

var remarkLine = regexp.MustCompile(`^(\S+\.go):(\d+):\d+: (.*)$`)

// compilerRemarks are what the compiler says of inlining and escapes; the go command keeps it with the result.
func compilerRemarks(t *testing.T) []remark {
	t.Helper()
	if raceflag.Enabled {
		t.Skip("says the same as without the race detector")
	}
	args := []string{"build", "-gcflags=-m=1"}
	for _, pkg := range compiled {
		args = append(args, "./"+pkg)
		if _, err := os.ReadDir("../../" + pkg); err != nil { // so that go test, which keeps results, sees a change
			t.Fatal(err)
		}
	}
	build := exec.CommandContext(t.Context(), "go", args...)
	build.Dir = "../.."
	out, err := build.CombinedOutput()
	if err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	var remarks []remark
	for line := range strings.Lines(string(out)) {
		if m := remarkLine.FindStringSubmatch(strings.TrimSpace(line)); m != nil {
			n, _ := strconv.Atoi(m[2])
			remarks = append(remarks, remark{filepath.ToSlash(m[1]), n, m[3]})
		}
	}
	return remarks
}

func TestSmallFunctionsAreInlined(t *testing.T) {
	can := map[string]bool{} // package and function
	for _, r := range compilerRemarks(t) {
		if name, ok := strings.CutPrefix(r.text, "can inline "); ok {
			can[filepath.ToSlash(filepath.Dir(r.file))+" "+name] = true
		}
	}
	for pkg, functions := range inlined {
		for name, when := range functions {
			if !can[pkg+" "+name] {
				t.Errorf("%s: %s can't be inlined, or is gone; it is called for %s", pkg, name, when)
			}
		}
	}
}

func TestHotPathStaysOnTheStack(t *testing.T) {
	functions := map[string][]*ast.FuncDecl{}
	fset := token.NewFileSet()
	for file := range onStack {
		tree, err := parser.ParseFile(fset, "../../"+file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range tree.Decls {
			if f, ok := d.(*ast.FuncDecl); ok {
				functions[file] = append(functions[file], f)
			}
		}
	}
	in := func(r remark) string {
		for _, f := range functions[r.file] {
			if fset.Position(f.Pos()).Line <= r.line && r.line <= fset.Position(f.End()).Line {
				return f.Name.Name
			}
		}
		return "no function"
	}
	found := map[string]bool{} // allowed functions
	for _, r := range compilerRemarks(t) {
		allowed, listed := onStack[r.file]
		moves := strings.HasPrefix(r.text, "moved to heap") || strings.HasSuffix(r.text, "escapes to heap")
		if !listed || !moves || r.text == "append escapes to heap" {
			continue
		}
		name := in(r)
		if slices.Contains(allowed, name) {
			found[r.file+" "+name] = true
		} else {
			t.Errorf("%s:%d, in %s: %s", r.file, r.line, name, r.text)
		}
	}
	for file, allowed := range onStack {
		for _, name := range allowed {
			if !found[file+" "+name] {
				t.Errorf("%s: nothing of %s moves to the heap: take it off the list", file, name)
			}
		}
	}
}
