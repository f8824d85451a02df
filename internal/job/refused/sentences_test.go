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

// sentences finds the formats in calls of Refuse, At and AtLine.
func sentences(t *testing.T, folder string) (list []sentence) {
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
			if format := refusal(n); format != "" {
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

// refusal returns the format of a call that refuses, or "".
func refusal(n ast.Node) string {
	call, is := n.(*ast.CallExpr)
	if !is {
		return ""
	}
	name := ""
	switch f := call.Fun.(type) {
	case *ast.Ident:
		name = f.Name
	case *ast.SelectorExpr:
		name = f.Sel.Name
	}
	at := slices.Index([]string{"Refuse", "At", "AtLine"}, name)
	if at < 0 || len(call.Args) < 2 {
		return ""
	}
	lit, is := call.Args[1].(*ast.BasicLit)
	if !is || lit.Kind != token.STRING {
		return ""
	}
	format, err := strconv.Unquote(lit.Value)
	if err != nil {
		return ""
	}
	return format
}

// Every sentence by which a job file can be refused has a case, which docs/job.md prints.
func TestEverySentenceHasACase(t *testing.T) {
	list := cases(t)
	for _, folder := range []string{"internal/job", "internal/learner", "internal/method"} {
		for _, s := range sentences(t, folder) {
			p := s.pattern()
			if !slices.ContainsFunc(list, func(c refused.Case) bool { return p.MatchString(c.Says) }) {
				t.Errorf("%v: no case reads %q", s.at, s.format)
			}
		}
	}
}

func TestPattern(t *testing.T) {
	p := sentence{format: "%s is %d; write 1 to %[2]d"}.pattern()
	if !p.MatchString("clause is 21; write 1 to 20") || p.MatchString("clause is 21; write a number") {
		t.Errorf("%v matches other sentences than its own", p)
	}
}
