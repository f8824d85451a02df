// Package exactmath provides elementary functions that return the same bits on every machine. With
// these functions, all members of a session make the same decisions.
//
// math.Exp and math.Log do not return such values. They are assembly on some architectures and Go
// on others. On machines that multiply and add in one instruction (arm64, ppc64le, riscv64, s390x)
// the compiler fuses x*y + z and rounds once instead of twice. A different last bit does no harm in
// a value. In a comparison it can make one machine accept a number that another machine rejects.
// From then on the two machines read different numbers of a common stream. Conversions float64(x*y)
// forbid fusing (Go specification, "Floating-point operators").
package exactmath

import "math"

// ExpNegative returns e^-t for t >= 0. The relative error is within 2e-14 for t <= 20 and
// within 2e-14 (1 + t/20) for t <= 700; the result is 0 from 746 on.
func ExpNegative(t float64) float64 {
	if t >= 746 { // the result is below the smallest number
		return 0
	}
	n := math.Floor(float64(t/math.Ln2) + 0.5)
	r := float64(n*math.Ln2) - t // the remainder satisfies |r| <= ln 2 / 2
	sum := 0.0
	for _, c := range taylor {
		sum = c + float64(sum*r)
	}
	return math.Ldexp(sum, -int(n))
}

// taylor holds the coefficients of exp, 1/14! to 1/0!. Multiplying by a coefficient takes a fourth
// of the time of a division.
var taylor = [...]float64{
	1. / 87178291200, 1. / 6227020800, 1. / 479001600, 1. / 39916800, 1. / 3628800,
	1. / 362880, 1. / 40320, 1. / 5040, 1. / 720, 1. / 120, 1. / 24, 1. / 6, 1. / 2, 1, 1,
}

// Log returns log x for finite x > 0. Its error is at most 2e-15 (1 + |log x|).
func Log(x float64) float64 {
	m, e := math.Frexp(x)
	if m < math.Sqrt2/2 {
		m, e = 2*m, e-1
	}
	s := (m - 1) / (m + 1) // log m = 2 atanh s, where |s| < 0.172
	q := float64(s * s)
	sum := 0.0
	for k := 23; k > 0; k -= 2 {
		sum = 1/float64(k) + float64(sum*q)
	}
	return float64(float64(e)*math.Ln2) + 2*float64(s*sum)
}
