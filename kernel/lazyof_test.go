package kernel_test

import (
	"testing"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/linalg"
)

// TestNewLazyOf: rows of any kind give the matrix that is computed at once.
func TestNewLazyOf(t *testing.T) {
	x, csr := scattered(120, 17, 6)
	k := made(t, kernel.Spec{Name: "rbf", Gamma: 0.3})
	want := kernel.Of(kernel.LinearGram(x), k)
	checkSource(t, "a matrix", kernel.NewLazyOf(x, k), want, 0)
	checkSource(t, "rows that are read", kernel.NewLazyOf(linalg.Pick(x, linalg.Range(0, 120)), k), want, 0)
	checkSource(t, "sparse rows", kernel.NewLazyOf(dataset.RowsOf(csr), k), want, 1e-12)
	narrow, wide := linalg.New[float32](120, 17), linalg.New[float64](120, 17)
	for i, v := range x.Data {
		narrow.Data[i], wide.Data[i] = float32(v), float64(float32(v))
	}
	checkSource(t, "float32", kernel.NewLazyOf(narrow, k), kernel.Of(kernel.LinearGram(wide), k), 0)
}

// TestRowsSeveralTimes: a subset with every row twice, and subsets of it, ask each row's
// values once and have them in every place.
func TestRowsSeveralTimes(t *testing.T) {
	_, csr := scattered(60, 17, 7)
	lazy := kernel.NewLazySparse(csr, made(t, kernel.Spec{Name: "rbf", Gamma: 0.3}))
	whole := kernel.Materialize(lazy)
	all := linalg.Range(0, 60)
	which := append(all[:60:60], all...)
	for _, rows := range [][]int{linalg.Range(0, 120), {3, 63, 119, 0}, {5, 64}} {
		got, want := kernel.Subset(kernel.Subset(lazy, which), rows), kernel.Subset(whole, linalg.At(which, rows))
		g, w := kernel.Materialize(got).K, kernel.Materialize(want).K
		for i := range w.Data {
			if g.Data[i] != w.Data[i] {
				t.Fatalf("%d rows: entry %d is %v, want %v", len(rows), i, g.Data[i], w.Data[i])
			}
		}
		diagonal := make([]float64, len(rows))
		got.Diagonal(diagonal)
		for i, v := range diagonal {
			if v != w.Row(i)[i] {
				t.Errorf("%d rows: diagonal %d is %v", len(rows), i, v)
			}
		}
		checkPanel(t, "rows twice", got.(kernel.Panels), []int{0, len(rows) - 1})
	}
}

// TestBlocks: blocks are the rows of one large block, and no more than fit at a time.
func TestBlocks(t *testing.T) {
	x, _ := scattered(40, 5, 8)
	src := kernel.Of(kernel.LinearGram(x), made(t, kernel.Spec{Name: "rbf", Gamma: 0.3}))
	cols := make([]int, 1<<21) // two rows at a time
	for i := range cols {
		cols[i] = i % 40
	}
	rows, row, seen := []int{3, 1, 39, 0, 7}, make([]float64, 40), 0
	kernel.Blocks(src, rows, cols, func(lo int, block linalg.Matrix[float64]) {
		if lo != seen || block.Rows > 2 {
			t.Errorf("%d rows from %d on, want 2 at most from %d on", block.Rows, lo, seen)
		}
		seen += block.Rows
		for a := range block.Rows {
			src.Row(rows[lo+a], row)
			for j, v := range block.Row(a)[:80] {
				if v != row[j%40] {
					t.Fatalf("row %d, column %d is %v, want %v", lo+a, j, v, row[j%40])
				}
			}
		}
	})
	if seen != len(rows) {
		t.Errorf("%d rows, want %d", seen, len(rows))
	}
	kernel.Blocks(src, nil, nil, func(int, linalg.Matrix[float64]) { t.Error("a block of no rows") })
}
