package structure_test

import (
	"go/ast"
	"strings"
	"testing"
)

// asking are the packages whose interfaces say what somebody can do.
var asking = []string{"internal/job", "internal/learner", "internal/method", "internal/method/local"}

// What a binding, a learner or a retained state can do is asked of a value by assertion only for the entries
// of abilities.txt: everything else is a field, which nobody forgets in silence.
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

// Nobody asks a protocol or a learner of a job what it is but package job and the frame.
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

// interfaces names the interfaces of the asking packages.
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

// asserted names the types that a file asserts, by their folders; pointers are no interfaces.
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
