package structure_test

import (
	"go/ast"
	"strings"
	"testing"
)

// asking lists the packages with optional interfaces.
var asking = []string{"internal/job", "internal/learner", "internal/method", "internal/method/local"}

// Only the entries of abilities.txt use a type assertion to find what a binding, a learner
// or a retained state can do: everything else is a field, which cannot be forgotten
// silently.
func TestAbilitiesAreFields(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	files := sources(t)
	declared := interfaces(files)
	found := make(map[string][]string)
	for _, f := range files {
		for _, asked := range f.asserted() {
			if declared[asked] {
				found[strings.TrimPrefix(asked, "internal/")] = append(found[strings.TrimPrefix(asked, "internal/")], f.path)
			}
		}
	}
	only(t, "abilities.txt", found)
	if len(found) > 10 {
		t.Errorf("%d abilities are asked by assertion", len(found))
	}
}

// Only package job and the frame use the kind of a job's protocol or learner.
func TestNobodyAsksAKind(t *testing.T) {
	for _, f := range sources(t) {
		if f.folder() == "internal/job" || f.folder() == "internal/method" {
			continue
		}
		for _, x := range f.assertions() {
			if s, is := x.X.(*ast.SelectorExpr); is && s.Sel.Name == "Kind" {
				t.Errorf("%s asserts on a Kind", f.set.Position(x.Pos()))
			}
		}
	}
}

func TestAsserted(t *testing.T) {
	f, err := parse("internal/method/x/a.go", `package x
import "github.com/mercer-fl/mercer/internal/learner"
func f(v any) {
	_, _ = v.(learner.OnKernel)
	switch v.(type) {
	case *learner.CCA, learner.OnSums:
	}
	_, _ = v.(own)
}`)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(f.asserted(), " "); got != "internal/learner.OnKernel internal/learner.OnSums internal/method/x.own" {
		t.Error(got)
	}
}

// interfaces returns the names of the interfaces of the asking packages.
func interfaces(files []file) map[string]bool {
	named := make(map[string]bool)
	for _, f := range files {
		for _, folder := range asking {
			if f.folder() != folder {
				continue
			}
			ast.Inspect(f.tree, func(n ast.Node) bool {
				if spec, is := n.(*ast.TypeSpec); is {
					if _, abstract := spec.Type.(*ast.InterfaceType); abstract {
						named[folder+"."+spec.Name.Name] = true
					}
				}
				return true
			})
		}
	}
	return named
}

func (f file) assertions() (list []*ast.TypeAssertExpr) {
	ast.Inspect(f.tree, func(n ast.Node) bool {
		if x, is := n.(*ast.TypeAssertExpr); is {
			list = append(list, x)
		}
		return true
	})
	return list
}

// asserted returns the types that a file asserts, by their folders; pointers are no
// interfaces.
func (f file) asserted() (list []string) {
	add := func(x ast.Expr) {
		switch x := x.(type) {
		case *ast.Ident:
			list = append(list, f.folder()+"."+x.Name)
		case *ast.SelectorExpr:
			if pkg, is := x.X.(*ast.Ident); is && f.imports()[pkg.Name] != "" {
				list = append(list, f.imports()[pkg.Name]+"."+x.Sel.Name)
			}
		}
	}
	ast.Inspect(f.tree, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.TypeAssertExpr:
			add(n.Type)
		case *ast.TypeSwitchStmt:
			for _, c := range n.Body.List {
				for _, x := range c.(*ast.CaseClause).List {
					add(x)
				}
			}
		}
		return true
	})
	return list
}
