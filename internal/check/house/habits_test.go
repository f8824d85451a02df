package house_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// openings are first sentences of doc comments that define a thing by a clause. Plain English
// names the thing: a name, a verb in the third person, a noun.
var openings = []*regexp.Regexp{
	regexp.MustCompile(`^\w+ (is|are) (what|how|who|whose|where|when|why|which|that of|those of|those)\b`),
	regexp.MustCompile(`^\w+ says (what|how|who|whose|where|when|why|which|whether)\b`),
	regexp.MustCompile(`^\w+ (is|are|has|have|does|do) the same\b`),
}

// phrases are subjects without a noun, and words that a reader must translate, anywhere in a text.
var phrases = []*regexp.Regexp{
	regexp.MustCompile(`(?i)\b(whoever|so many|but for|for ever)\b`),
	regexp.MustCompile(`(?i)\b(that|those) of\b`),
}

// habits counts both in a text; only a doc comment has an opening.
func habits(text string, doc bool) (n int) {
	text = strings.Join(strings.Fields(text), " ")
	for _, p := range phrases {
		n += len(p.FindAllString(text, -1))
	}
	for _, p := range openings {
		if doc && p.MatchString(text) {
			n++
		}
	}
	return n
}

// habitsOf counts the habits of a Go file's comments.
func habitsOf(text string) (int, error) {
	tree, err := parser.ParseFile(token.NewFileSet(), "", text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return 0, err
	}
	docs := make(map[*ast.CommentGroup]bool)
	ast.Inspect(tree, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			docs[n.Doc] = true
		case *ast.GenDecl:
			docs[n.Doc] = true
		case *ast.TypeSpec:
			docs[n.Doc] = true
		case *ast.ValueSpec:
			docs[n.Doc] = true
		case *ast.Field:
			docs[n.Doc] = true
		}
		return true
	})
	count := 0
	for _, g := range tree.Comments {
		count += habits(g.Text(), docs[g])
	}
	return count, nil
}

// habitsAt counts the habits of a file: of a Go file's comments, and of the pages that every user
// reads.
func habitsAt(path string) (int, error) {
	page := path == "README.md" || path == "docs/commands.md"
	if !page && !strings.HasSuffix(path, ".go") {
		return 0, nil
	}
	b, err := os.ReadFile(root + "/" + path)
	if err != nil || page {
		return habits(string(b), false), err
	}
	return habitsOf(string(b))
}

// public reports whether a file is of a package that other programs import.
func public(path string) bool {
	return !strings.HasPrefix(path, "internal/") && !strings.Contains(path, "/internal/") &&
		!strings.HasPrefix(path, "cmd/") && !strings.HasSuffix(path, "_test.go")
}

// Comments get plainer: in public packages, README and the commands' help, and everywhere, there
// are at most as many habits as habits.txt says. Both numbers only fall.
func TestHabitsFall(t *testing.T) {
	found := make(map[string]int)
	err := fs.WalkDir(os.DirFS(root), ".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata"):
			return fs.SkipDir
		}
		n, err := habitsAt(path)
		if n > 0 {
			found[path] = n
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	counts := make(map[string]int)
	for path, n := range found {
		if counts["all"] += n; public(path) || strings.HasSuffix(path, ".md") {
			counts["public"] += n
		}
	}
	for name, reason := range allowed(t, "habits.txt") {
		if most, err := strconv.Atoi(strings.Fields(reason)[0]); err != nil || counts[name] > most {
			t.Errorf("%s: %d habits, and habits.txt allows %s; -v lists the files", name, counts[name], reason)
		}
	}
	for _, path := range slices.Sorted(maps.Keys(found)) {
		t.Logf("%s: %d", path, found[path])
	}
	t.Log(counts)
}

func TestHabitsAreCounted(t *testing.T) {
	for text, want := range map[string]int{
		"// A is what b has.\nfunc A()":                                1,
		"// A returns what b has.\nfunc A()":                           0,
		"// A says whether b is.\nfunc A()":                            1,
		"// A waits for whoever comes, but for those of b.\nvar A int": 3,
		"func A() {\n// A is what nobody documents.\n}":                0,
		"// A is for every one.\nvar A = `those of`":                   0,
		"type T struct {\n// A are those that\n// b has.\nA int\n}":    1,
	} {
		if n, err := habitsOf("package a\n\n" + text + "\n"); err != nil || n != want {
			t.Errorf("%s: %d, want %d, error %v", text, n, want, err)
		}
	}
}
