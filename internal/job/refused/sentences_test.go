package refused_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/internal/job/refused"
)

const root = "../../.."

// verb is a place in a format where a value stands.
var verb = regexp.MustCompile(`%(\[\d\])?[a-z]`)

// sentence is a format by which the reader of job files refuses something.
type sentence struct {
	at     token.Position
	format string
}

// pattern matches what the format prints.
func (s sentence) pattern() *regexp.Regexp {
	parts := verb.Split(s.format, -1)
	for i := range parts {
		parts[i] = regexp.QuoteMeta(parts[i])
	}
	return regexp.MustCompile("^" + strings.Join(parts, ".*") + "$")
}

// sentences finds the formats that the function of returns for the nodes of a folder's files.
func sentences(t *testing.T, folder string, of func(ast.Node) []string) (list []sentence) {
	t.Helper()
	files := os.DirFS(root)
	err := fs.WalkDir(files, folder, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		b, err := fs.ReadFile(files, path)
		if err != nil {
			return err
		}
		set := token.NewFileSet()
		tree, err := parser.ParseFile(set, path, b, 0)
		if err != nil {
			return err
		}
		ast.Inspect(tree, func(n ast.Node) bool {
			for _, format := range of(n) {
				list = append(list, sentence{set.Position(n.Pos()), format})
			}
			return true
		})
		return nil
	})
	if err != nil || len(list) == 0 {
		t.Fatalf("%s: %d sentences, error %v", folder, len(list), err)
	}
	return list
}

// refusal returns the format of a call that refuses.
func refusal(n ast.Node) []string {
	call, is := n.(*ast.CallExpr)
	if !is {
		return nil
	}
	name := ""
	switch f := call.Fun.(type) {
	case *ast.Ident:
		name = f.Name
	case *ast.SelectorExpr:
		name = f.Sel.Name
	}
	if !slices.Contains([]string{"Refuse", "At", "AtLine"}, name) || len(call.Args) < 2 {
		return nil
	}
	return literal(call.Args[1])
}

// literal returns the text of a string that is written out.
func literal(n ast.Node) []string {
	lit, is := n.(*ast.BasicLit)
	if !is || lit.Kind != token.STRING {
		return nil
	}
	text, err := strconv.Unquote(lit.Value)
	if err != nil {
		return nil
	}
	return []string{text}
}

// launch returns the sentences in a function that says whether a job can run.
func launch(n ast.Node) (list []string) {
	f, is := n.(*ast.FuncDecl)
	if !is || !slices.Contains([]string{"Simulable", "Deployable", "undeployable", "LeavesRows"}, f.Name.Name) {
		return nil
	}
	ast.Inspect(f.Body, func(n ast.Node) bool {
		for _, text := range literal(n) {
			if text != "" {
				list = append(list, strings.TrimPrefix(text, "job: "))
			}
		}
		return true
	})
	return list
}

// Every sentence by which a job file can be refused has a case, which docs/job.md prints.
func TestEverySentenceHasACase(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	list, commands := cases(t), launches(t)
	for _, folder := range []string{"internal/job", "internal/learner", "internal/method"} {
		for _, s := range sentences(t, folder, refusal) {
			s.in(t, list)
		}
	}
	for _, folder := range []string{"internal/job", "internal/method"} {
		for _, s := range sentences(t, folder, launch) {
			s.in(t, commands)
		}
	}
}

// in fails where no case reads as the sentence.
func (s sentence) in(t *testing.T, list []refused.Case) {
	t.Helper()
	p := s.pattern()
	if !slices.ContainsFunc(list, func(c refused.Case) bool { return p.MatchString(c.Says) }) {
		t.Errorf("%v: no case reads %q", s.at, s.format)
	}
}

func TestPattern(t *testing.T) {
	p := sentence{format: "%s is %d; write 1 to %[2]d"}.pattern()
	if !p.MatchString("clause is 21; write 1 to 20") || p.MatchString("clause is 21; write a number") {
		t.Errorf("%v matches other sentences than its own", p)
	}
}
