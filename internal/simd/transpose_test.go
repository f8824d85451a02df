package simd_test

import (
	"math/rand/v2"
	"testing"

	"github.com/mercer-fl/mercer/internal/simd"
)

// Squares of a matrix with wide rows to ones whose rows are near, and nothing
// between them: rows that begin with lines of the cache, and others.
func TestTransposeSquares(t *testing.T) {
	onEachPath(t, func(t *testing.T, p simd.Path) {
		t.Run("float64", func(t *testing.T) { squaresOfAll[float64](t, p) })
		t.Run("float32", func(t *testing.T) { squaresOfAll[float32](t, p) })
	})
}

// onEachPath runs a test for all paths of this machine.
func onEachPath(t *testing.T, f func(t *testing.T, p simd.Path)) {
	for _, p := range simd.Paths() {
		t.Run(p.String(), func(t *testing.T) { f(t, p) })
	}
}

// noise returns n Gaussian values, a tenth of them zero.
func noise[T float32 | float64](n int, seed uint64) []T {
	src, x := rand.New(rand.NewPCG(seed, 0)), make([]T, n)
	for i := range x {
		if src.IntN(10) > 0 {
			x[i] = T(src.NormFloat64())
		}
	}
	return x
}

func squaresOfAll[T float32 | float64](t *testing.T, p simd.Path) {
	through, past := simd.TransposersOf[T](p)
	for way, squares := range []simd.Transposer[T]{through, past} {
		side := squares.Side
		for _, n := range []int{0, 1, 3} {
			for _, toDistance := range []int{side + 3, 2 * side} {
				toStep, fromDistance, fromStep := toDistance*side+side, 5*side+1, side+1
				from, to := noise[T](8*side*side, 2), make([]T, 8*side*side)
				squares.Squares(n, to, toDistance, toStep, from, fromDistance, fromStep)
				written := make([]bool, len(to))
				for i := range n * side * side {
					s, r, c := i/(side*side), i/side%side, i%side
					at := s*toStep + c*toDistance + r
					written[at] = true
					if want := from[s*fromStep+r*fromDistance+c]; to[at] != want {
						t.Fatalf("way %d, square %d: entry (%d, %d) is %v, want %v", way, s, c, r, to[at], want)
					}
				}
				for i, v := range to {
					if !written[i] && v != 0 {
						t.Fatalf("way %d, %d squares: wrote value %d, which is in none", way, n, i)
					}
				}
			}
		}
	}
}

func TestTransposeSquaresRefuses(t *testing.T) {
	x := make([]float64, 64)
	squares, _ := simd.TransposersOf[float64](simd.Portable)
	for name, f := range map[string]func(){
		"to":   func() { squares.Squares(1, x[:63], 8, 64, x, 8, 64) },
		"from": func() { squares.Squares(1, x, 8, 64, x[:63], 8, 64) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Errorf("%s too short: no panic", name)
				}
			}()
			f()
		})
	}
}
