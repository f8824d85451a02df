package linalg_test

import (
	"testing"

	"github.com/mercer-fl/mercer/linalg"
)

// Squares of a matrix with wide rows to ones whose rows are near, and nothing
// between them.
func TestTransposeSquares(t *testing.T) {
	onEachPath(t, func(t *testing.T, p linalg.Path) {
		const toDistance, toStep, fromDistance, fromStep = 11, 90, 41, 9
		for _, n := range []int{0, 1, 3} {
			from, to, written := noise[float64](1, 400, 2).Row(0), make([]float64, 400), make([]bool, 400)
			linalg.TransposeSquares(p, n, to, toDistance, toStep, from, fromDistance, fromStep)
			for i := range n * 64 {
				s, r, c := i/64, i/8%8, i%8
				at := s*toStep + c*toDistance + r
				written[at] = true
				if want := from[s*fromStep+r*fromDistance+c]; to[at] != want {
					t.Fatalf("square %d: entry (%d, %d) is %v, want %v", s, c, r, to[at], want)
				}
			}
			for i, v := range to {
				if !written[i] && v != 0 {
					t.Fatalf("%d squares: wrote value %d, which is in none", n, i)
				}
			}
		}
	})
}

func TestTransposeSquaresRefuses(t *testing.T) {
	x := make([]float64, 64)
	for name, f := range map[string]func(){
		"to":   func() { linalg.TransposeSquares(linalg.Portable, 1, x[:63], 8, 64, x, 8, 64) },
		"from": func() { linalg.TransposeSquares(linalg.Portable, 1, x, 8, 64, x[:63], 8, 64) },
	} {
		if recovered(f) == nil {
			t.Errorf("%s too short: no panic", name)
		}
	}
}
