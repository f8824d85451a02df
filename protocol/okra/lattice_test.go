package okra

import (
	"slices"
	"testing"

	"github.com/mercer-fl/mercer/dataset/bundled"
	"github.com/mercer-fl/mercer/internal/attack/lattice"
	"github.com/mercer-fl/mercer/linalg"
)

// The Gram matrix can be the data: see package lattice. The attacker is the
// server of a session, with what came over the wire and nothing else.

// Measured: all 61 pixels that are not always 0, in every one of 1797 images, on
// either wire, with either dense encoder, whether all pixels share a step or
// each has been scaled by its own range, as the demonstration does. The values
// themselves are read, up to the pixels' order and sign.
func TestLatticeAttackReadsDigits(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	each := func(pixel []float64) float64 { return max(1, slices.Max(pixel)) } // the least is 0
	same := func([]float64) float64 { return 16 }
	for _, c := range []struct {
		name string
		spec Spec
		by   func(pixel []float64) float64
	}{
		{"each by its range, float32", Spec{}, each},
		{"each by its range, float64", Spec{Wire: Float64}, each},
		{"one step, haar", Spec{Encoder: Haar}, same},
		{"one step, hbh", Spec{Encoder: HBH}, same},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := digits(t, 1797, c.by)
			w := train(t, c.spec, Input{Rows: x.Panel(0, 900), Grid: true}, Input{Rows: x.Panel(900, x.Rows), Grid: true})
			r := lattice.Read(w.server().Gram())
			if got := r.Recovered(x, 1./64); len(got) != 61 || r.Rank != 61 { // a quarter of the smallest step
				t.Errorf("%d of 61 pixels read, rank %d", len(got), r.Rank)
			}
		})
	}
}

// TestLatticeAttackNeedsRows: of 52 images 51 pixels vary, and all are read
// although 52 rows do not outnumber 64 features; without the last image there is
// not one, and nothing that could be taken for one.
func TestLatticeAttackNeedsRows(t *testing.T) {
	for rows, want := range map[int]int{51: 0, 52: 51} {
		x := digits(t, rows, func([]float64) float64 { return 16 })
		w := train(t, Spec{}, Input{Rows: x.Panel(0, 20), Grid: true}, Input{Rows: x.Panel(20, rows), Grid: true})
		r := lattice.ReadExact(w.server().Gram(), 1./16)
		if got := r.Recovered(x, 1./64); len(got) != want || len(r.Columns) != want {
			t.Errorf("%d rows: %d pixels read, %d columns; want %d", rows, len(got), len(r.Columns), want)
		}
	}
}

// digits are the first n of the 1797 images of 8 x 8 pixels, from 0 to 16, each
// pixel divided by a number of its own.
func digits(t *testing.T, n int, by func(pixel []float64) float64) linalg.Matrix[float64] {
	t.Helper()
	set, err := bundled.Load("digits")
	if err != nil {
		t.Fatal(err)
	}
	x := linalg.New[float64](n, set.X.Cols())
	for i := range n {
		set.X.Row(i, x.Row(i))
	}
	pixel := make([]float64, n)
	for j := range x.Cols {
		for i := range pixel {
			pixel[i] = x.Row(i)[j]
		}
		divisor := by(pixel)
		for i, v := range pixel {
			x.Row(i)[j] = v / divisor
		}
	}
	return x
}
