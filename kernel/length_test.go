package kernel_test

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/linalg"
)

// medianTwin sorts all distances.
func medianTwin(dot linalg.Matrix[float64], rows []int) float64 {
	var all []float64
	for a, i := range rows {
		for _, j := range rows[:a] {
			all = append(all, max(0, dot.Row(i)[i]+dot.Row(j)[j]-2*dot.Row(i)[j]))
		}
	}
	slices.Sort(all)
	m := len(all)
	return (all[(m-1)/2] + all[m/2]) / 2
}

func TestMedianSquaredDistance(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 40).Draw(t, "rows")
		x := linalg.New[float64](n, 3)
		for i := range x.Data { // whole numbers make ties, and distances of 0
			x.Data[i] = float64(rapid.IntRange(-3, 3).Draw(t, "value")) * rapid.SampledFrom([]float64{1, 1, 1e-9, 0.1}).Draw(t, "unit")
		}
		dot := kernel.LinearGram(x)
		var rows []int
		for i := range n {
			if i < 2 || rapid.Bool().Draw(t, "in") {
				rows = append(rows, i)
			}
		}
		if got, want := kernel.MedianSquaredDistance(dot, rows), medianTwin(dot, rows); got != want {
			t.Fatalf("median %v, want %v", got, want)
		}
	})
}

// More rows than one core takes at a time.
func TestMedianSquaredDistanceOfManyRows(t *testing.T) {
	dot := kernel.LinearGram(noise(500, 4, 3))
	rows := make([]int, 500)
	for i := range rows {
		rows[i] = i
	}
	if got, want := kernel.MedianSquaredDistance(dot, rows), medianTwin(dot, rows); got != want {
		t.Errorf("median %v, want %v", got, want)
	}
}

func TestLengthsOfFewRows(t *testing.T) {
	dot := linalg.Matrix[float64]{Rows: 2, Cols: 2, Stride: 2, Data: []float64{4, 1, 1, 10}}
	if v := kernel.MedianSquaredDistance(dot, []int{1}); !math.IsNaN(v) {
		t.Errorf("the median distance of one row is %v", v)
	}
	if v := kernel.MedianSquaredDistance(dot, []int{0, 1}); v != 12 {
		t.Errorf("the only distance is %v, want 12", v)
	}
	if v := kernel.MeanSquaredNorm(dot, []int{0, 1}); v != 7 {
		t.Errorf("mean squared norm %v, want 7", v)
	}
	if v := kernel.MeanSquaredNorm(dot, nil); !math.IsNaN(v) {
		t.Errorf("the mean squared norm of no rows is %v", v)
	}
}
