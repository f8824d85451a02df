package feature

import (
	"math"
	"testing"

	"github.com/mercer-fl/mercer/linalg"
)

// Features of a short row are its columns over the bound, and a constant; no row is longer than 1, however long it was.
func TestLinear(t *testing.T) {
	l := Linear{Inputs: 3, Bound: 2}
	x := linalg.Matrix[float64]{Rows: 5, Cols: 3, Stride: 3, Data: []float64{0, 0, 0, 1, -.5, 0, 0, 2, 0, 30, 0, 40, -1e200, 1e200, 0}}
	phi := linalg.New[float64](5, l.Len())
	l.Rows(phi, x)
	for i, want := range [][]float64{{0, 0, 0}, {.5, -.25, 0}, {0, 1, 0}, {.6, 0, .8}, {0, 0, 0}} {
		sum := 0.0
		for j, v := range append(want, math.Sqrt(1./9)) {
			if got := phi.Row(i)[j]; math.Abs(got-math.Sqrt(.9)*v) > 1e-15 {
				t.Errorf("row %d, feature %d: %v, want %v", i, j, got, math.Sqrt(.9)*v)
			}
			sum += phi.Row(i)[j] * phi.Row(i)[j]
		}
		if sum > 1+1e-14 {
			t.Errorf("row %d: squared length %v", i, sum)
		}
	}
	if l.Len() != 4 || l.Width() != 3 {
		t.Errorf("%d features of %d columns", l.Len(), l.Width())
	}
}

// Columns is the transpose of Rows, bit for bit, also of a part of a wider matrix.
func TestLinearColumns(t *testing.T) {
	x := table(100, 7)
	l := Linear{Inputs: 7, Bound: 2.5}
	rows, columns := linalg.New[float64](100, 8), linalg.New[float64](8, 100)
	l.Rows(rows, x)
	l.Columns(columns, x)
	for i := range 100 {
		for j := range 8 {
			if rows.Row(i)[j] != columns.Row(j)[i] {
				t.Fatalf("row %d, feature %d: %v and %v", i, j, rows.Row(i)[j], columns.Row(j)[i])
			}
		}
	}
}

func TestLinearPanics(t *testing.T) {
	x := table(4, 3)
	for name, call := range map[string]func(){
		"rows":    func() { Linear{3, 1}.Rows(linalg.New[float64](5, 4), x) },
		"columns": func() { Linear{3, 1}.Columns(linalg.New[float64](3, 4), x) },
		"width":   func() { Linear{2, 1}.Rows(linalg.New[float64](4, 3), x) },
		"bound":   func() { Linear{3, 0}.Rows(linalg.New[float64](4, 4), x) },
		"NaN":     func() { Linear{3, math.NaN()}.Rows(linalg.New[float64](4, 4), x) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			call()
		}()
	}
}
