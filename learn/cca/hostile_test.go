package cca

import (
	"math"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/linalg"
)

// TestHostileKernels: views without variance, of one row, or beyond float64
// have no functions, and the error says so.
func TestHostileKernels(t *testing.T) {
	fill := func(n int, on, off float64) linalg.Matrix[float64] {
		m := linalg.New[float64](n, n)
		for i := range n {
			for j := range m.Row(i) {
				m.Row(i)[j] = off
			}
			m.Row(i)[i] = on
		}
		return m
	}
	const none = "cca: the views have 0 pairs with a correlation above 1e-05, but components is 1"
	for _, c := range []struct {
		name string
		x, y linalg.Matrix[float64]
		p    Params
		want string
	}{
		{"no rows", fill(0, 0, 0), fill(0, 0, 0), Params{Components: 1, Regularization: 1}, "cca: components is 1 for 0 rows"},
		{"one row", fill(1, 5, 0), fill(1, 5, 0), Params{Components: 1, Regularization: 1}, none},
		{"zeros", fill(4, 0, 0), fill(4, 1, 0), Params{Components: 1, Regularization: 1}, none},
		{"no variance in y", fill(4, 1, 0), fill(4, 3, 3), Params{Components: 1, Regularization: 1}, none},
		{"tiny", fill(4, 1e-300, 0), fill(4, 1, 0), Params{Components: 1, Regularization: 1}, none},
		{"infinite", fill(4, 1, 0), fill(4, math.Inf(1), 0), Params{Components: 1, Regularization: 1}, "cca: view y: the kernel matrix holds a NaN or an infinity"},
		{"huge", fill(4, 1e308, 1e308), fill(4, 1, 0), Params{Components: 1, Regularization: 1}, "cca: view x: the kernel matrix holds a NaN or an infinity"},
		{"all the variance there is", fill(4, 1, 0), fill(4, 1, 0), Params{Components: 4, Regularization: 1}, "cca: the views have 3 pairs"},
		{"regularization of nothing", fill(4, 1, 0), fill(4, 1, 0), Params{Components: 1, Regularization: 5e-324}, "cca: view x: regularization is too small"},
		{"regularization beyond float64", fill(4, 1, 0), fill(4, 1, 0), Params{Components: 1, Regularization: 1e308}, "cca: regularization is 1e+308; it must be above 0, and its product with the number of rows, 4, must be finite"},
		{"regularization NaN", fill(4, 1, 0), fill(4, 1, 0), Params{Components: 1, Regularization: math.NaN()}, "cca: regularization is NaN"},
	} {
		if _, err := Fit(kernel.Dense{K: c.x}, kernel.Dense{K: c.y}, c.p); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
		}
	}
}

// TestDuplicates: rows that are there twice change no correlation, if the
// regularization per row stays.
func TestDuplicates(t *testing.T) {
	x, y := noise(12, 2, 3), noise(12, 2, 4)
	twice := func(m linalg.Matrix[float64]) linalg.Matrix[float64] {
		return linalg.Matrix[float64]{Rows: 2 * m.Rows, Cols: m.Cols, Stride: m.Cols, Data: append(append([]float64(nil), m.Data...), m.Data...)}
	}
	p := Params{Components: 3, Regularization: 0.05}
	once := fit(t, rbf(x, x), rbf(y, y), p)
	x, y = twice(x), twice(y)
	both := fit(t, rbf(x, x), rbf(y, y), p)
	for i, want := range once.Correlations {
		if got := both.Correlations[i]; math.Abs(got-want) > 1e-9 {
			t.Errorf("correlation %d is %v, of every row once %v", i, got, want)
		}
	}
}
