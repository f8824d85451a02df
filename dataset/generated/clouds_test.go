package generated

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mercer-fl/mercer/dataset"
)

// The clouds are where they are said to be, on both sides of a panel's end.
func TestClouds(t *testing.T) {
	const rows, columns = 5000, 20
	set, err := Clouds(rows, columns)
	if err != nil {
		t.Fatal(err)
	}
	if err := set.Validate(); err != nil {
		t.Fatal(err)
	}
	var sum, squares [2]float64
	different, row := 0, make([]float64, columns)
	for i := range rows {
		for _, v := range set.X.Row(i, row) {
			sum[i%2] += v
			squares[i%2] += v * v
		}
		if set.Labels[i] != []string{"0", "1"}[i%2] {
			different++
		}
	}
	for class, mean := range []float64{-apart, apart} {
		const n = rows / 2 * columns
		got := sum[class] / n
		if variance := squares[class]/n - got*got; math.Abs(got-mean) > .02 || math.Abs(variance-1) > .03 {
			t.Errorf("class %d: mean %v, variance %v", class, got, variance)
		}
	}
	if share := float64(different) / rows; math.Abs(share-wrong) > .01 {
		t.Errorf("%v of the labels are wrong", share)
	}
}

// A table depends on its size alone, not on how many cores draw it.
func TestCloudsAreTheSame(t *testing.T) {
	one, err := Clouds(9000, 3)
	if err != nil {
		t.Fatal(err)
	}
	other, err := Clouds(9000, 3)
	if err != nil {
		t.Fatal(err)
	}
	a, b := one.X.(*dataset.Dense32).Matrix(), other.X.(*dataset.Dense32).Matrix()
	if d := cmp.Diff(a.Data, b.Data) + cmp.Diff(one.Labels, other.Labels); d != "" {
		t.Error(d)
	}
	if a.Data[0] == a.Data[4096*3] {
		t.Error("two panels are the same")
	}
}

func TestCloudsRefuse(t *testing.T) {
	for _, c := range []struct {
		rows, columns int
		want          string
	}{
		{0, 1, "0 rows"}, {1, 0, "0 columns"}, {-1, 1, "-1 rows"}, {1, dataset.MaxColumns + 1, "at most"},
		{dataset.MaxCells, 2, "numbers are allowed"}, {math.MaxInt, 2, "numbers are allowed"},
	} {
		if _, err := Clouds(c.rows, c.columns); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%d x %d: error %v", c.rows, c.columns, err)
		}
	}
}
