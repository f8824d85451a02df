package dataset

import (
	"math"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mercer-fl/mercer/linalg"
	"pgregory.net/rapid"
)

func drawLabels(t *rapid.T) []string {
	classes := rapid.IntRange(1, 5).Draw(t, "classes")
	return rapid.SliceOfN(rapid.Map(rapid.IntRange(0, classes-1), strconv.Itoa), 2, 80).Draw(t, "labels")
}

// checkCover wants ascending parts that hold each of n rows once.
func checkCover(t *rapid.T, n int, parts ...[]int) {
	t.Helper()
	var all []int
	for _, part := range parts {
		if !slices.IsSorted(part) {
			t.Fatalf("part %v does not ascend", part)
		}
		all = append(all, part...)
	}
	slices.Sort(all)
	if !slices.Equal(all, linalg.Range(0, n)) {
		t.Fatalf("parts %v do not cover %d rows once", parts, n)
	}
}

func count(labels []string, rows []int) map[string]int {
	n := make(map[string]int)
	for _, i := range rows {
		n[labels[i]]++
	}
	return n
}

func TestSplit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		labels := drawLabels(t)
		fraction := rapid.Float64Range(0.01, 0.99).Draw(t, "fraction")
		seed := rapid.Uint64().Draw(t, "seed")
		all := count(labels, linalg.Range(0, len(labels)))
		train, test, err := Split(labels, fraction, seed)
		if largest := largestOf(all); largest < 2 {
			if err == nil {
				t.Fatal("classes of one row each were split")
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		checkCover(t, len(labels), train, test)
		inTrain, inTest := count(labels, train), count(labels, test)
		for class, n := range all {
			if inTrain[class] == 0 {
				t.Fatalf("class %s of %d rows is not in train", class, n)
			}
			if off := math.Abs(float64(inTest[class]) - fraction*float64(n)); off >= 1 && inTrain[class] > 1 {
				t.Fatalf("class %s has %d of %d rows in test, fraction %v", class, inTest[class], n, fraction)
			}
		}
		again, _, err := Split(labels, fraction, seed)
		if err != nil || !slices.Equal(train, again) {
			t.Fatalf("the same seed gives %v and %v, error %v", train, again, err)
		}
	})
}

func largestOf(counts map[string]int) int {
	most := 0
	for _, n := range counts {
		most = max(most, n)
	}
	return most
}

func TestSplitPlain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 100).Draw(t, "rows")
		fraction := rapid.Float64Range(0.001, 0.999).Draw(t, "fraction")
		train, test, err := SplitPlain(n, fraction, rapid.Uint64().Draw(t, "seed"))
		if err != nil {
			t.Fatal(err)
		}
		checkCover(t, n, train, test)
		if off := math.Abs(float64(len(test)) - fraction*float64(n)); off > 0.5 && len(test) > 1 && len(train) > 1 {
			t.Fatalf("%d of %d rows in test, fraction %v", len(test), n, fraction)
		}
		if len(test) == 0 || len(train) == 0 {
			t.Fatal("an empty part")
		}
	})
}

// The rows of a plain test set are drawn by the seed, each as often as any other.
func TestSplitPlainDrawsRows(t *testing.T) {
	const rows, seeds = 40, 400
	times := make([]int, rows)
	for seed := range uint64(seeds) {
		_, test, err := SplitPlain(rows, .25, seed)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range test {
			times[i]++
		}
	}
	for i, n := range times { // within five deviations
		if math.Abs(float64(n)-seeds/4) > 5*math.Sqrt(seeds*.25*.75) {
			t.Errorf("row %d is in %d of %d test sets, want about a quarter", i, n, seeds)
		}
	}
}

func TestFolds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		labels := drawLabels(t)
		k := rapid.IntRange(2, min(10, len(labels))).Draw(t, "k")
		folds, err := Folds(labels, k, rapid.Uint64().Draw(t, "seed"))
		if err != nil {
			t.Fatal(err)
		}
		checkDealt(t, labels, folds)
		for _, fold := range folds {
			checkCover(t, len(labels), fold, Complement(len(labels), fold))
		}
	})
}

// checkDealt wants parts that cover all rows and differ by one row at most, also
// within each class.
func checkDealt(t *rapid.T, labels []string, parts [][]int) {
	t.Helper()
	checkCover(t, len(labels), parts...)
	for class, n := range count(labels, linalg.Range(0, len(labels))) {
		for _, part := range parts {
			if got := count(labels, part)[class]; got < n/len(parts) || got > (n-1)/len(parts)+1 {
				t.Fatalf("class %s has %d of %d rows in one of %d parts", class, got, n, len(parts))
			}
		}
	}
	for _, part := range parts {
		if len(part) < len(labels)/len(parts) || len(part) > (len(labels)-1)/len(parts)+1 {
			t.Fatalf("%d of %d rows in one of %d parts", len(part), len(labels), len(parts))
		}
	}
}

