package linalg

import "math"

// smo is both passes on one path. Vector paths keep what they found in lanes
// and do multiples of smoWidth entries; the rest is done one by one.
type smo[T Float] struct {
	move    smoMover[T]
	partner smoChooser[T]
}

const smoWidth = 16

// smoMover and smoChooser are nil on the portable path. They keep the index of
// the turn that a lane's value was found in; a turn has smoLanes entries.
type (
	smoMover[T Float] struct {
		lanes int
		do    func(n int, f []float64, a float64, x []T, b float64, y []T, place []uint8, low *[smoWidth]float64, at *[smoWidth]int64, high *[smoWidth]float64)
	}
	smoChooser[T Float] struct {
		lanes int
		do    func(n int, f, diagonal []float64, row []T, place []uint8, fi, kii, tau, slack float64, best *[smoWidth]float64, at *[smoWidth]int64)
	}
)

func smoOf[T Float](p Path) smo[T] {
	var zero T
	if _, single := any(zero).(float32); single {
		return any(smo32(p)).(smo[T])
	}
	return any(smo64(p)).(smo[T])
}

func (m smoMover[T]) run(f []float64, a float64, x []T, b float64, y []T, place []uint8) Extremes {
	e, n := noExtremes(), 0
	if m.lanes > 0 && len(f) >= smoWidth {
		n = len(f) &^ (smoWidth - 1)
		low, high, at := filled(math.Inf(1)), filled(math.Inf(-1)), nowhere()
		m.do(n, f, a, x, b, y, place, &low, &at, &high)
		for l := range m.lanes {
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

// or returns the extremes of both lanes.
func (e Extremes) or(o Extremes) Extremes {
	if o.First >= 0 && (e.First < 0 || o.Low < e.Low || o.Low == e.Low && o.First > e.First) {
		e.First, e.Low = o.First, o.Low
	}
	e.High = max(e.High, o.High)
	return e
}

// slack lets a product of rounded numbers stand for a quotient: where
// d^2 / a >= best, d^2 < best slack a is false.
const slack = 1 - 0x1p-50

func (c smoChooser[T]) run(f, diagonal []float64, row []T, place []uint8, fi, kii, tau float64) Partner {
	p, n := Partner{-1, math.Inf(-1)}, 0
	if c.lanes > 0 && len(f) >= smoWidth {
		n = len(f) &^ (smoWidth - 1)
		best, at := filled(math.Inf(-1)), nowhere()
		c.do(n, f, diagonal, row, place, fi, kii, tau, slack, &best, &at)
		for l := range c.lanes {
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

func filled(v float64) (lanes [smoWidth]float64) {
	for l := range lanes {
		lanes[l] = v
	}
	return lanes
}

func nowhere() (at [smoWidth]int64) {
	for l := range at {
		at[l] = -1
	}
	return at
}
