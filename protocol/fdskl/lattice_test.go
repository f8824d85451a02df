package fdskl

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/mercer-fl/mercer/dataset/bundled"
	"github.com/mercer-fl/mercer/internal/attack/lattice"
	"github.com/mercer-fl/mercer/kernel/feature"
	"github.com/mercer-fl/mercer/linalg"
)

// Private directions do not hide values on a grid. Phases that do not wrap around are a linear map
// of the others' columns, and so the differences of rows are a lattice. Its reduced basis is a vector
// along each column, and the coordinates of the rows are the values; see package lattice. The
// attacker knows no row, no direction and no spectrum.

// TestAttackLatticeReadsColumns: pixels in all of 400 images, in mode hardened, with 2,048 directions
// in 16 bits. It reads none where nearly all directions wrap around.
func TestAttackLatticeReadsColumns(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	for _, tt := range []struct {
		gamma float64
		first int // the first pixel of the other worker
		vary  int // its pixels that vary
		least int // pixels that are read
		most  int
	}{{.1, 32, 27, 24, 27}, {.1, 48, 14, 14, 14}, {.5, 48, 14, 14, 14}, {.5, 32, 27, 0, 0}} {
		x := images(t, tt.first)
		table, own := twoWorkers(t, x, tt.gamma)
		straight := unwrapped(phaseDifferences(table, own))
		if wrapped := attackDirections - straight.Cols; (wrapped*10 > 9*attackDirections) != (tt.most == 0) {
			t.Errorf("gamma %v, pixels from %d on: %d of %d directions wrap around", tt.gamma, tt.first, wrapped, attackDirections)
		}
		gram := reduced(straight, tt.vary)
		r := lattice.ReadNoisy(gram, 1e-3)
		for k := range r.Columns {
			r.Columns[k].Step = 1. / 16 // pixels are whole numbers; their unit is not in the phases
		}
		got := r.Recovered(fromFirst(x), 1./64)
		t.Logf("gamma %v: %d of %d pixels that vary", tt.gamma, len(got), tt.vary)
		if len(got) < tt.least || len(got) > tt.most {
			t.Errorf("gamma %v, pixels from %d on: %d pixels are read in all images, want %d to %d", tt.gamma, tt.first, len(got), tt.least, tt.most)
		}
	}
}

// images returns the pixels from the given one on of the bundled digits, from 0 to 1.
func images(t *testing.T, first int) linalg.Matrix[float64] {
	t.Helper()
	set, err := bundled.Load("digits")
	if err != nil {
		t.Fatal(err)
	}
	x, image := linalg.New[float64](attackRows, 64-first), make([]float64, 64)
	for i := range x.Rows {
		set.X.Row(i, image)
		for j := range x.Row(i) {
			x.Row(i)[j] = image[first+j] / 16
		}
	}
	return x
}

// twoWorkers runs a session of an active worker with a column of zeros and a passive one with x.
func twoWorkers(t *testing.T, x linalg.Matrix[float64], gamma float64) (*Table, Source) {
	t.Helper()
	var sources []Source
	for w, part := range []linalg.Matrix[float64]{linalg.New[float64](x.Rows, 1), x} {
		d := directions(byte(10+w), 0, part.Cols)
		d.Spectrum = feature.RBF(gamma)
		sources = append(sources, feature.NewPhases(part, d, 16))
	}
	f := joined(t, Spec{Mode: Hardened, Rows: attackRows, Directions: attackDirections}, sources)
	s, r := f.run(t, f.table, nil)
	if err := r.Err(); err != nil {
		t.Fatal(err)
	}
	return s.(*Table), sources[0]
}

// unwrapped returns the columns of a matrix of angles in which no angle is near the far side of the
// columns' mean, without turns, as differences to the first row.
func unwrapped(angles linalg.Matrix[float64]) linalg.Matrix[float64] {
	const near = 2.2 // radians from the mean
	var chosen [][]float64
	for j := range angles.Cols {
		sin, cos, column, most := 0.0, 0.0, make([]float64, angles.Rows), 0.0
		for i := range column {
			s, c := math.Sincos(angles.Row(i)[j])
			sin, cos = sin+s, cos+c
		}
		mean := math.Atan2(sin, cos)
		for i := range column {
			column[i] = math.Remainder(angles.Row(i)[j]-mean, 2*math.Pi)
			most = max(most, math.Abs(column[i]))
		}
		if most < near {
			chosen = append(chosen, column)
		}
	}
	out := linalg.New[float64](angles.Rows, len(chosen))
	for k, column := range chosen {
		for i, v := range column {
			out.Row(i)[k] = (v - column[0]) / math.Sqrt(float64(len(chosen)))
		}
	}
	return out
}

// reduced returns the Gram matrix of the rows of x, projected onto the given number of dimensions.
// The active worker knows this number: the others have declared their columns.
func reduced(x linalg.Matrix[float64], dimensions int) linalg.Matrix[float64] {
	gram, n := linalg.New[float64](x.Rows, x.Rows), x.Rows
	linalg.MulTransB(gram, x, x)
	var eigen mat.EigenSym
	if !eigen.Factorize(mat.NewSymDense(n, gram.Data), true) {
		panic("no eigenvalues")
	}
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)
	values := eigen.Values(nil)
	out := linalg.New[float64](n, n)
	for k := n - dimensions; k < n; k++ {
		for i := range n {
			for j := range n {
				out.Row(i)[j] += values[k] * vectors.At(i, k) * vectors.At(j, k)
			}
		}
	}
	return out
}

// fromFirst returns the differences of the rows to the first one.
func fromFirst(x linalg.Matrix[float64]) linalg.Matrix[float64] {
	out := linalg.New[float64](x.Rows, x.Cols)
	for i := range x.Rows {
		for j, v := range x.Row(i) {
			out.Row(i)[j] = v - x.Row(0)[j]
		}
	}
	return out
}
