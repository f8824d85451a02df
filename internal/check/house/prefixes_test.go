package house_test

import (
	"fmt"
	"go/ast"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// makers are the functions and methods whose text becomes an error: of packages errors and fmt,
// fault and dataset, of a wire.Reader, and panic.
var makers = []string{"New", "Errorf", "BadInputf", "Forbiddenf", "NoColumn", "Close", "panic"}

// prefix is the word before the first colon of an error.
var prefix = regexp.MustCompile(`^([a-z0-9-]+): `)

// opening returns the text that an expression begins with, or "".
func opening(e ast.Expr) string {
	for {
		switch at := e.(type) {
		case *ast.BinaryExpr:
			e = at.X
		case *ast.CallExpr:
			if called(at) != "Sprintf" {
				return ""
			}
			e = at.Args[0]
		case *ast.BasicLit:
			text, _ := strconv.Unquote(at.Value)
			return text
		default:
			return ""
		}
	}
}

// called returns the last word of the name of a called function.
func called(c *ast.CallExpr) string {
	switch f := c.Fun.(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		return f.Sel.Name
	}
	return ""
}

// own reports whether a word names the file's package, its folder or its room.
func own(f file, word string) bool {
	return slices.Contains([]string{f.tree.Name.Name, path.Base(f.folder()), room(f.path)}, word)
}

// strangers returns the prefixes of a file's errors that name something else, with their lines,
// and how many prefixes there are.
func strangers(f file) (all int, found map[string][]string) {
	found = make(map[string][]string)
	ast.Inspect(f.tree, func(n ast.Node) bool {
		c, is := n.(*ast.CallExpr)
		if !is || !slices.Contains(makers, called(c)) {
			return true
		}
		for _, arg := range c.Args {
			m := prefix.FindStringSubmatch(opening(arg))
			if m == nil {
				continue
			}
			if all++; !own(f, m[1]) {
				entry := f.folder() + " " + m[1]
				found[entry] = append(found[entry], fmt.Sprintf("%s:%d", f.path, f.set.Position(arg.Pos()).Line))
			}
		}
		return true
	})
	return all, found
}

// An error begins with the name of its package, its folder or its room, or with a word of
// prefixes.txt.
func TestErrorsNameTheirPackage(t *testing.T) {
	all, found := 0, make(map[string][]string)
	for _, f := range sources(t) {
		n, of := strangers(f)
		all += n
		for entry, places := range of {
			found[entry] = append(found[entry], places...)
		}
	}
	only(t, "prefixes.txt", found)
	if all < 1000 {
		t.Errorf("%d errors with a prefix", all)
	}
}

func TestPrefixesAreFound(t *testing.T) {
	for text, want := range map[string]string{
		`errors.New("stage: x")`:                 "stage",
		"fmt.Errorf(`stage: %w`, err)":           "stage",
		`fmt.Errorf("stage: "+format, args...)`:  "stage",
		`fault.BadInput(errors.New("stage: x"))`: "stage",
		`fault.BadInputf("local-run: x")`:        "local-run",
		`r.Close("stage: x")`:                    "stage",
		`panic(fmt.Sprintf("stage: %d", 1))`:     "stage",
		`dataset.NoColumn("label", "label: x")`:  "label",
		`errors.New("gram: x")`:                  "", // the room
		`errors.New("local: x")`:                 "", // the folder
		`errors.New("play: x")`:                  "", // the package
		`errors.New("the stage: x")`:             "",
		`fmt.Errorf("%s: x", name)`:              "",
		`prg.New(key, "stage/order", "stage:x")`: "",
		`p.linef("stage: %d", 1)`:                "",
		`errors.New("x")`:                        "",
	} {
		f, err := parse("internal/method/gram/local/a.go", "package play\n\nvar _ = "+text+"\n")
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		_, found := strangers(f)
		got := ""
		for entry := range found {
			got = strings.TrimPrefix(entry, f.folder()+" ")
		}
		if got != want || len(found) > 1 {
			t.Errorf("%s: found %q, want %q", text, found, want)
		}
	}
}
