package moments

import (
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/linalg"
)

// adults reads a file of the project's real data, or skips the test.
func adults(t *testing.T, name string) (linalg.Rows, []int) {
	t.Helper()
	dir := os.Getenv("MERCER_DATA")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "data")
	}
	f, err := os.Open(filepath.Join(dir, "a9a", name))
	if err != nil {
		if os.Getenv("MERCER_REQUIRE_DATA") == "1" {
			t.Fatalf("MERCER_REQUIRE_DATA=1: %v", err)
		}
		t.Skipf("no real data (set MERCER_DATA): %v", err)
	}
	defer f.Close() //nolint:errcheck // read only
	set, err := dataset.ReadLIBSVM(f, dataset.LIBSVMOptions{Name: name, Columns: 123})
	if err != nil {
		t.Fatal(err)
	}
	_, codes := dataset.Classes(set.Labels)
	return dataset.RowsOf(set.X), codes
}

// On a9a with 15.9 rows for each of 2,048 features, the sums give what a support
// vector machine gives (about .850), and next to nothing about who is in them.
func TestA9a(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	rows, codes := adults(t, "a9a")
	held, truth := adults(t, "a9a.t")
	m := featuresOf(1, 2048, 123, 0.01)
	s := summarize(t, m, rows, codes, 2)
	least, alpha := math.Inf(1), 0.0
	for _, a := range []float64{0.001, 0.01, 0.1, 1, 10} {
		score, err := ClassScore(s, a)
		if err != nil {
			t.Fatal(err)
		}
		if score < least {
			least, alpha = score, a
		}
	}
	one, err := Solve(s, alpha)
	if err != nil {
		t.Fatal(err)
	}
	correct, err := Correct(m, one, held, truth)
	if err != nil {
		t.Fatal(err)
	}
	few := make([]int, 2000)
	for i := range few {
		few[i] = i
	}
	auc, err := Membership(s, m, linalg.Pick(rows, few), linalg.Pick(held, few))
	if err != nil {
		t.Fatal(err)
	}
	accuracy := float64(correct) / float64(len(truth))
	t.Logf("alpha %v: accuracy %.4f, membership AUC %.3f", alpha, accuracy, auc)
	if accuracy < .848 || auc >= .55 {
		t.Errorf("accuracy %.4f, want .848; membership AUC %.3f, want below .55", accuracy, auc)
	}
}
