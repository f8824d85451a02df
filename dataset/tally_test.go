package dataset

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mercer-fl/mercer/linalg"
)

// steadySlowly finds the same as NearConstantColumns by counting everything.
func steadySlowly(m linalg.Matrix[float64], rows []int, least int) []NearConstant {
	var list []NearConstant
	for j := range m.Cols {
		count, most := make(map[float64]int), 0
		for _, i := range rows {
			count[m.Row(i)[j]]++
			most = max(most, count[m.Row(i)[j]])
		}
		if len(rows)-most >= least {
			continue
		}
		for _, i := range rows { // the first of equals
			if v := m.Row(i)[j]; count[v] == most {
				list = append(list, NearConstant{j, v, len(rows) - most})
				break
			}
		}
	}
	return list
}

// Dense and sparse tables have the same steady columns as by counting all values, whatever the rows.
func TestSteadyColumns(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 1))
	for range 100 {
		n, f := 1+r.IntN(120), 1+r.IntN(12)
		m := linalg.New[float64](n, f)
		for j := range f {
			most, odds := float64(r.IntN(2)), 1+r.IntN(2*n)
			for i := range n {
				if m.Row(i)[j] = most; r.IntN(2*n) < odds/4 {
					m.Row(i)[j] = float64(r.IntN(3))
				}
			}
		}
		var rows []int
		for i := range n {
			if r.IntN(5) > 0 {
				rows = append(rows, i)
			}
		}
		if len(rows) == 0 {
			continue
		}
		want := steadySlowly(m, rows, 10)
		if diff := cmp.Diff(want, NearConstantColumns(NewDense(m), rows, 10)); diff != "" {
			t.Fatalf("dense, %d rows: %s", len(rows), diff)
		}
		got := NearConstantColumns(sparseOf(NewDense(m)), rows, 10)
		for k := range got { // of two values that as many rows have either may stand
			if len(rows) < 20 && k < len(want) && got[k].Few == want[k].Few {
				got[k].Value = want[k].Value
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("sparse, %d rows: %s", len(rows), diff)
		}
	}
	if got := NearConstantColumns(NewDense(linalg.New[float64](3, 2)), nil, 10); got != nil {
		t.Errorf("of no rows: %v", got)
	}
	signs := linalg.Matrix[float64]{Rows: 12, Cols: 1, Stride: 1, Data: append(slices.Repeat([]float64{0}, 11), 1)}
	if got := NearConstantColumns(NewDense(signs), linalg.Range(0, 12), 1); got != nil {
		t.Errorf("one other value, of which none is few: %v", got)
	}
}
