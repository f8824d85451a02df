package structure_test

import (
	"go/ast"
	"testing"
)

// mostBare bounds the share of exported functions, methods and types without a comment.
const mostBare = 0.08

// bare counts the exported functions, types and methods of exported types in a file, as go doc shows
// them, and returns the names that have no comment.
func bare(tree *ast.File) (all int, names []string) {
	note := func(name string, docs ...*ast.CommentGroup) {
		if !ast.IsExported(name) {
			return
		}
		all++
		for _, d := range docs {
			if d != nil {
				return
			}
		}
		names = append(names, name)
	}
	for _, d := range tree.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil || ast.IsExported(receiver(d)) {
				note(d.Name.Name, d.Doc)
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				if s, is := s.(*ast.TypeSpec); is {
					note(s.Name.Name, s.Doc, d.Doc, s.Comment)
				}
			}
		}
	}
	return all, names
}

// receiver returns the name of the type that has a method.
func receiver(d *ast.FuncDecl) (name string) {
	ast.Inspect(d.Recv.List[0].Type, func(n ast.Node) bool {
		if id, is := n.(*ast.Ident); is && name == "" {
			name = id.Name
		}
		return name == ""
	})
	return name
}

// Nearly everything exported has a comment.
func TestExportedAreDocumented(t *testing.T) {
	all, without := 0, 0
	for _, f := range sources(t) {
		if ast.IsGenerated(f.tree) {
			continue
		}
		n, names := bare(f.tree)
		all, without = all+n, without+len(names)
		for _, name := range names {
			t.Logf("%s: %s", f.path, name)
		}
	}
	if share := float64(without) / float64(all); share > mostBare || all < 1000 {
		t.Errorf("%d of %d exported functions, methods and types have no comment: %.1f %%", without, all, 100*share)
	} else {
		t.Logf("%d of %d: %.1f %%", without, all, 100*share)
	}
}
