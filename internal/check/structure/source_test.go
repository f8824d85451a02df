package structure_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

const (
	root    = "../../.."
	module  = "github.com/mercer-fl/mercer/"
	methods = "internal/method/"
)

// file describes one of the program's Go files.
type file struct {
	path  string // from the root
	lines int
	tree  *ast.File
	set   *token.FileSet
}

func (f file) folder() string { return path.Dir(f.path) }

// frame lists the folders below internal/method that are no methods.
var frame = []string{"all", "local", "jobtest", "methodtest"}

// packageOf returns the method of a folder or file below internal/method, or "".
func packageOf(at string) string {
	inside, is := strings.CutPrefix(at, methods)
	name, _, _ := strings.Cut(inside, "/")
	if !is || slices.Contains(frame, name) || strings.HasSuffix(name, ".go") {
		return ""
	}
	return name
}

// imports returns the folders of this program that a file imports, by their names in the
// file.
func (f file) imports() map[string]string {
	known := make(map[string]string)
	for _, i := range f.tree.Imports {
		pkg, err := strconv.Unquote(i.Path.Value)
		folder, own := strings.CutPrefix(pkg+"/", module)
		if err != nil || !own {
			continue
		}
		folder = path.Clean(folder) // "." is the package mercer
		name := path.Base(pkg)
		if i.Name != nil {
			name = i.Name.Name
		}
		known[name] = folder
	}
	return known
}

// parse reads the text of a file.
func parse(path, text string) (file, error) {
	set := token.NewFileSet()
	tree, err := parser.ParseFile(set, path, text, parser.ParseComments|parser.SkipObjectResolution)
	return file{path, strings.Count(text, "\n"), tree, set}, err
}

var program = sync.OnceValues(func() (files []file, err error) {
	err = fs.WalkDir(os.DirFS(root), ".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata"):
			return fs.SkipDir
		case !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		b, err := os.ReadFile(root + "/" + path)
		if err != nil {
			return err
		}
		f, err := parse(path, string(b))
		files = append(files, f)
		return err
	})
	return files, err
})

// sources parses all Go files of the program except tests.
func sources(t *testing.T) []file {
	t.Helper()
	files, err := program()
	if err != nil || len(files) < 500 {
		t.Fatalf("%d files, error %v", len(files), err)
	}
	return files
}
