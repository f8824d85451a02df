package structure_test

import (
	"fmt"
	"go/ast"
	"go/token"
	"maps"
	"path"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/internal/job/section"
	"github.com/mercer-fl/mercer/internal/method/all"
)

// register holds the names of methods and learners, and the types of their settings.
type register struct {
	names []string
	types map[string]string            // name by folder.Type of settings
	words map[string]map[string]string // constants with such a name: by folder and identifier
}

// registered reads the lists.
func registered(files []file) *register {
	r := &register{types: make(map[string]string), words: make(map[string]map[string]string)}
	reader := all.Reader()
	for _, k := range reader.Kinds() {
		r.add(k.Name(), k.New())
	}
	r.learn(files)
	return r
}

// free removes constants that hold such a name with another meaning.
func (r *register) free(t *testing.T) {
	found := make(map[string][]string)
	for _, word := range slices.Collect(maps.Keys(allowed(t, "words.txt"))) {
		dot := strings.LastIndex(word, ".")
		if words := r.words[word[:dot]]; words[word[dot+1:]] != "" {
			delete(words, word[dot+1:])
			found[word] = nil
		}
	}
	only(t, "words.txt", found)
}

// add enters a name and the type of its settings.
func (r *register) add(name string, values section.Values) {
	at := reflect.TypeOf(values).Elem()
	r.names = append(r.names, name)
	r.types[strings.TrimPrefix(at.PkgPath(), module)+"."+at.Name()] = name
}

// learn finds the constants with such names.
func (r *register) learn(files []file) {
	for _, f := range files {
		words := r.words[f.folder()]
		if words == nil {
			words = make(map[string]string)
			r.words[f.folder()] = words
		}
		for _, d := range f.tree.Decls {
			if g, is := d.(*ast.GenDecl); is && g.Tok == token.CONST {
				for _, s := range g.Specs {
					r.constants(words, s.(*ast.ValueSpec))
				}
			}
		}
	}
}

func (r *register) constants(words map[string]string, s *ast.ValueSpec) {
	for i, v := range s.Values {
		if call, is := v.(*ast.CallExpr); is && len(call.Args) == 1 {
			v = call.Args[0] // a conversion
		}
		if name := r.literal(v); name != "" {
			words[s.Names[i].Name] = name
		}
	}
}

// literal returns the name in an expression, or "".
func (r *register) literal(e ast.Expr) string {
	lit, is := e.(*ast.BasicLit)
	if !is || lit.Kind != token.STRING {
		return ""
	}
	text, err := strconv.Unquote(lit.Value)
	if err != nil || !slices.Contains(r.names, text) {
		return ""
	}
	return text
}

// home reports whether a file belongs to a method's package, or is a learner's own.
func home(name string, f file) bool {
	return packageOf(f.path) == folderOf(name) || f.path == "internal/learner/"+folderOf(name)+".go"
}

// folderOf returns the folder or file of a method or learner, whose name has no hyphen.
func folderOf(name string) string { return strings.ReplaceAll(name, "-", "") }

// search finds the places of a file that use the name or the settings of a method or
// learner.
type search struct {
	*register
	file
	known  map[string]string // imports
	places []string
}

// search returns a line for each place.
func (r *register) search(f file) []string {
	s := &search{register: r, file: f, known: f.imports()}
	ast.Inspect(f.tree, s.visit)
	return s.places
}

func (s *search) found(n ast.Node, name, what string) {
	if !home(name, s.file) {
		s.places = append(s.places, fmt.Sprintf("%s:%d: %s", s.path, s.set.Position(n.Pos()).Line, what))
	}
}

// visit checks a node, and reports whether to check the nodes below it.
func (s *search) visit(n ast.Node) bool {
	switch at := n.(type) {
	case *ast.File:
		for _, d := range at.Decls {
			s.below(d)
		}
		return false
	case *ast.ImportSpec:
		return false
	case *ast.Field:
		s.below(at.Type) // neither the name nor the tag
		return false
	case *ast.ValueSpec:
		s.below(at.Type)
		for _, v := range at.Values {
			s.below(v)
		}
		return false
	case *ast.FuncDecl:
		if at.Recv == nil {
			s.below(at.Type)
			s.below(at.Body)
			return false
		}
	case *ast.CompositeLit:
		s.composite(at)
		return false
	case *ast.SelectorExpr:
		s.selector(at)
		return false
	case *ast.Ident:
		if name := s.words[s.folder()][at.Name]; name != "" {
			s.found(at, name, at.Name+", which is "+strconv.Quote(name))
		}
	case *ast.BasicLit:
		if name := s.literal(at); name != "" {
			s.found(at, name, strconv.Quote(name))
		}
	case *ast.TypeAssertExpr:
		s.settings(at.Type)
	case *ast.TypeSwitchStmt:
		for _, c := range at.Body.List {
			for _, e := range c.(*ast.CaseClause).List {
				s.settings(e)
			}
		}
	case *ast.IndexExpr:
		s.settings(at.Index) // job.As
	}
	return true
}

func (s *search) below(n ast.Node) {
	if n != nil && !reflect.ValueOf(n).IsNil() {
		ast.Inspect(n, s.visit)
	}
}

// composite checks a literal; the keys of a struct are its fields.
func (s *search) composite(c *ast.CompositeLit) {
	s.below(c.Type)
	_, list := c.Type.(*ast.ArrayType)
	_, table := c.Type.(*ast.MapType)
	for _, e := range c.Elts {
		pair, is := e.(*ast.KeyValueExpr)
		if !is {
			s.below(e)
			continue
		}
		if _, field := pair.Key.(*ast.Ident); !field || list || table {
			s.below(pair.Key)
		}
		s.below(pair.Value)
	}
}

