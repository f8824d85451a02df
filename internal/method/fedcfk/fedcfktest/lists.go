// Package fedcfktest has helpers for tests of FedCFK and of its mode paper. Only tests import it.
package fedcfktest

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/mercer-fl/mercer/dataset"
)

// Names returns n names of clients.
func Names(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("c%04d", i)
	}
	return names
}

// Ratings reads the data set ml-100k. If the set is missing, it skips the test, unless the set is
// required.
func Ratings(t testing.TB) *dataset.Ratings {
	t.Helper()
	file, err := os.ReadFile(filepath.Join(folder(t), "ml-100k", "u.data"))
	if err != nil {
		if os.Getenv("MERCER_REQUIRE_DATA") == "1" {
			t.Fatal(err)
		}
		t.Skip("MovieLens is not here: set MERCER_DATA to the folder that holds ml-100k")
	}
	r, err := dataset.ReadRatings(bytes.NewReader(file), dataset.RatingsOptions{Name: "u.data"})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// folder returns the folder of data sets. The default is shared/data beside the module.
func folder(t testing.TB) string {
	t.Helper()
	if dir := os.Getenv("MERCER_DATA"); dir != "" {
		return dir
	}
	root, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(root, "go.mod")); err == nil || root == filepath.Dir(root) {
			return filepath.Join(filepath.Dir(root), "shared", "data")
		}
		root = filepath.Dir(root)
	}
}

// MovieLens returns the films that each person has seen in ml-100k, and the number of films.
func MovieLens(t testing.TB) (lists [][]int, items int) {
	t.Helper()
	r := Ratings(t)
	all := make([]int, len(r.List))
	for i := range all {
		all[i] = i
	}
	return r.Profiles(all), len(r.Items)
}
