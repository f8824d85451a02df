package linalg_test

import (
	"math"
	"testing"

	"github.com/mercer-fl/mercer/linalg"
)

func TestMulSparse(t *testing.T) {
	for _, shape := range [][3]int{{1, 1, 1}, {40, 300, 17}, {7, 33, 0}, {0, 4, 3}, {5, 0, 3}} {
		a, b := thin(shape[0]+3, shape[2], 1), noise[float64](shape[1], shape[2], 2)
		rows := make([]int, shape[0])
		for i := range rows {
			rows[i] = (5*i + 2) % (shape[0] + 3)
		}
		dst := noise[float64](shape[0], shape[1], 3)
		linalg.MulSparse(dst, a, rows, b)
		for i, r := range rows {
			for j := range b.Rows {
				want := 0.0
				for k, v := range a.Row(r) {
					want += v * b.Row(j)[k]
				}
				if got := dst.Row(i)[j]; math.Abs(got-want) > 1e-14*float64(shape[2]) {
					t.Errorf("%v: product of row %d with row %d is %v, want %v", shape, r, j, got, want)
				}
			}
		}
	}
}

// One row at a time, whose columns are gathered, gives the bits of all rows together, for which the
// matrix is transposed.
func TestMulSparseOfOneRow(t *testing.T) {
	const rows, columns = 40, 50
	a, b := thin(rows, columns, 3), noise[float64](7, columns, 4)
	all, one := linalg.New[float64](rows, 7), linalg.New[float64](1, 7)
	linalg.MulSparse(all, a, linalg.Range(0, rows), b)
	for i := range rows {
		linalg.MulSparse(one, a, []int{i}, b)
		for j, v := range one.Row(0) {
			if v != all.Row(i)[j] {
				t.Fatalf("row %d, column %d: %v alone, %v together", i, j, v, all.Row(i)[j])
			}
		}
	}
}

// BenchmarkMulSparseOfOneRow is one iteration of FDSKL on a row with 1,000 entries in 5,000 columns.
func BenchmarkMulSparseOfOneRow(b *testing.B) {
	a, w, dst := thin(100, 5000, 1), noise[float64](2048, 5000, 2), linalg.New[float64](1, 2048)
	for b.Loop() {
		linalg.MulSparse(dst, a, []int{8}, w)
	}
}

func TestMulSparseShapes(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	linalg.MulSparse(linalg.New[float64](2, 3), thin(4, 5, 1), []int{0, 1}, linalg.New[float64](3, 6))
}
