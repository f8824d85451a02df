package structure_test

import (
	"fmt"
	"go/doc"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The map of packages is in ARCHITECTURE.md between these lines.
const (
	mapBegins = "<!-- packages: drawn from the imports by internal/check/structure -->\n"
	mapEnds   = "<!-- /packages -->\n"
)

// drawing lists every package with the first sentence of its comment, subsystem by
// subsystem, the highest layer first: a subsystem imports none beside or above it.
func drawing(layers [][]string, synopses map[string]string) string {
	var b strings.Builder
	b.WriteString("\n| layer | package | |\n|---|---|---|\n")
	for i, subsystems := range slices.Backward(layers) {
		for _, at := range subsystems {
			for _, folder := range slices.Sorted(maps.Keys(synopses)) {
				if subsystemOf(folder) == at {
					fmt.Fprintf(&b, "| %d | `%s` | %s |\n", i, folder, synopses[folder])
				}
			}
		}
	}
	return b.String() + "\n"
}

// synopsesOf returns the first sentence of each package's comment, without the package's name.
func synopsesOf(files []file) map[string]string {
	found := make(map[string]string)
	for _, f := range files {
		text := found[f.folder()]
		if f.tree.Doc != nil && !strings.HasPrefix(f.tree.Doc.Text(), "Code generated") {
			text = (&doc.Package{}).Synopsis(f.tree.Doc.Text())
		}
		for _, opening := range []string{"Package ", "Command "} {
			if rest, is := strings.CutPrefix(text, opening); is {
				_, text, _ = strings.Cut(rest, " ")
			}
		}
		found[f.folder()] = strings.ReplaceAll(text, "|", `\|`)
	}
	return found
}

// ARCHITECTURE.md names every package and its layer, by its imports. MERCER_GOLDEN=write
// writes the map again.
func TestArchitectureHasEveryPackage(t *testing.T) {
	layers, _ := arrowsOf(sources(t)).levels()
	at := filepath.Join(root, "ARCHITECTURE.md")
	b, err := os.ReadFile(at)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, begins := strings.Cut(string(b), mapBegins)
	drawn, after, ends := strings.Cut(rest, mapEnds)
	if !begins || !ends {
		t.Fatalf("ARCHITECTURE.md has no place for the map of packages")
	}
	want := drawing(layers, synopsesOf(sources(t)))
	if drawn == want {
		return
	}
	if os.Getenv("MERCER_GOLDEN") != "write" {
		t.Fatal("the map of packages in ARCHITECTURE.md is another one than the imports and comments draw; write it anew: MERCER_GOLDEN=write go test ./internal/check/structure -run TestArchitecture")
	}
	if err := os.WriteFile(at, []byte(before+mapBegins+want+mapEnds+after), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestDrawing(t *testing.T) {
	list := []file{}
	for path, text := range map[string]string{
		"kernel/doc.go":         "// Package kernel is kernels. It is fast.\npackage kernel\n",
		"kernel/feature/rff.go": "// Package feature makes a | b.\npackage feature\n",
		"internal/job/job.go":   "package job\n\nimport _ \"" + module + "kernel\"\n",
	} {
		f, err := parse(path, text)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, f)
	}
	layers, _ := arrowsOf(list).levels()
	want := "\n| layer | package | |\n|---|---|---|\n| 1 | `internal/job` |  |\n| 0 | `kernel` | is kernels. |\n| 0 | `kernel/feature` | makes a \\| b. |\n\n"
	if got := drawing(layers, synopsesOf(list)); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}