// goldenLabels are 12 rows of class a, 6 of b and 2 of c, mixed.
func goldenLabels() []string {
	labels := make([]string, 20)
	for i := range labels {
		labels[i] = []string{"a", "b", "a", "a", "b", "a", "a", "b", "a", "c"}[i%10]
	}
	return labels
}

// The golden rows pin the samplers: a change to them changes every result that was
// ever published with a seed.
func TestGoldenRows(t *testing.T) {
	labels := goldenLabels()
	_, test, err := Split(labels, 0.25, 1)
	golden(t, "Split", test, err, []int{5, 7, 8, 11, 16})
	_, test, err = SplitPlain(20, 0.25, 1)
	golden(t, "SplitPlain", test, err, []int{5, 7, 12, 13, 16})
	_, test, err = Every(20, 6)
	golden(t, "Every", test, err, []int{5, 11, 17})
	folds, err := Folds(labels, 3, 1)
	golden(t, "Folds", folds, err, [][]int{
		{0, 6, 7, 9, 10, 17, 18},
		{1, 3, 8, 11, 12, 15, 19},
		{2, 4, 5, 13, 14, 16},
	})
	folds, err = FoldsPlain(9, 2, 1)
	golden(t, "FoldsPlain", folds, err, [][]int{
		{1, 2, 5, 6, 8},
		{0, 3, 4, 7},
	})
	shares, err := ByRows(slices.Repeat(labels, 3), 3, 0, 1)
	golden(t, "ByRows", shares, err, [][]int{
		{0, 9, 13, 15, 17, 18, 21, 23, 28, 30, 31, 34, 36, 38, 40, 44, 49, 52, 57, 58},
		{1, 2, 3, 7, 10, 12, 14, 19, 25, 33, 35, 41, 43, 46, 47, 50, 51, 53, 55, 59},
		{4, 5, 6, 8, 11, 16, 20, 22, 24, 26, 27, 29, 32, 37, 39, 42, 45, 48, 54, 56},
	})
	shares, err = ByRows(slices.Repeat(labels, 3), 3, 0.3, 1)
	golden(t, "ByRows skewed", shares, err, [][]int{
		{2, 5, 10, 12, 15, 16, 18, 20, 23, 25, 31, 32, 35, 36, 37, 43, 46, 52, 58},
		{0, 6, 8, 9, 13, 22, 26, 28, 29, 38, 42, 45, 48, 49, 53, 56},
		{1, 3, 4, 7, 11, 14, 17, 19, 21, 24, 27, 30, 33, 34, 39, 40, 41, 44, 47, 50, 51, 54, 55, 57, 59},
	})
	shares, err = ByRowsPlain(25, 2, 1)
	golden(t, "ByRowsPlain", shares, err, [][]int{
		{0, 4, 5, 6, 11, 12, 14, 17, 18, 19, 21, 22, 23},
		{1, 2, 3, 7, 8, 9, 10, 13, 15, 16, 20, 24},
	})
}

func golden[T any](t *testing.T, what string, got T, err error, want T) {
	t.Helper()
	if err != nil {
		t.Errorf("%s: %v", what, err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func TestSplitsRefuse(t *testing.T) {
	split := func(labels []string, fraction float64) error { _, _, err := Split(labels, fraction, 1); return err }
	every := func(n, k int) error { _, _, err := Every(n, k); return err }
	plain := func(n int, fraction float64) error { _, _, err := SplitPlain(n, fraction, 1); return err }
	folds := func(labels []string, k int) error { _, err := Folds(labels, k, 1); return err }
	foldsPlain := func(n, k int) error { _, err := FoldsPlain(n, k, 1); return err }
	two := []string{"a", "a"}
	tests := []struct {
		err  error
		want string
	}{
		{split(two, 0), "dataset: the test fraction is 0; choose one between 0 and 1"},
		{split(two, 1), "dataset: the test fraction is 1; choose one between 0 and 1"},
		{split(two, math.NaN()), "dataset: the test fraction is NaN; choose one between 0 and 1"},
		{split(two[:1], .5), "dataset: 1 rows cannot be split; give at least two"},
		{split([]string{"1", "2"}, .5), "dataset: no class has two rows, so none can be split; use SplitPlain if the labels are targets"},
		{plain(2, 2), "dataset: the test fraction is 2; choose one between 0 and 1"},
		{plain(0, .5), "dataset: 0 rows cannot be split; give at least two"},
		{every(5, 1), "dataset: cannot hold out every 1-th of 5 rows; choose a number from 2 to the number of rows"},
		{every(5, 6), "dataset: cannot hold out every 6-th of 5 rows; choose a number from 2 to the number of rows"},
		{folds(two, 1), "cannot make 1 folds from 2 rows; choose at least 2 folds and at most one for each row"},
		{folds(two, 3), "cannot make 3 folds from 2 rows; choose at least 2 folds and at most one for each row"},
		{foldsPlain(9, 0), "cannot make 0 folds from 9 rows; choose at least 2 folds and at most one for each row"},
	}
	for _, tt := range tests {
		if tt.err == nil || tt.err.Error() != tt.want {
			t.Errorf("error %v, want %s", tt.err, tt.want)
		}
	}
}
