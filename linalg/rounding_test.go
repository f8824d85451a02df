package linalg_test

import (
	"math"
	"testing"

	"github.com/mercer-fl/mercer/linalg"
)

func TestRoundingBounds(t *testing.T) {
	next := math.Nextafter(97.262, 98)
	if got := linalg.RoundingRange(97.262, next); next-97.262 > got || got > 1e-13 {
		t.Errorf("two neighbours near 97 may differ by %g", got)
	}
	if got := linalg.RoundingRange(-5, 1); got != 4*5*0x1p-52 {
		t.Errorf("the range of -5 to 1 rounds to %g, want four units of the larger magnitude", got)
	}
	if got := linalg.RoundingDeviation(40, -2); got != 80*0x1p-52 {
		t.Errorf("40 numbers near -2 may deviate by %g, want n epsilon |mean|", got)
	}
	if a, b := linalg.RoundingDeviation(1024, 1), linalg.RoundingDeviation(1<<30, 1); a != b {
		t.Errorf("the bound grows with rows above 1,024: %g and %g", a, b)
	}
}