// selector checks a constant of another package, or the operand of a field or method.
func (s *search) selector(e *ast.SelectorExpr) {
	if pkg, is := e.X.(*ast.Ident); is {
		if name := s.words[s.known[pkg.Name]][e.Sel.Name]; name != "" {
			s.found(e, name, pkg.Name+"."+e.Sel.Name+", which is "+strconv.Quote(name))
		}
	}
	s.below(e.X)
}

// settings checks the type of an assertion.
func (s *search) settings(e ast.Expr) {
	if star, is := e.(*ast.StarExpr); is {
		e = star.X
	}
	at := ""
	switch e := e.(type) {
	case *ast.Ident:
		at = s.folder() + "." + e.Name
	case *ast.SelectorExpr:
		if pkg, is := e.X.(*ast.Ident); is {
			at = s.known[pkg.Name] + "." + e.Sel.Name
		}
	}
	if name := s.types[at]; name != "" {
		s.found(e, name, "type "+path.Base(at)+" of "+name)
	}
}

// Only the package of a method, and a learner's own file, use its name and the type of its
// settings. Other files have an entry with the number of such places.
func TestNoNames(t *testing.T) {
	files := sources(t)
	r := registered(files)
	if len(r.names) < 20 || len(r.types) < 20 {
		t.Fatalf("%d names, %d types", len(r.names), len(r.types))
	}
	r.free(t)
	found := make(map[string][]string)
	for _, f := range files {
		if strings.HasPrefix(f.path, "docs/") {
			continue // examples of the documents, each about what it names
		}
		if places := r.search(f); places != nil {
			found[fmt.Sprintf("%s, %d", f.path, len(places))] = places
		}
	}
	only(t, "names.txt", found)
}

// All uses of names are found, and nothing else.
func TestNamesAreFound(t *testing.T) {
	other, err := parse("protocol/gram/gram.go", "package gram\n\nconst Name = \"gram\"\nconst Other = \"grams\"\n")
	if err != nil {
		t.Fatal(err)
	}
	r := registered([]file{other})
	for text, want := range map[string]string{
		`var a = "gram"`:     `"gram"`,
		"var a = `gram`":     `"gram"`,
		`const a = "gp"`:     `"gp"`,
		`const a = b("svc")`: `"svc"`,
		`func a(b string) bool { return b != "okra" }`:                `"okra"`,
		`func a(b string) { switch b { case x, "secvm": } }`:          `"secvm"`,
		`var a = map[string]int{"one-class": 1}`:                      `"one-class"`,
		`var a = proto.Name`:                                          `proto.Name, which is "gram"`,
		`func a(b string) { switch b { case proto.Name: } }`:          `proto.Name, which is "gram"`,
		`var a = [...]int{proto.Name: 1}`:                             `proto.Name, which is "gram"`,
		`const word = "ridge"; var a = map[string]int{word: 1}`:       `"ridge"; word, which is "ridge"`,
		`var a = b.(*gram.Keys)`:                                      `type gram.Keys of gram`,
		`func a(b any) { switch b.(type) { case int, *gram.Keys: } }`: `type gram.Keys of gram`,
		`var a = job.As[*gram.Keys](b)`:                               `type gram.Keys of gram`,
		`var a = job.As[*learner.SVC](b)`:                             `type learner.SVC of svc`,
		`var a, is = b.(learner.GP)`:                                  `type learner.GP of gp`,
		// no names
		`// a "gram" of "okra"`:                              "",
		`var a = "grams" + "gram/order" + "stage/gram"`:      "",
		"var a struct { gram int `gram` }":                   "",
		`var gram, okra = proto.Other, "x"`:                  "",
		`const word = "words"; var a = T{word: 1}`:           "",
		`func gram(a gram.Case) gram.Keys { return a.gram }`: "",
		`var a = b.(gram.Others)`:                            "",
	} {
		head := "package a\n\nimport (\n\t\"okra\"\n\tproto \"" + module + "protocol/gram\"\n\t\"" + module + methods + "gram\"\n\t\"" + module + "internal/learner\"\n)\n\n"
		f, err := parse("internal/a/a.go", head+text)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range []file{f, {"internal/method/a/a.go", 0, f.tree, f.set}} {
			with := *r
			with.words = map[string]map[string]string{"protocol/gram": r.words["protocol/gram"]}
			with.learn([]file{f})
			places := with.search(f)
			for i, p := range places {
				places[i] = strings.SplitN(p, ": ", 2)[1]
			}
			if got := strings.Join(places, "; "); got != want {
				t.Errorf("%s in %s: found %s, want %s", text, f.path, got, want)
			}
		}
	}
}

// In its own package a method's name is free, and another method's is not.
func TestPackagesAreHomes(t *testing.T) {
	r := registered(nil)
	for path, want := range map[string]int{
		"internal/method/gram/method.go": 1, "internal/method/gram/local/play.go": 1, "internal/learner/gp.go": 1, "internal/learner/oneclass.go": 2,
		"internal/method/okra/keys.go": 2, "internal/method/grams/a.go": 2, "internal/method/gram.go": 2, "internal/gram/a.go": 2,
	} {
		f, err := parse(path, `package a; var a = "gram" + "gp"`)
		if err != nil {
			t.Fatal(err)
		}
		if places := r.search(f); len(places) != want {
			t.Errorf("%s: %d places, want %d: %q", path, len(places), want, places)
		}
	}
}
