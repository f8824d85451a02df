package structure_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/doc"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// pkg is a package as go list describes it.
type pkg struct {
	ImportPath, Dir, Name, Export      string
	GoFiles, TestGoFiles, XTestGoFiles []string
}

// public reports whether other programs can import the package.
func (p pkg) public() bool {
	path := strings.TrimPrefix(p.ImportPath+"/", module)
	return strings.HasPrefix(p.ImportPath+"/", module) && p.Name != "main" && len(p.GoFiles) > 0 && !strings.Contains("/"+path, "/internal/")
}

var listed = sync.OnceValues(func() (list []pkg, err error) {
	cmd := exec.Command("go", "list", "-deps", "-export", "-json=ImportPath,Dir,Name,Export,GoFiles,TestGoFiles,XTestGoFiles", "./...")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%v: %w", cmd, err)
	}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p pkg
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return list, nil
		} else if err != nil {
			return nil, err
		}
		list = append(list, p)
	}
})

// publicPackages returns the packages that other programs can import.
func publicPackages(t *testing.T) []pkg {
	t.Helper()
	list, err := listed()
	if err != nil {
		t.Fatal(err)
	}
	list = slices.DeleteFunc(slices.Clone(list), func(p pkg) bool { return !p.public() })
	if len(list) < 35 {
		t.Fatalf("%d public packages", len(list))
	}
	return list
}

func TestPublicPackages(t *testing.T) {
	for path, want := range map[string]bool{
		"": true, "kernel": true, "protocol/secagg": true, "dataset/internal/parquet": false, "internal/job": false, "internal": false,
	} {
		p := pkg{ImportPath: strings.TrimSuffix(module+path, "/"), Name: "any", GoFiles: []string{"any.go"}}
		if p.public() != want {
			t.Errorf("%q: %v", p.ImportPath, !want)
		}
		if p.Name = "main"; p.public() {
			t.Errorf("the command %q", p.ImportPath)
		}
		if p.Name, p.GoFiles = "any", nil; p.public() {
			t.Errorf("a folder of tests in %q", p.ImportPath)
		}
	}
	if (pkg{ImportPath: "crypto/rand", Name: "rand", GoFiles: []string{"rand.go"}}).public() {
		t.Error("a package of others")
	}
}

// shown reports whether the tests of a package hold an example whose output is compared.
func shown(tests []*ast.File) bool {
	return slices.ContainsFunc(doc.Examples(tests...), func(e *doc.Example) bool { return e.Output != "" })
}

