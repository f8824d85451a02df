package linalg

import (
	"fmt"
	"math"

	"github.com/mercer-fl/mercer/internal/simd"
)

// Sequential minimal optimisation (see learn/svm) passes over its gradient twice per step. The
// first pass adds two kernel rows and finds the ends of the gap. The second pass finds the partner
// of the first coefficient. Every path rounds after each operation and resolves ties alike, by the
// index of a coefficient and never by its lane, so that all find the same result.

// Grow and Shrink are bit flags for the moves that are possible for a coefficient.
const (
	Grow   = 1 // the coefficient is below its upper bound
	Shrink = 2 // the coefficient is above its lower bound
)

// Extremes holds the least gradient of the coefficients that can grow, and the largest gradient of the
// coefficients that can shrink.
type Extremes struct {
	First int     // index of the coefficient with gradient Low, the last of several; -1 if no coefficient can grow
	Low   float64 // least gradient of the coefficients that can grow, or +Inf if none can
	High  float64 // largest gradient of the coefficients that can shrink, or -Inf if none can
}

// and merges the extremes e of one range with the extremes o of the next range.
func (e Extremes) and(o Extremes) Extremes {
	if o.First >= 0 && (e.First < 0 || o.Low <= e.Low) {
		e.First, e.Low = o.First, o.Low
	}
	e.High = max(e.High, o.High)
	return e
}

// smoGrain is the number of coefficients that a core takes at a time. Smaller numbers do not pay,
// because one core would finish them before another core has started.
const smoGrain = 1 << 15

// SMOScan returns the extremes of the gradient f. place holds the flags [Grow] and [Shrink] of each
// coefficient. SMOScan ignores NaN.
func SMOScan(f []float64, place []uint8) Extremes {
	e := noExtremes()
	for t, v := range f {
		e.see(t, v, place[t])
	}
	return e
}

func noExtremes() Extremes { return Extremes{First: -1, Low: math.Inf(1), High: math.Inf(-1)} }

func (e *Extremes) see(t int, v float64, place uint8) {
	if place&Grow != 0 && v <= e.Low {
		e.Low, e.First = v, t
	}
	if place&Shrink != 0 && v > e.High {
		e.High = v
	}
}

// SMOMove adds a x + b y to the gradient f and returns the extremes of the sum. place is as in
// [SMOScan]; x, y and place have as many entries as f. SMOMove uses all cores for a long f.
func SMOMove[T Float](f []float64, a float64, x []T, b float64, y []T, place []uint8) Extremes {
	return smoMove(Paths()[0], f, a, x, b, y, place)
}

func smoMove[T Float](p Path, f []float64, a float64, x []T, b float64, y []T, place []uint8) Extremes {
	n := len(f)
	if len(x) != n || len(y) != n || len(place) != n {
		panic(fmt.Sprintf("linalg: %d and %d values and %d places for a gradient of %d", len(x), len(y), len(place), n))
	}
	s := smo[T]{simd.SMOOf[T](p)}
	if n <= smoGrain {
		return s.move(f, a, x, b, y, place)
	}
	parts := make([]Extremes, (n-1)/smoGrain+1)
	For(n, smoGrain, func(lo, hi int) {
		parts[lo/smoGrain] = s.move(f[lo:hi], a, x[lo:hi], b, y[lo:hi], place[lo:hi])
	})
	e := noExtremes()
	for k, part := range parts {
		if part.First >= 0 {
			part.First += k * smoGrain
		}
		e = e.and(part)
	}
	return e
}

// Partner is the second coefficient of a working set.
type Partner struct {
	Index    int     // index of the coefficient, or -1 if there is no partner
	Decrease float64 // decrease of the objective times 2, or -Inf if there is no partner
}

func (p Partner) and(o Partner) Partner {
	if o.Index >= 0 && (p.Index < 0 || o.Decrease >= p.Decrease) {
		return o
	}
	return p
}

// SMOPartner chooses the second coefficient of a working set, the one with the largest decrease of
// the objective. It is the t that can shrink, with f_t > fi and the largest (f_t - fi)^2 / a_t, and
// the last one among equals. Here a_t = kii + diagonal_t - 2 row_t, or tau if that is not above 0
// (R.-E. Fan, P.-H. Chen, C.-J. Lin, JMLR 6, 2005, WSS 2, step 2). It ignores values whose decrease
// is NaN. The four slices are equally long. It uses all cores for long slices.
func SMOPartner[T Float](f, diagonal []float64, row []T, place []uint8, fi, kii, tau float64) Partner {
	return smoPartner(Paths()[0], f, diagonal, row, place, fi, kii, tau)
}

