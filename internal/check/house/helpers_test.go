package house_test

import (
	"go/ast"
	"slices"
	"testing"
)

// mostAway bounds the share of helpers that stand in another file than the only function that
// uses them.
const mostAway = 0.15

// helpers are the unexported functions and methods of a package.
type helpers struct {
	at    map[string][]string          // the files that declare one, by its name
	users map[string]map[string]string // the functions that name it, with their files
}

// use notes every name in a declaration.
func (h *helpers) use(d ast.Decl, by, path string) {
	ast.Inspect(d, func(n ast.Node) bool {
		if id, is := n.(*ast.Ident); is && id.Name != by {
			if h.users[id.Name] == nil {
				h.users[id.Name] = make(map[string]string)
			}
			h.users[id.Name][by+" "+path] = path
		}
		return true
	})
}

// helpersOf reads the files of one package. Names stand for functions: where two types have a
// method of one name, it counts as used by many.
func helpersOf(files []file) *helpers {
	h := &helpers{make(map[string][]string), make(map[string]map[string]string)}
	for _, f := range files {
		for _, d := range f.tree.Decls {
			by := ""
			if fn, is := d.(*ast.FuncDecl); is {
				by = fn.Name.Name
				h.at[by] = append(h.at[by], f.path)
			}
			h.use(d, by, f.path)
		}
	}
	return h
}

// away returns how many helpers have one user, and a line for each that stands in another file.
func (h *helpers) away() (once int, list []string) {
	for name, at := range h.at {
		if ast.IsExported(name) || len(at) != 1 || len(h.users[name]) != 1 {
			continue
		}
		once++
		for _, path := range h.users[name] {
			if path != at[0] {
				list = append(list, at[0]+": "+name+", used in "+path)
			}
		}
	}
	return once, list
}

// A helper stands beside the only function that uses it, mostly.
func TestHelpersStandBesideTheirCallers(t *testing.T) {
	folders := make(map[string][]file)
	for _, f := range sources(t) {
		if !ast.IsGenerated(f.tree) {
			folders[f.folder()] = append(folders[f.folder()], f)
		}
	}
	once, away := 0, []string(nil)
	for _, files := range folders {
		n, list := helpersOf(files).away()
		once, away = once+n, append(away, list...)
	}
	slices.Sort(away)
	for _, a := range away {
		t.Log(a)
	}
	if share := float64(len(away)) / float64(once); share > mostAway || once < 1000 {
		t.Errorf("%d of %d helpers with one user stand in another file than it: %.1f %%", len(away), once, 100*share)
	}
}

func TestHelpersAreFound(t *testing.T) {
	a, err := parse("a/a.go", "package a\n\nfunc A() { here(); there(); both() }\n\nfunc here() {}\n\nfunc B() { both(); A() }\n")
	if err != nil {
		t.Fatal(err)
	}
	b, err := parse("a/b.go", "package a\n\nfunc there() { there() }\n\nfunc both() {}\n\nfunc unused() {}\n")
	if err != nil {
		t.Fatal(err)
	}
	if once, away := helpersOf([]file{a, b}).away(); once != 2 || !slices.Equal(away, []string{"a/b.go: there, used in a/a.go"}) {
		t.Errorf("%d, %q", once, away)
	}
}
