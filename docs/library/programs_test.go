// Package library_test keeps the programs of docs/library.md as they are printed there:
// they compile, run, write what they say, and stay short.
package library_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// lines counts what a reader types: every line that is neither blank nor a comment.
func lines(text string) (n int) {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "//") {
			n++
		}
	}
	return n
}

// says returns the output that a program's last comment promises.
func says(text string) string {
	_, comment, _ := strings.Cut(text, "\t// Output:")
	comment, _, _ = strings.Cut(comment, "}\n")
	var out strings.Builder
	for line := range strings.Lines(comment) {
		if line = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), "//")); line != "" {
			out.WriteString(line + "\n")
		}
	}
	return out.String()
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestProgramsAreShortAndSayWhatTheyPrint(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	bin := t.TempDir()
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", bin, "./svm", "./validate", "./load", "./sum", "./okra").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	page := read(t, "../library.md")
	for _, tt := range []struct {
		name  string
		limit int
	}{{"svm", 12}, {"validate", 18}, {"load", 15}, {"sum", 25}, {"okra", 30}} {
		t.Run(tt.name, func(t *testing.T) {
			text := read(t, filepath.Join(tt.name, "main.go"))
			if n := lines(text); n > tt.limit {
				t.Errorf("%d lines, at most %d", n, tt.limit)
			}
			if !strings.Contains(page, "\n```go\n"+text+"```\n") {
				t.Errorf("docs/library.md prints another program")
			}
			run := exec.CommandContext(t.Context(), filepath.Join(bin, tt.name))
			run.Dir = tt.name
			out, err := run.CombinedOutput()
			if err != nil || string(out) != says(text) || len(out) == 0 {
				t.Errorf("it writes %q, error %v; it says %q", out, err, says(text))
			}
		})
	}
}

func TestFirstProgramLinksNoBroker(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", "./svm").Output()
	if err != nil || !strings.Contains(string(out), "github.com/mercer-fl/mercer\n") {
		t.Fatalf("%q, error %v", out, err)
	}
	for _, heavy := range []string{"nats", "cobra"} {
		if strings.Contains(string(out), heavy) {
			t.Errorf("it links %s", heavy)
		}
	}
}

func TestLinesAndOutput(t *testing.T) {
	text := "// A is.\npackage main\n\nfunc main() {\n\tprintln(1) // one\n\t// Output:\n\t// 1\n\t// 2\n}\n"
	if n := lines(text); n != 4 {
		t.Errorf("%d lines, want 4", n)
	}
	if out := says(text); out != "1\n2\n" {
		t.Errorf("it says %q", out)
	}
	if out := says("{\n\t// Output: [a b] <nil>\n}\n"); out != "[a b] <nil>\n" {
		t.Errorf("it says %q", out)
	}
}
