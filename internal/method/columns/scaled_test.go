package columns

import (
	"math"
	"testing"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/linalg"
)

// A party scales its own columns by its training rows alone: standard gives them mean 0 and variance 1,
// minmax the range from 0 to 1. The held-out row, here far outside, changes nothing.
func TestColumnsAreScaledAsTheJobSays(t *testing.T) {
	x := linalg.Matrix[float64]{Rows: 5, Cols: 2, Stride: 2, Data: []float64{2, 100, 4, 300, 6, 200, 8, 600, 1e6, -1e6}}
	for scaling, check := range map[job.Scaling]func(low, high, mean, square float64) bool{
		job.Standard: func(_, _, mean, square float64) bool {
			return math.Abs(mean) < 1e-12 && math.Abs(square-1) < 1e-12
		},
		job.MinMax: func(low, high, _, _ float64) bool { return low == 0 && high == 1 },
		job.None:   func(low, high, _, _ float64) bool { return low >= 2 && high >= 8 },
	} {
		j := &job.Job{Data: job.Data{Scale: scaling}}
		_, scaled, err := PrepareAlone(j, method.Split{Set: &dataset.Set{X: dataset.NewDense(x)}, Test: HeldOutLast(4, 1)})
		if err != nil {
			t.Fatal(err)
		}
		rows := dataset.RowsOf(dataset.NewDense(x))
		if scaled.Offset != nil {
			rows = scaled.Rows(rows)
		}
		row := make([]float64, 2)
		for k := range 2 {
			low, high, mean, square := math.Inf(1), math.Inf(-1), 0., 0.
			for i := range 4 {
				rows.ReadRow(i, row)
				low, high, mean, square = min(low, row[k]), max(high, row[k]), mean+row[k]/4, square+row[k]*row[k]/4
			}
			if !check(low, high, mean, square) {
				t.Errorf("%s: column %d is from %v to %v with mean %v and mean square %v", scaling, k, low, high, mean, square)
			}
		}
	}
}

// A job with fraction 0.25 holds out a quarter of the common rows and learns from the other three
// quarters; rows are drawn by the parties' key, each as often as any other.
func TestThreeQuartersAreForTraining(t *testing.T) {
	j := &job.Job{Data: job.Data{Test: job.Test{Fraction: 0.25}}}
	train, test, err := heldOut(j, 400, [32]byte{1})
	if err != nil || len(train) != 300 || len(test) != 100 {
		t.Fatalf("%d rows for training, %d held out, %v; want 300 and 100", len(train), len(test), err)
	}
	for rows, want := range map[int]int{399: 100, 401: 100, 402: 101} { // rounded, a half up
		if _, test, err := heldOut(j, rows, [32]byte{1}); err != nil || len(test) != want {
			t.Errorf("%d of %d rows are held out, %v; want %d", len(test), rows, err, want)
		}
	}
	for fraction, want := range map[float64]int{.1: 40, .5: 200, .25: 100} {
		of := &job.Job{Data: job.Data{Test: job.Test{Fraction: fraction}}}
		if train, test, err := Sizes(of, 400); err != nil || test != want || train != 400-want {
			t.Errorf("fraction %v: %d rows for training, %d held out, %v; want %d held out", fraction, train, test, err, want)
		}
	}
	seen := make([]int, 400)
	for _, i := range append(train, test...) {
		seen[i]++
	}
	for i, n := range seen {
		if n != 1 {
			t.Errorf("row %d is in %d parts", i, n)
		}
	}
	const keys = 200
	times := make([]int, 400)
	for key := range keys {
		_, test, err := heldOut(j, 400, [32]byte{byte(key)})
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range test {
			times[i]++
		}
	}
	for i, n := range times { // within five deviations
		if math.Abs(float64(n)-keys/4) > 5*math.Sqrt(keys*.25*.75) {
			t.Errorf("row %d is held out %d times by %d keys, want about a quarter", i, n, keys)
		}
	}
}
