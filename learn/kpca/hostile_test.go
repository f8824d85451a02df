package kpca

import (
	"math"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/linalg"
)

// TestHostileKernels, on both sides of denseRows: no components out of nothing,
// and none out of rounding.
func TestHostileKernels(t *testing.T) {
	for _, n := range []int{1, 4, denseRows} {
		for _, c := range []struct {
			name    string
			on, off float64
			want    string
		}{
			{"zeros", 0, 0, "kpca: the centred kernel matrix has 0 components with a positive eigenvalue, but components is 1"},
			{"all rows the same", 3, 3, "kpca: the centred kernel matrix has 0 components"},
			{"the same, not in binary", 0.1, 0.1, "kpca: the centred kernel matrix has 0 components"},
			{"NaN", math.NaN(), 1, "kpca: the kernel matrix holds a NaN or an infinity"},
			{"infinite", math.Inf(-1), 1, "kpca: the kernel matrix holds a NaN or an infinity"},
		} {
			k := linalg.New[float64](n, n)
			for i := range k.Data {
				k.Data[i] = c.off
			}
			for i := range n {
				k.Row(i)[i] = c.on
			}
			if _, err := Fit(kernel.Dense{K: k}, 1); err == nil || !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("%d rows, %s: %v, want %s", n, c.name, err, c.want)
			}
		}
	}
	// All rows are equal up to the last bit: the mean is large, and the rest after
	// centring is rounding.
	k := linalg.New[float64](30, 30)
	for i := range k.Rows {
		for j := range i + 1 {
			k.Row(i)[j] = 0.1
			if (i*i+j*j)%3 == 0 {
				k.Row(i)[j] = math.Nextafter(0.1, 1)
			}
			k.Row(j)[i] = k.Row(i)[j]
		}
	}
	if m, err := Fit(kernel.Dense{K: k}, 1); err == nil || !strings.HasPrefix(err.Error(), "kpca: the centred kernel matrix has 0 components") {
		t.Errorf("the same but for rounding: %+v, %v", m, err)
	}
	if _, err := Fit(kernel.Dense{}, 1); err == nil || !strings.HasPrefix(err.Error(), "kpca: components is 1 for 0 rows") {
		t.Errorf("no rows: %v", err)
	}
}

// TestDuplicates: rows that are there twice double the eigenvalues and share
// their scores.
func TestDuplicates(t *testing.T) {
	x := noise(20, 3, 8)
	twice := linalg.Matrix[float64]{Rows: 40, Cols: 3, Stride: 3, Data: append(append([]float64(nil), x.Data...), x.Data...)}
	once, err := Fit(kernel.Of(kernel.LinearGram(x), rbf(t, 0.2)), 4)
	if err != nil {
		t.Fatal(err)
	}
	both, err := Fit(kernel.Of(kernel.LinearGram(twice), rbf(t, 0.2)), 4)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range once.Eigenvalues {
		if got := both.Eigenvalues[i]; math.Abs(got-2*want) > 1e-10*want {
			t.Errorf("eigenvalue %d is %v, want %v", i, got, 2*want)
		}
	}
	want, got := once.Scores(), both.Scores()
	for i := range 40 {
		for c, w := range want.Row(i % 20) {
			if math.Abs(got.Row(i)[c]-w) > 1e-9 {
				t.Fatalf("score %d of row %d is %v, want %v", c, i, got.Row(i)[c], w)
			}
		}
	}
}
