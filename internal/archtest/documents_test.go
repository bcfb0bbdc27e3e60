package archtest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// A document names tests as "package: TestA, TestB/sub", packages by the last part of their folder and parted by ";".
var (
	testsOf  = regexp.MustCompile(`\b([a-z][a-z0-9]*): ((?:Test|Fuzz)\w+(?:/[\w.-]*\w)?(?:, \w+(?:/[\w.-]*\w)?)*)`)
	testName = regexp.MustCompile(`\b((?:Test|Fuzz)\w+)(?:/([\w.-]*\w))?`)
	caseRow  = regexp.MustCompile(`(?m)^\| (\d+) \| (.*) \|$`)
)

// TestDocumentsNameTestsThatExist: what is said to be held by a test is held by one.
func TestDocumentsNameTestsThatExist(t *testing.T) {
	fsys := os.DirFS("../..")
	tests, err := testsOfModule(fsys)
	if err != nil {
		t.Fatal(err)
	}
	for document, atLeast := range map[string]int{"RELIABILITY.md": 100, "COMPATIBILITY.md": 80} {
		text, err := fs.ReadFile(fsys, document)
		if err != nil {
			t.Fatal(err)
		}
		named, missing := tests.named(string(text))
		if named < atLeast {
			t.Errorf("%s names %d tests, want at least %d: is it still written as this test reads it?", document, named, atLeast)
		}
		for _, what := range missing {
			t.Errorf("%s: %s doesn't exist", document, what)
		}
	}
}

// TestEveryReportHasATest: the reports from the field are all there, in order, each with a test or the reason for none.
func TestEveryReportHasATest(t *testing.T) {
	const reports = 43
	text, err := os.ReadFile("../../RELIABILITY.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := caseRow.FindAllStringSubmatch(string(text), -1)
	if len(rows) != reports {
		t.Errorf("%d rows, want %d", len(rows), reports)
	}
	for i, row := range rows {
		if row[1] != strconv.Itoa(i+1) {
			t.Fatalf("row %d has number %s", i+1, row[1])
		}
		cells := strings.Split(row[2], " | ")
		if last := cells[len(cells)-1]; len(cells) != 3 || !testsOf.MatchString(last) && !strings.Contains(last, "no test: ") {
			t.Errorf("row %s names no test and no reason for none: %s", row[1], row[2])
		}
	}
}

func TestNamedTests(t *testing.T) {
	tests := moduleTests{
		"core":    {functions: map[string]bool{"TestA": true, "TestScripts": true}, text: `{"short name", 1}`, files: map[string]bool{"zones": true}},
		"netpoll": {functions: map[string]bool{"TestB": true, "FuzzC": true}},
	}
	for text, want := range map[string][]string{
		"held (core: TestA)":                        nil,
		"core: TestA, TestScripts; netpoll: TestB":  nil,
		"core: TestA/short_name, TestScripts/zones": nil,
		"netpoll: FuzzC":                            nil,
		"core: TestB":                               {"core: TestB"},
		"core: TestA, TestB; netpoll: TestA":        {"core: TestB", "netpoll: TestA"},
		"core: TestScripts/none":                    {"core: TestScripts/none"},
		"nowhere: TestA":                            {"nowhere: TestA"},
	} {
		if _, missing := tests.named(text); fmt.Sprint(missing) != fmt.Sprint(want) {
			t.Errorf("%q: missing %v, want %v", text, missing, want)
		}
	}
}

// moduleTests are the tests of each package, by the last part of its folder.
type moduleTests map[string]*packageTests

type packageTests struct {
	functions map[string]bool
	text      string          // of all test files: names of subtests are in it
	files     map[string]bool // of test data, without their extension: other names of subtests
}

func testsOfModule(fsys fs.FS) (moduleTests, error) {
	all := moduleTests{}
	of := func(folder string) *packageTests {
		name := path.Base(folder)
		if all[name] == nil {
			all[name] = &packageTests{functions: map[string]bool{}, files: map[string]bool{}}
		}
		return all[name]
	}
	err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		folder, inTestdata, _ := strings.Cut(name, "/testdata/")
		switch {
		case d.IsDir() && path.Base(name) == "testdata":
			return nil
		case d.IsDir() && inTestdata == "":
			return skipDir(fsys, name)
		case inTestdata != "":
			of(folder).files[strings.TrimSuffix(path.Base(name), path.Ext(name))] = true
		case strings.HasSuffix(name, "_test.go"):
			return of(path.Dir(name)).read(fsys, name)
		}
		return nil
	})
	return all, err
}

func (p *packageTests) read(fsys fs.FS, name string) error {
	src, err := fs.ReadFile(fsys, name)
	if err != nil {
		return err
	}
	file, err := parser.ParseFile(token.NewFileSet(), name, src, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	p.text += string(src)
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil {
			p.functions[f.Name.Name] = true
		}
	}
	return nil
}

// named counts the tests that a text names and lists those that don't exist.
func (m moduleTests) named(text string) (n int, missing []string) {
	for _, list := range testsOf.FindAllStringSubmatch(text, -1) {
		for _, test := range testName.FindAllStringSubmatch(list[2], -1) {
			n++
			p := m[list[1]]
			if p == nil || !p.functions[test[1]] || !p.hasSubtest(test[2]) {
				missing = append(missing, list[1]+": "+test[0])
			}
		}
	}
	return n, missing
}

func (p *packageTests) hasSubtest(name string) bool {
	return name == "" || p.files[name] || strings.Contains(p.text, name) || strings.Contains(p.text, strings.ReplaceAll(name, "_", " "))
}
