package moments

import (
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/kernel/feature"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/privacy"
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

// linearAdults are the linear features of a9a, whose rows have 14 ones at most.
func linearAdults(byte) feature.Mapping { return feature.Linear{Inputs: 123, Bound: math.Sqrt(14)} }

// noisyAccuracies returns the accuracies on a9a's test rows of ridge regressions from noisy sums of rows, at epsilon 8, 4, 2 and 1 with delta
// 10^-6. They are means of ten jobs, each with directions and noise of its own. Three members add noise, of whom two suffice, so
// that the noise is half again what the guarantee needs.
func noisyAccuracies(t *testing.T, features func(job byte) feature.Mapping, length float64, rows linalg.Rows, codes []int) []float64 {
	t.Helper()
	const jobs = 10
	held, truth := adults(t, "a9a.t")
	mean, y := make([]float64, 4), UnitClasses{codes, 2}
	for job := range byte(jobs) {
		m := features(job + 1)
		exact := partialOf(t, m, rows, y)
		for i, epsilon := range []float64{8, 4, 2, 1} {
			r := ridgeFor(t, privacy.Guarantee{Epsilon: epsilon, Delta: 1e-6}, m, length, 1)
			s, err := SolveNoisy(withNoise(t, exact, r, 3, coins(job)).Sums(), r)
			if err != nil {
				t.Fatal(err)
			}
			correct, err := Correct(m, y.Outputs(s), held, truth)
			if err != nil {
				t.Fatal(err)
			}
			mean[i] += float64(correct) / float64(len(truth)) / jobs
		}
	}
	t.Logf("accuracies %.4f", mean)
	return mean
}

// The figures of docs/privacy.md: with all of a9a's rows, noise costs linear features and 128 cosines little.
func TestA9aWithNoise(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	rows, codes := adults(t, "a9a")
	for name, c := range map[string]struct {
		features func(job byte) feature.Mapping
		length   float64
		least    []float64
	}{
		"linear":      {linearAdults, 1, []float64{.844, .843, .842, .838}},
		"128 cosines": {func(job byte) feature.Mapping { return featuresOf(job, 128, 123, 0.03) }, 8, []float64{.838, .835, .831, .822}},
	} {
		got := noisyAccuracies(t, c.features, c.length, rows, codes)
		for i, v := range got {
			if v < c.least[i] {
				t.Errorf("%s: accuracies %.4f, want %.3f", name, got, c.least)
				break
			}
		}
	}
}

// With 300 rows and epsilon 1 nothing is learnt: to answer always with the larger class is right for .764 of the test rows.
func TestA9aWithNoiseOfFewRows(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	rows, codes := adults(t, "a9a")
	few := make([]int, 300)
	for i := range few {
		few[i] = 100 * i
	}
	of := make([]int, len(few))
	for i, k := range few {
		of[i] = codes[k]
	}
	if got := noisyAccuracies(t, linearAdults, 1, linalg.Pick(rows, few), of); got[3] > .775 || got[0] < .775 {
		t.Errorf("accuracies %.4f, want at most .775 for epsilon 1 and more for epsilon 8", got)
	}
}
