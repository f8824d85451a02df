package linalg_test

import (
	"math"
	"testing"

	"github.com/mercer-fl/mercer/linalg"
)

// The condition numbers of Hilbert matrices in the 1-norm are those of numpy.linalg.cond(h, 1).
func TestConditionOfHilbertMatrices(t *testing.T) {
	for n, want := range map[int]float64{1: 1, 2: 27, 3: 748, 4: 28375, 6: 29070279, 8: 33872791095} {
		h := linalg.New[float64](n, n)
		for i := range n {
			for j := range n {
				h.Row(i)[j] = 1 / float64(i+j+1)
			}
		}
		norm := linalg.NormOne(h)
		if err := linalg.Cholesky(h); err != nil {
			t.Fatal(err)
		}
		if got := linalg.Condition(h, norm); math.Abs(got/want-1) > 1e-4 {
			t.Errorf("order %d: condition %.6g, want %.6g", n, got, want)
		}
	}
}

func TestNormOneOfNegativeValues(t *testing.T) {
	a := linalg.New[float64](2, 2)
	copy(a.Data, []float64{-3, 9, 2, 1}) // 9 is above the diagonal
	if got := linalg.NormOne(a); got != 5 {
		t.Errorf("norm %v, want 5", got)
	}
}
