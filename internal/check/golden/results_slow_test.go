//go:build slow

package golden

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/internal/catalogue"
)

// slow returns the examples that take longer than the others, each run once, for programs.
func slow(t *testing.T) (list []run) {
	t.Helper()
	files, err := filepath.Glob("../../../examples/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	quick := make(map[string]bool)
	for _, r := range runs() {
		quick[r.name] = r.job == ""
	}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if name := strings.TrimSuffix(filepath.Base(f), ".yaml"); !quick[name] && !bytes.Contains(text, []byte("kind: Dictionary")) {
			r := example(name)
			r.briefly, r.commands = true, r.commands[:1]
			list = append(list, r)
		}
	}
	return list
}

// dataFolder finds the data, or skips the test unless they are required.
func dataFolder(t *testing.T) string {
	t.Helper()
	folder, err := filepath.Abs("../../../../shared/data")
	if named := os.Getenv(catalogue.Variable); named != "" {
		folder, err = filepath.Abs(named)
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(folder); err != nil {
		if os.Getenv("MERCER_REQUIRE_DATA") == "1" {
			t.Fatalf("MERCER_REQUIRE_DATA=1: %v", err)
		}
		t.Skipf("NOTHING IS COMPARED: no data (set MERCER_DATA): %v", err)
	}
	return folder
}

// The results of the examples that take minutes, and of those with data outside the
// program, do not change.
func TestSlowResults(t *testing.T) {
	needsAVX2(t)
	data := dataFolder(t)
	known := make(map[string]bool)
	for _, r := range slow(t) {
		known[r.name+".json"] = true
		r.data = data
		t.Run(r.name, func(t *testing.T) { r.compare(t, "slow") })
	}
	files, err := os.ReadDir(filepath.Join("testdata", "slow"))
	if err != nil || len(files) != len(known) {
		t.Errorf("%d files of %d examples, error %v", len(files), len(known), err)
	}
	for _, f := range files {
		if !known[f.Name()] {
			t.Errorf("%s is of no example", f.Name())
		}
	}
}
