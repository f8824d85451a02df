//go:build slow

package cli

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/mercer-fl/mercer/internal/catalogue"
)

// TestSlowScript runs jobs on large data sets, which lie in the data folder.
func TestSlowScript(t *testing.T) {
	folder := dataFolder(t)
	examples, err := filepath.Abs("../../examples")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "slow"),
		RequireExplicitExec: true,
		Setup: func(e *testscript.Env) error {
			e.Setenv(catalogue.Variable, folder)
			e.Setenv("EXAMPLES", examples)
			return nil
		},
		Cmds: commands(),
	})
}

// dataFolder finds the data, or skips the test unless they must be there.
func dataFolder(t *testing.T) string {
	t.Helper()
	folder := os.Getenv(catalogue.Variable)
	if folder == "" {
		folder = filepath.FromSlash("../../../shared/data")
	}
	folder, err := filepath.Abs(folder)
	if err == nil {
		_, err = os.Stat(filepath.Join(folder, "alzheimer-mri"))
	}
	switch {
	case err == nil:
		return folder
	case os.Getenv("MERCER_REQUIRE_DATA") == "1":
		t.Fatalf("MERCER_REQUIRE_DATA=1: %v", err)
	}
	t.Skipf("set %s to the folder of the data sets: %v", catalogue.Variable, err)
	return ""
}
