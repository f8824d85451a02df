package sealed

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/linalg"
)

// columns is a matrix with the given columns.
func columns(list ...[]float64) linalg.Matrix[float64] {
	m := linalg.New[float64](len(list[0]), len(list))
	for i, c := range list {
		for k, v := range c {
			m.Row(k)[i] = v
		}
	}
	return m
}

// randomColumns are columns of random direction and a norm below 1.
func randomColumns(r *rand.Rand, rows, cols int) linalg.Matrix[float64] {
	m := linalg.New[float64](rows, cols)
	for i := range cols {
		for k := range rows {
			m.Row(k)[i] = r.NormFloat64()
		}
		length := norm(m.Column(i)) / (1 - .1*r.Float64())
		for k := range rows {
			m.Row(k)[i] /= length
		}
	}
	return m
}

func accumulatorOf(t *testing.T, rows, features, targets int) *Accumulator {
	t.Helper()
	p, err := NewProblem(rows, features, targets, .01)
	if err != nil {
		t.Fatal(err)
	}
	a, err := NewAccumulator(p)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// The sums are those of whole numbers row by row, however the rows are divided into blocks. Features are scaled, and
// both are rounded towards zero.
func TestAccumulatorIsExact(t *testing.T) {
	const rows, features, targets = 1347, 7, 3
	r := rand.New(rand.NewPCG(1, 2))
	phi, y := randomColumns(r, features, rows), randomColumns(r, targets, rows)
	one, blocks := accumulatorOf(t, rows, features, targets), accumulatorOf(t, rows, features, targets)
	if err := one.Add(phi, y); err != nil {
		t.Fatal(err)
	}
	for lo, n := 0, 0; lo < rows; n++ {
		hi := min(lo+n, rows)
		var x, z [][]float64
		for i := lo; i < hi; i++ {
			x, z = append(x, phi.Column(i)), append(z, y.Column(i))
		}
		block, of := linalg.New[float64](features, 0), linalg.New[float64](targets, 0)
		if hi > lo {
			block, of = columns(x...), columns(z...)
		}
		if err := blocks.Add(block, of); err != nil {
			t.Fatal(err)
		}
		lo = hi
	}
	outer, cross := make([]int64, features*(features+1)/2), make([]int64, targets*features)
	for i := range rows {
		at := 0
		for k := range features {
			f := int64(phi.Row(k)[i] * math.Sqrt(2048./1347) * 32768) // rounds towards zero
			for j := k; j < features; j++ {
				outer[at] += f * int64(phi.Row(j)[i]*math.Sqrt(2048./1347)*32768)
				at++
			}
			for j := range targets {
				cross[j*features+k] += f * int64(y.Row(j)[i]*32768)
			}
		}
	}
	for name, a := range map[string]*Accumulator{"one block": one, "blocks": blocks} {
		if a.Rows() != rows {
			t.Errorf("%s: %d rows", name, a.Rows())
		}
		gotOuter, gotCross := a.Sums()
		if !slices.Equal(gotOuter, outer) || !slices.Equal(gotCross, cross) {
			t.Errorf("%s: other sums than those of single rows", name)
		}
	}
}

// The largest sums that a problem can have are exact: every row has the same single feature and target. They are those
// of a row times their number, and A does not exceed N.
func TestLargestSums(t *testing.T) {
	for _, rows := range []int{MaxRows, MaxRows/2 + 1} {
		a := accumulatorOf(t, rows, 1, 1)
		block := linalg.New[float64](1, 4096)
		for i := range block.Data {
			block.Data[i] = 1
		}
		for lo := 0; lo < rows; lo += 4096 {
			of := linalg.Matrix[float64]{Rows: 1, Cols: min(4096, rows-lo), Stride: 4096, Data: block.Data}
			if err := a.Add(of, of); err != nil {
				t.Fatal(err)
			}
		}
		b := a.problem.CellBits()
		row := int64(math.Ldexp(a.problem.RowScale(), b))
		outer, cross := a.Sums()
		if outer[0] != int64(rows)*row*row || cross[0] != int64(rows)*row<<b {
			t.Errorf("%d rows: sums %d and %d of a feature %d with %d bits", rows, outer[0], cross[0], row, b)
		}
		if err := a.problem.checkSums(outer, cross); err != nil {
			t.Errorf("%d rows: %v", rows, err)
		}
	}
}

// Rounding to the nearest would lengthen such rows.
func TestRoundingLengthensNoRow(t *testing.T) {
	for rows := 65; rows <= 128; rows++ {
		a := accumulatorOf(t, rows, 64, 1)
		row := make([]float64, 64)
		for k := range row {
			row[k] = 1. / 8
		}
		if err := a.Add(columns(row), columns([]float64{1})); err != nil {
			t.Errorf("%d rows: %v", rows, err)
		}
	}
}

// A row's norm is compared in whole numbers: the largest sum of two squares up to N/n is accepted, the next is refused.
func TestNormIsExact(t *testing.T) {
	tried := 0
	for rows := 65; rows < 128; rows++ {
		a := accumulatorOf(t, rows, 2, 1)
		most := int64(128) << (2 * a.problem.CellBits()) / int64(rows)
		for over := range int64(2) {
			first, second, ok := squares(most + over)
			if !ok {
				continue
			}
			tried++
			row := make([]float64, 2) // half a unit above the whole numbers, since it is rounded towards zero
			for k, v := range []int64{first, second} {
				row[k] = math.Ldexp(float64(v)+.5, -a.problem.CellBits()) / a.problem.RowScale()
			}
			if err := a.Add(columns(row), columns([]float64{0})); (err != nil) != (over == 1) {
				t.Errorf("%d rows, %d^2 + %d^2, %d above what is allowed: %v", rows, first, second, over, err)
			}
		}
	}
	if tried < 10 {
		t.Errorf("%d sums of two squares", tried)
	}
}

// squares returns whole numbers whose squares add up to n.
func squares(n int64) (a, b int64, ok bool) {
	for a = 1; a*a <= n; a++ {
		b = int64(math.Sqrt(float64(n - a*a)))
		if a*a+b*b == n {
			return a, b, true
		}
	}
	return 0, 0, false
}

func TestAccumulatorRefuses(t *testing.T) {
	a := accumulatorOf(t, 64, 2, 2)
	unit := math.Ldexp(1, -a.problem.CellBits())
	whole := []float64{1, 0}
	if err := a.Add(columns(whole, whole, whole), columns(whole, whole, whole)); err != nil {
		t.Fatal(err)
	}
	outer, cross := a.Sums()
	outer, cross = slices.Clone(outer), slices.Clone(cross)
	for name, c := range map[string]struct {
		features, targets linalg.Matrix[float64]
		says              string
	}{
		"long features":       {columns(whole, []float64{1, unit}), columns(whole, whole), "features of row 4 "},
		"long targets":        {columns(whole, whole), columns(whole, []float64{-1, -unit}), "targets of row 4 "},
		"many times too long": {columns([]float64{1e200, 0}), columns(whole), "features of row 3 "},
		"not a number":        {columns([]float64{math.NaN(), 0}), columns(whole), "features of row 3 "},
		"infinite":            {columns([]float64{0, math.Inf(-1)}), columns(whole), "features of row 3 "},
		"no target":           {columns(whole), columns([]float64{math.NaN(), 0}), "targets of row 3 "},
		"other features":      {columns([]float64{1}), columns(whole), "1 features"},
		"other targets":       {columns(whole), columns([]float64{1}), "1 targets"},
		"more targets' rows":  {columns(whole), columns(whole, whole), "2 targets of 2 rows"},
		"too many rows":       {linalg.New[float64](2, 62), linalg.New[float64](2, 62), "64 rows"},
	} {
		if err := a.Add(c.features, c.targets); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: error %v, want %q", name, err, c.says)
		}
	}
	if o, c := a.Sums(); a.Rows() != 3 || !slices.Equal(o, outer) || !slices.Equal(c, cross) {
		t.Error("a refused block has changed the sums")
	}
	if err := a.Add(linalg.New[float64](2, 61), linalg.New[float64](2, 61)); err != nil {
		t.Errorf("the last rows: %v", err)
	}
	if _, err := NewAccumulator(Problem{}); err == nil {
		t.Error("no problem: no error")
	}
}
