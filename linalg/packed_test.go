package linalg_test

import (
	"fmt"
	"testing"

	"github.com/mercer-fl/mercer/linalg"
)

// gathered returns the matrix whose parts Products hands out.
func gathered(rows, cols int, run func(use func(lo, hi int, dots linalg.Matrix[float64]))) linalg.Matrix[float64] {
	out := gapped[float64](rows, cols)
	run(func(lo, hi int, dots linalg.Matrix[float64]) {
		for i := range rows {
			copy(out.Row(i)[lo:hi], dots.Row(i))
		}
	})
	return out
}

func chosen[T linalg.Float](m linalg.Matrix[T], rows []int) linalg.Matrix[T] {
	out := linalg.New[T](len(rows), m.Cols)
	for a, i := range rows {
		copy(out.Row(a), m.Row(i))
	}
	return out
}

func descending(n int) []int {
	rows := make([]int, n)
	for i := range rows {
		rows[i] = n - 1 - i
	}
	return rows
}

// TestProductsAreThoseOfMulTransB: bit for bit, in float64 and from float32,
// for all rows and for some in another order.
func TestProductsAreThoseOfMulTransB(t *testing.T) {
	for _, s := range [][3]int{{0, 5, 3}, {3, 0, 4}, {4, 7, 0}, {1, 1, 1}, {8, 24, 5}, {9, 25, 257}, {13, 311, 513}, {100, 1000, 30}} {
		m, n, k := s[0], s[1], s[2]
		a, b := noise[float64](m, k, 1), noise[float64](n, k, 2)
		a32, b32 := noise[float32](m, k, 1), noise[float32](n, k, 2)
		left, right := descending(m), descending(n)
		want, wide, some := linalg.New[float64](m, n), linalg.New[float64](m, n), linalg.New[float64](m, n)
		linalg.MulTransB(want, chosen(a, left), b)
		linalg.MulTransBWide(wide, chosen(a32, left), b32)
		linalg.MulTransB(some, chosen(a, left), chosen(b, right))
		same(t, fmt.Sprint(s), gathered(m, n, func(use func(lo, hi int, dots linalg.Matrix[float64])) {
			linalg.Products(a, left, linalg.Pack(b, nil), use)
		}), want)
		same(t, fmt.Sprint(s, " float32"), gathered(m, n, func(use func(lo, hi int, dots linalg.Matrix[float64])) {
			linalg.Products(a32, left, linalg.Pack(b32, nil), use)
		}), wide)
		same(t, fmt.Sprint(s, " some"), gathered(m, n, func(use func(lo, hi int, dots linalg.Matrix[float64])) {
			linalg.Products(a, left, linalg.Pack(b, right), use)
		}), some)
	}
}

func TestProductsRefuseOtherWidths(t *testing.T) {
	b := linalg.Pack(linalg.New[float64](2, 3), nil)
	if recovered(func() { linalg.Products(linalg.New[float64](2, 4), []int{0}, b, nil) }) == nil {
		t.Error("no panic")
	}
}

// stored is rows of a dense matrix without their zeros.
type stored struct{ linalg.Matrix[float64] }

func (s stored) Rows() int { return s.Matrix.Rows }
func (s stored) Cols() int { return s.Matrix.Cols }

func (s stored) Entries(i int) (cols []int32, values []float64) {
	for j, v := range s.Row(i) {
		if v != 0 {
			cols, values = append(cols, int32(j)), append(values, v)
		}
	}
	return cols, values
}

// thin keeps every fifth entry or so.
func thin(rows, cols int, seed uint64) stored {
	m := noise[float64](rows, cols, seed)
	for i := range rows {
		for j := range cols {
			if (7*i+3*j+i*j)%5 != 0 {
				m.Row(i)[j] = 0
			}
		}
	}
	return stored{m}
}

// TestSparseProducts: the sums of products, each rounded, in ascending columns.
func TestSparseProducts(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	for _, s := range [][2]int{{0, 3}, {1, 1}, {5, 0}, {40, 17}, {5000, 12}, {2500, 900}} {
		x := thin(s[0], s[1], 4)
		for i := range s[0] {
			for j := 1; j < s[1]; j += 2 { // every second column holds one value
				if x.Row(i)[j] != 0 {
					x.Row(i)[j] = .3
				}
			}
		}
		left := descending(min(s[0], 9))
		twin := func(right []int) linalg.Matrix[float64] {
			out := linalg.New[float64](len(left), len(right))
			for a, i := range left {
				for b, j := range right {
					for c, v := range x.Row(i) {
						out.Row(a)[b] += float64(v * x.Row(j)[c])
					}
				}
			}
			return out
		}
		all, some := descending(s[0]), descending(s[0]/2)
		for i := range all {
			all[i] = i
		}
		same(t, fmt.Sprint(s), gathered(len(left), len(all), func(use func(lo, hi int, dots linalg.Matrix[float64])) {
			linalg.SparseProducts(x, left, linalg.PackSparse(x, nil), use)
		}), twin(all))
		same(t, fmt.Sprint(s, " some"), gathered(len(left), len(some), func(use func(lo, hi int, dots linalg.Matrix[float64])) {
			linalg.SparseProducts(x, left, linalg.PackSparse(x, some), use)
		}), twin(some))
		norms, own := linalg.SparseSquaredNorms(x), twin(all)
		for a, i := range left {
			if norms[i] != own.Row(a)[i] {
				t.Fatalf("%v: squared norm %d is %v, want %v", s, i, norms[i], own.Row(a)[i])
			}
		}
	}
}