func smoPartner[T Float](p Path, f, diagonal []float64, row []T, place []uint8, fi, kii, tau float64) Partner {
	n := len(f)
	if len(diagonal) != n || len(row) != n || len(place) != n {
		panic(fmt.Sprintf("linalg: %d and %d values and %d places for a gradient of %d", len(diagonal), len(row), len(place), n))
	}
	s := smo[T]{simd.SMOOf[T](p)}
	if n <= smoGrain {
		return s.partner(f, diagonal, row, place, fi, kii, tau)
	}
	parts := make([]Partner, (n-1)/smoGrain+1)
	For(n, smoGrain, func(lo, hi int) {
		parts[lo/smoGrain] = s.partner(f[lo:hi], diagonal[lo:hi], row[lo:hi], place[lo:hi], fi, kii, tau)
	})
	best := Partner{-1, math.Inf(-1)}
	for k, part := range parts {
		if part.Index >= 0 {
			part.Index += k * smoGrain
		}
		best = best.and(part)
	}
	return best
}

// smo runs both passes on one path. It handles whole vectors by lanes and the remaining entries one
// by one.
type smo[T Float] struct{ simd.SMO[T] }

func (s smo[T]) move(f []float64, a float64, x []T, b float64, y []T, place []uint8) Extremes {
	e, n := noExtremes(), 0
	if s.Lanes > 0 && len(f) >= simd.SMOWidth {
		n = len(f) &^ (simd.SMOWidth - 1)
		low, high, at := filled(math.Inf(1)), filled(math.Inf(-1)), nowhere()
		s.Move(n, f, a, x, b, y, place, &low, &at, &high)
		for l := range s.Lanes {
			found := Extremes{-1, low[l], high[l]}
			if at[l] >= 0 {
				found.First = int(at[l]) + l
			}
			e = e.or(found)
		}
	}
	x, y, place = x[:len(f)], y[:len(f)], place[:len(f)]
	for t := n; t < len(f); t++ {
		f[t] += float64(float64(a*float64(x[t])) + float64(b*float64(y[t]))) //nolint:unconvert // forbids fusing
		e.see(t, f[t], place[t])
	}
	return e
}

// or merges the extremes of two lanes.
func (e Extremes) or(o Extremes) Extremes {
	if o.First >= 0 && (e.First < 0 || o.Low < e.Low || o.Low == e.Low && o.First > e.First) {
		e.First, e.Low = o.First, o.Low
	}
	e.High = max(e.High, o.High)
	return e
}

// slack is a factor that makes up for rounding when a product replaces a quotient. If d^2 / a >=
// best, then d^2 < best slack a is false.
const slack = 1 - 0x1p-50

func (s smo[T]) partner(f, diagonal []float64, row []T, place []uint8, fi, kii, tau float64) Partner {
	p, n := Partner{-1, math.Inf(-1)}, 0
	if s.Lanes > 0 && len(f) >= simd.SMOWidth {
		n = len(f) &^ (simd.SMOWidth - 1)
		best, at := filled(math.Inf(-1)), nowhere()
		s.Partner(n, f, diagonal, row, place, fi, kii, tau, slack, &best, &at)
		for l := range s.Lanes {
			if at[l] >= 0 {
				p = p.or(Partner{int(at[l]) + l, best[l]})
			}
		}
	}
	enough := slack * p.Decrease
	diagonal, row, place = diagonal[:len(f)], row[:len(f)], place[:len(f)]
	for t := n; t < len(f); t++ {
		if place[t]&Shrink == 0 || !(f[t] > fi) {
			continue
		}
		d := f[t] - fi
		a := kii + diagonal[t] - 2*float64(row[t])
		if !(a > 0) {
			a = tau
		}
		if d *= d; d < enough*a {
			continue
		}
		if decrease := d / a; decrease >= p.Decrease {
			p, enough = Partner{t, decrease}, slack*decrease
		}
	}
	return p
}

func (p Partner) or(o Partner) Partner {
	if p.Index < 0 || o.Decrease > p.Decrease || o.Decrease == p.Decrease && o.Index > p.Index {
		return o
	}
	return p
}

func filled(v float64) (lanes [simd.SMOWidth]float64) {
	for l := range lanes {
		lanes[l] = v
	}
	return lanes
}

func nowhere() (at [simd.SMOWidth]int64) {
	for l := range at {
		at[l] = -1
	}
	return at
}
