package archtest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

// check reads the module in fsys and returns what breaks the rules, one line each.
func check(fsys fs.FS) ([]string, error) {
	var broken []string
	unlisted := map[string]bool{}
	err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			return skipDir(fsys, name)
		}
		if path.Ext(name) != ".go" {
			return nil
		}
		src, err := fs.ReadFile(fsys, name)
		if err != nil {
			return err
		}
		pkg := path.Dir(name)
		if _, listed := rules[pkg]; !listed {
			if !unlisted[pkg] {
				unlisted[pkg] = true
				broken = append(broken, fmt.Sprintf("%s: package without a rule; add a line to rules in internal/archtest/rules_test.go", pkg))
			}
			return nil
		}
		lines, err := checkFile(pkg, name, src)
		broken = append(broken, lines...)
		return err
	})
	return broken, err
}

// skipDir skips what the go command skips: hidden folders, test data, other modules.
func skipDir(fsys fs.FS, name string) error {
	if name == "." {
		return nil
	}
	base := path.Base(name)
	if base[0] == '.' || base[0] == '_' || base == "testdata" || base == "vendor" {
		return fs.SkipDir
	}
	if _, err := fs.Stat(fsys, path.Join(name, "go.mod")); err == nil {
		return fs.SkipDir
	}
	return nil
}

func checkFile(pkg, name string, src []byte) ([]string, error) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, name, src, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	var broken []string
	report := func(pos token.Pos, format string, args ...any) {
		at := fset.Position(pos)
		broken = append(broken, fmt.Sprintf("%s:%d: %s", at.Filename, at.Line, fmt.Sprintf(format, args...)))
	}
	called := strings.TrimSuffix(file.Name.Name, "_test")
	if slices.Contains(emptyNames, called) || slices.Contains(emptyNames, path.Base(pkg)) {
		report(file.Name.Pos(), "package %s of folder %s: name it for what it holds", file.Name.Name, pkg)
	}
	if strings.HasSuffix(name, "_test.go") {
		return broken, nil
	}
	isPure := slices.Contains(pure, pkg)
	for _, spec := range file.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return nil, err
		}
		switch {
		case !rules[pkg].allows(imported):
			report(spec.Pos(), "%s must not import %s", pkg, imported)
		case isPure && isImpure(imported):
			report(spec.Pos(), "%s must not import %s: it is pure", pkg, imported)
		}
	}
	if isPure {
		ast.Inspect(file, func(n ast.Node) bool {
			if what := concurrency(n); what != "" {
				report(n.Pos(), "%s has a %s: it is pure", pkg, what)
			}
			return true
		})
	}
	return broken, nil
}

func (r rule) allows(imported string) bool {
	if imported == modulePath {
		return false
	}
	if ours, ok := strings.CutPrefix(imported, modulePath+"/"); ok {
		return slices.Contains(r.ours, ours) || slices.Contains(r.ours, path.Dir(ours)+"/*")
	}
	if first, _, _ := strings.Cut(imported, "/"); !strings.Contains(first, ".") {
		return true // the standard library's paths have no host
	}
	return slices.ContainsFunc(r.libraries, func(library string) bool { return within(imported, library) })
}

func isImpure(imported string) bool {
	return !slices.Contains(openBelow, imported) &&
		slices.ContainsFunc(impureImports, func(closed string) bool { return within(imported, closed) })
}

// within reports whether the import path is parent or below it.
func within(imported, parent string) bool {
	return imported == parent || strings.HasPrefix(imported, parent+"/")
}

// concurrency names what n would do with goroutines or channels, if anything.
func concurrency(n ast.Node) string {
	switch n := n.(type) {
	case *ast.GoStmt:
		return "go statement"
	case *ast.ChanType:
		return "channel type"
	case *ast.SendStmt:
		return "send"
	case *ast.SelectStmt:
		return "select statement"
	case *ast.UnaryExpr:
		if n.Op == token.ARROW {
			return "receive"
		}
	}
	return ""
}
