//go:build slow

package cli

import (
	"os"
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