// Every public package has an example that compiles and whose output is compared.
func TestPublicPackagesHaveExamples(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	for _, p := range publicPackages(t) {
		var tests []*ast.File
		for _, name := range slices.Concat(p.TestGoFiles, p.XTestGoFiles) {
			at := filepath.Join(p.Dir, name)
			f, err := parser.ParseFile(token.NewFileSet(), at, nil, parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			tests = append(tests, f)
		}
		if !shown(tests) {
			t.Errorf("%s has no Example with an output", p.ImportPath)
		}
	}
}

func TestExamplesAreFound(t *testing.T) {
	for text, want := range map[string]bool{
		"func Example() {\n\tprintln()\n\t// Output: 1\n}":        true,
		"func ExampleA() {\n\t// Unordered output: 1\n}":          true,
		"func Example() {\n\tprintln()\n}":                        false,
		"func Examples() {\n\t// Output: 1\n}":                    false,
		"func TestA(t *testing.T) {\n\t// Output: 1\n}":           false,
		"func Example_suffix() {\n\tprintln()\n\t// Output: 1\n}": true,
	} {
		f, err := parser.ParseFile(token.NewFileSet(), "a_test.go", "package a\n\nimport \"testing\"\n\n"+text+"\n", parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		if shown([]*ast.File{f}) != want {
			t.Errorf("%s: %v", text, !want)
		}
	}
}

// signatures finds the types in a package's signatures that other programs cannot name.
type signatures struct {
	own    *types.Package
	seen   map[types.Type]bool
	at     string // the exported name that leads to it
	places []string
}

// hidden returns the types of internal packages in a package's signatures, one line each.
func hidden(p *types.Package) []string {
	s := &signatures{own: p}
	for _, name := range p.Scope().Names() {
		o := p.Scope().Lookup(name)
		if !o.Exported() {
			continue
		}
		s.at, s.seen = name, make(map[types.Type]bool)
		if n, is := o.(*types.TypeName); is && !n.IsAlias() {
			s.shape(o.Type())
		} else {
			s.visit(o.Type())
		}
	}
	slices.Sort(s.places)
	return slices.Compact(s.places)
}

// shape checks the parts of a type of this package, and its methods.
func (s *signatures) shape(t types.Type) {
	if s.seen[t] {
		return
	}
	s.seen[t] = true
	s.visit(t.Underlying())
	for m := range types.NewMethodSet(types.NewPointer(t)).Methods() {
		if m.Obj().Exported() {
			s.visit(m.Obj().Type())
		}
	}
}

// visit checks a type where it is used.
func (s *signatures) visit(t types.Type) {
	switch t := t.(type) {
	case *types.Named:
		s.named(t)
	case *types.Alias:
		o := t.Obj()
		switch {
		case o.Pkg() != s.own: // it is checked there
		case o.Exported() && o.Name() != s.at: // other programs can name it, and it is checked by that name
		default:
			s.visit(types.Unalias(t))
		}
	case interface{ Elem() types.Type }: // a pointer, slice, array or channel
		s.visit(t.Elem())
		if m, is := t.(*types.Map); is {
			s.visit(m.Key())
		}
	case *types.Signature:
		s.visit(t.Params())
		s.visit(t.Results())
		for p := range t.TypeParams().TypeParams() {
			s.visit(p.Constraint())
		}
	case *types.Tuple:
		for v := range t.Variables() {
			s.visit(v.Type())
		}
	case *types.Struct:
		for f := range t.Fields() {
			if f.Exported() || f.Embedded() {
				s.visit(f.Type())
			}
		}
	case *types.Interface:
		for m := range t.Methods() {
			if m.Exported() {
				s.visit(m.Type())
			}
		}
		for e := range t.EmbeddedTypes() {
			s.visit(e)
		}
	case *types.Union:
		for e := range t.Terms() {
			s.visit(e.Type())
		}
	}
}

func (s *signatures) named(t *types.Named) {
	for a := range t.TypeArgs().Types() {
		s.visit(a)
	}
	o := t.Obj()
	switch {
	case o.Pkg() == nil: // error
	case strings.Contains("/"+o.Pkg().Path()+"/", "/internal/"):
		s.places = append(s.places, s.at+" shows "+o.Pkg().Path()+"."+o.Name())
	case o.Pkg() == s.own && !o.Exported(): // its methods and fields are visible
		s.shape(t)
	}
}

// No public package shows a type of an internal one, which other programs cannot name,
// except those in signatures.txt.
func TestPublicSignaturesNameNoInternalType(t *testing.T) {
	list, err := listed()
	if err != nil {
		t.Fatal(err)
	}
	exports := make(map[string]string)
	for _, p := range list {
		exports[p.ImportPath] = p.Export
	}
	read := importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	found := make(map[string][]string)
	for _, p := range publicPackages(t) {
		made, err := read.Import(p.ImportPath)
		if err != nil {
			t.Fatal(err)
		}
		for _, place := range hidden(made) {
			entry := strings.ReplaceAll(strings.TrimPrefix(p.ImportPath+"/", module)+" "+place, module, "")
			found[entry] = append(found[entry], "go doc "+p.ImportPath)
		}
	}
	only(t, "signatures.txt", found)
}

func TestHiddenTypesAreFound(t *testing.T) {
	inner := types.NewPackage("a/internal/b", "b")
	set := token.NewFileSet()
	shape, err := parser.ParseFile(set, "b.go", "package b\n\ntype T struct{}\n\nfunc (T) M() {}\n\ntype G[E any] struct{}\n", 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := types.NewChecker(new(types.Config), set, inner, nil).Files([]*ast.File{shape}); err != nil {
		t.Fatal(err)
	}
	inner.MarkComplete()
	for text, want := range map[string]string{
		"func F(b.T) {}":                                          "F",
		"func F() (int, *b.T) { return 0, nil }":                  "F",
		"func f(b.T) {}":                                          "",
		"type S struct{ X []b.T }":                                "S",
		"type S struct{ x b.T }":                                  "",
		"type S struct{ b.T }":                                    "S",
		"type S struct{ u }; type u struct{}; func (u) M(b.T) {}": "S",
		"type S struct{}; func (*S) M(map[b.T]int) {}":            "S",
		"type S struct{}; func (*S) m(b.T) {}":                    "",
		"type I interface{ M() chan b.T }":                        "I",
		"type I interface{ m() b.T }":                             "",
		"type A = b.T":                                            "A",
		"type Z = b.T; func F(Z) {}":                              "Z",
		"type z = b.T; func F(z) {}":                              "F",
		"type D b.T":                                              "",
		"type D func(...b.T)":                                     "D",
		"var V b.T":                                               "V",
		"const C = 1":                                             "",
		"func F() error { return nil }":                           "",
		"func F[E interface{ b.T | int }](E) {}":                  "F",
		"func F(b.G[int]) {}":                                     "F",
		"type L struct{ Next *L }":                                "",
		"type S struct{ X u }; type u struct{ Y b.T }":            "S",
	} {
		f, err := parser.ParseFile(set, "a.go", "package a\n\nimport \"a/internal/b\"\n\nvar _ b.T\n\n"+text+"\n", 0)
		if err != nil {
			t.Fatal(err)
		}
		c := types.Config{Importer: one{inner}}
		p, err := c.Check("a", set, []*ast.File{f}, nil)
		if err != nil {
			t.Fatal(err)
		}
		got := strings.Join(hidden(p), "; ")
		if want == "" && got != "" || want != "" && !strings.HasPrefix(got, want+" shows a/internal/b.") {
			t.Errorf("%s: %q", text, got)
		}
	}
}

// one imports one package.
type one struct{ *types.Package }

func (o one) Import(string) (*types.Package, error) { return o.Package, nil }

// shownNames returns what go doc of a package shows although other programs cannot name it: internal
// packages in the values of exported constants and variables, and unexported generic types that an
// exported type embeds, whose methods have parameters without a meaning.
func shownNames(files []*ast.File) (places []string) {
	generic := make(map[string]bool)
	for spec := range typeSpecs(files) {
		generic[spec.Name.Name] = !spec.Name.IsExported() && spec.TypeParams != nil
	}
	for spec := range typeSpecs(files) {
		form, is := spec.Type.(*ast.StructType)
		if !is || !spec.Name.IsExported() {
			continue
		}
		for _, f := range form.Fields.List {
			if index, is := f.Type.(*ast.IndexExpr); is && len(f.Names) == 0 && generic[fmt.Sprint(index.X)] {
				places = append(places, fmt.Sprintf("%s embeds %v[T]", spec.Name, index.X))
			}
		}
	}
	for _, f := range files {
		places = append(places, internalValues(f)...)
	}
	return places
}

// typeSpecs yields the type declarations of files.
func typeSpecs(files []*ast.File) iter.Seq[*ast.TypeSpec] {
	return func(yield func(*ast.TypeSpec) bool) {
		for _, f := range files {
			for n := range ast.Preorder(f) {
				if spec, is := n.(*ast.TypeSpec); is && !yield(spec) {
					return
				}
			}
		}
	}
}

// internalValues returns the exported constants and variables of a file whose values name an internal
// package.
func internalValues(f *ast.File) (places []string) {
	internal := make(map[string]bool)
	for _, i := range f.Imports {
		if path := strings.Trim(i.Path.Value, `"`); strings.Contains("/"+path+"/", "/internal/") {
			internal[path[strings.LastIndex(path, "/")+1:]] = true
		}
	}
	for _, d := range f.Decls {
		list, is := d.(*ast.GenDecl)
		if !is || list.Tok != token.VAR && list.Tok != token.CONST {
			continue
		}
		for _, spec := range list.Specs {
			v := spec.(*ast.ValueSpec)
			for i, value := range v.Values {
				if sel, is := value.(*ast.SelectorExpr); is && v.Names[i].IsExported() && internal[fmt.Sprint(sel.X)] {
					places = append(places, fmt.Sprintf("%s shows %v.%s", v.Names[i], sel.X, sel.Sel))
				}
			}
		}
	}
	return places
}

// go doc of a public package shows no value of an internal package and embeds no unexported generic
// type, except those in signatures.txt.
func TestDocumentationShowsNoInternalName(t *testing.T) {
	for _, p := range publicPackages(t) {
		var files []*ast.File
		for _, name := range p.GoFiles {
			f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, f)
		}
		for _, place := range shownNames(files) {
			if p.ImportPath == module+"linalg" && strings.Contains(place, " shows simd.") {
				continue // the values of linalg.Path, which signatures.txt lists
			}
			t.Errorf("go doc %s: %s", p.ImportPath, place)
		}
	}
}

func TestShownNamesAreFound(t *testing.T) {
	for text, want := range map[string]string{
		"var V = b.V":                  "V shows b.V",
		"var V, W = 1, b.V":            "W shows b.V",
		"const C = b.C":                "C shows b.C",
		"var v = b.V":                  "",
		"var V error = v; var v = b.V": "",
		"var V = c.V":                  "",
		"type S struct{ g[int] }; type g[T any] struct{}":   "S embeds g[T]",
		"type S struct{ x g[int] }; type g[T any] struct{}": "",
		"type S struct{ G[int] }; type G[T any] struct{}":   "",
		"type s struct{ g[int] }; type g[T any] struct{}":   "",
	} {
		f, err := parser.ParseFile(token.NewFileSet(), "a.go", "package a\n\nimport (\"a/internal/b\"; \"a/c\")\n\n"+text+"\n", 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(shownNames([]*ast.File{f}), "; "); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
