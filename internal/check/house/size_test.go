package house_test

import (
	"fmt"
	"go/ast"
	"maps"
	"slices"
	"testing"
)

// What a reader can hold in mind.
const (
	roomLines     = 2000 // of a room, without tests
	frameLines    = 1200 // of internal/method itself
	functionLines = 25   // of nine functions in ten
)

// size counts the lines of a folder's files and functions.
type size struct {
	lines     int
	functions []int
}

// sizes measures the folders of the frame and of the rooms.
func sizes(files []file) map[string]*size {
	found := make(map[string]*size)
	for _, f := range files {
		at := f.folder()
		if at+"/" != rooms && room(at) == "" {
			continue
		}
		if found[at] == nil {
			found[at] = new(size)
		}
		found[at].add(f)
	}
	return found
}

func (s *size) add(f file) {
	s.lines += f.lines
	for _, d := range f.tree.Decls {
		if d, is := d.(*ast.FuncDecl); is {
			s.functions = append(s.functions, f.set.Position(d.End()).Line-f.set.Position(d.Pos()).Line+1)
		}
	}
}

// most returns the length that nine functions in ten do not exceed.
func (s *size) most() int {
	if len(s.functions) == 0 {
		return 0
	}
	slices.Sort(s.functions)
	return s.functions[(9*len(s.functions)+9)/10-1]
}

// The frame and the rooms stay within their limits, except for the entries of
// sizes.txt.
func TestSizes(t *testing.T) {
	found, large := sizes(sources(t)), make(map[string][]string)
	for _, at := range slices.Sorted(maps.Keys(found)) {
		s, limit := found[at], roomLines
		if at+"/" == rooms {
			limit = frameLines
		}
		t.Logf("%s: %d lines, %d functions, nine in ten have at most %d lines", at, s.lines, len(s.functions), s.most())
		if s.lines > limit {
			large[fmt.Sprintf("%s, %d lines", at, s.lines)] = []string{fmt.Sprintf("it may have %d", limit)}
		}
		if s.most() > functionLines {
			large[fmt.Sprintf("%s, functions of %d lines", at, s.most())] = []string{fmt.Sprintf("nine in ten may have %d", functionLines)}
		}
	}
	only(t, "sizes.txt", large)
	if len(found) < 9 {
		t.Errorf("%d folders", len(found))
	}
}

func TestSizeOfAFolder(t *testing.T) {
	for _, path := range []string{"internal/method/a.go", "internal/method/b/a.go", "internal/method/b/local/a.go"} {
		f, err := parse(path, "package a\n\n// A is.\nfunc A() {\n}\n\nfunc (B) C() {}\n\ntype D func()\n")
		if err != nil {
			t.Fatal(err)
		}
		s := sizes([]file{f})[f.folder()]
		if s == nil || s.lines != 9 || s.most() != 2 {
			t.Errorf("%s: %+v", path, s)
		}
	}
	other, err := parse("internal/stage/a.go", "package a\n")
	if err != nil || len(sizes([]file{other})) != 0 {
		t.Errorf("internal/stage is measured, error %v", err)
	}
	for _, tt := range []struct {
		functions []int
		want      int
	}{
		{nil, 0}, {[]int{7}, 7}, {[]int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, 9}, {[]int{1, 1, 1, 1, 1, 1, 1, 1, 1, 8, 9}, 8},
	} {
		if got := (&size{functions: tt.functions}).most(); got != tt.want {
			t.Errorf("%v: %d, want %d", tt.functions, got, tt.want)
		}
	}
}
