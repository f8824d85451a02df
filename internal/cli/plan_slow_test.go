//go:build slow

package cli

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/internal/catalogue"
)

// TestPlansOfAllExamples compares the plan of every example with its run, and writes the table of
// docs/performance.md to the log. An example whose protocol has no formula is refused, with the
// protocol's name.
func TestPlansOfAllExamples(t *testing.T) {
	t.Setenv(catalogue.Variable, dataFolder(t))
	files, err := filepath.Glob(filepath.Join("..", "..", "examples", "*.yaml"))
	if err != nil || len(files) < 20 {
		t.Fatalf("%d examples, %v", len(files), err)
	}
	var table []string
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".yaml")
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), "kind: Job") {
			continue
		}
		t.Run(name, func(t *testing.T) {
			path := exampleAlone(t, name)
			if slices.ContainsFunc(unplannable(), func(p string) bool { return strings.Contains(string(text), "protocol: {name: "+p) }) {
				refusedPlan(t, path, "has no formula for its costs")
				return
			}
			one := planAndRun(t, path)
			one.checkBytes(t)
			table = append(table, one.row(name))
		})
	}
	t.Logf("bytes that the parties send, memory and time of one process: planned, measured (planned / measured)\n%s", strings.Join(table, "\n"))
}

// unplannable lists the protocols of examples that have no formulas.
func unplannable() []string { return []string{"fedcfk", "secvm", "pooled"} }

// refusedPlan checks that no plan is made, with exit code 2 and the given words.
func refusedPlan(t *testing.T, path, want string) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "mercer", "plan", path).CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != Usage || !bytes.Contains(out, []byte(want)) {
		t.Errorf("got %v and %q, want exit code 2 and %q", err, out, want)
	}
}
