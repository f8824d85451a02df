//go:build slow

package dataset

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestWritersScript writes the files of testdata/writers anew and reads them. MERCER_PYTHON names
// a Python that has the packages of the script.
func TestWritersScript(t *testing.T) {
	python := os.Getenv("MERCER_PYTHON")
	if python == "" {
		t.Skip("MERCER_PYTHON names no Python with the packages of testdata/writers/writers.py")
	}
	folder := t.TempDir()
	if out, err := exec.CommandContext(t.Context(), python, filepath.Join("testdata", "writers", "writers.py"), folder).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	files := writtenFiles(t, folder)
	if diff := cmp.Diff(slices.Sorted(maps.Keys(writtenFiles(t, writers))), slices.Sorted(maps.Keys(files))); diff != "" {
		t.Errorf("names (-committed +written):\n%s", diff)
	}
	for name, want := range files {
		in, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			t.Fatal(err)
		}
		checkWritten(t, in, want)
	}
}
