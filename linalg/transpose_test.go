package linalg_test

import (
	"testing"

	"github.com/mercer-fl/mercer/linalg"
)

// Squares of a matrix with wide rows to ones whose rows are near, and nothing
// between them: rows that begin with lines of the cache, and others.
func TestTransposeSquares(t *testing.T) {
	onEachPath(t, func(t *testing.T, p linalg.Path) {
		t.Run("float64", func(t *testing.T) { squaresOfAll[float64](t, p) })
		t.Run("float32", func(t *testing.T) { squaresOfAll[float32](t, p) })
	})
}

func squaresOfAll[T linalg.Float](t *testing.T, p linalg.Path) {
	side := linalg.Side[T](p)
	for past, transpose := range linalg.Transposers[T](p) {
		for _, n := range []int{0, 1, 3} {
			for _, toDistance := range []int{side + 3, 2 * side} {
				toStep, fromDistance, fromStep := toDistance*side+side, 5*side+1, side+1
				from, to := noise[T](1, 8*side*side, 2).Row(0), make([]T, 8*side*side)
				transpose(n, to, toDistance, toStep, from, fromDistance, fromStep)
				written := make([]bool, len(to))
				for i := range n * side * side {
					s, r, c := i/(side*side), i/side%side, i%side
					at := s*toStep + c*toDistance + r
					written[at] = true
					if want := from[s*fromStep+r*fromDistance+c]; to[at] != want {
						t.Fatalf("way %d, square %d: entry (%d, %d) is %v, want %v", past, s, c, r, to[at], want)
					}
				}
				for i, v := range to {
					if !written[i] && v != 0 {
						t.Fatalf("way %d, %d squares: wrote value %d, which is in none", past, n, i)
					}
				}
			}
		}
	}
}

func TestTransposeSquaresRefuses(t *testing.T) {
	x, transpose := make([]float64, 64), linalg.Transposers[float64](linalg.Portable)[0]
	for name, f := range map[string]func(){
		"to":   func() { transpose(1, x[:63], 8, 64, x, 8, 64) },
		"from": func() { transpose(1, x, 8, 64, x[:63], 8, 64) },
	} {
		if recovered(f) == nil {
			t.Errorf("%s too short: no panic", name)
		}
	}
}
