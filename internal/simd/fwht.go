package simd

import "math/bits"

// Butterflies holds functions that compute levels of a Walsh-Hadamard transform.
type Butterflies[T float] struct {
	vector int // number of values that a function processes at a time
	// quarters computes two levels of a transform of 4q values. Eighths computes three levels of a
	// transform of 8q values. Parts of q values begin a distance apart. q is a multiple of vector,
	// for example 32.
	quarters, Eighths func(q int, dst []T, dstDistance int, src []T, srcDistance int)
	// lowest computes a complete transform of each block of 8*vector values, times scale.
	lowest func(n int, x []T, scale T)
	// Flip flips the sign of each of the first n values if its entry in signs is below 0. n is a
	// multiple of vector.
	Flip func(n int, x []T, signs []int8)
}

// Flip flips the sign of x[i] if signs[i] is below 0.
func Flip[T float](p Path, x []T, signs []int8) {
	b := ButterfliesOf[T](p)
	n := len(x) &^ (b.vector - 1)
	b.Flip(n, x, signs)
	flip(len(x)-n, x[n:], signs[n:])
}

// ButterfliesOf returns the functions of a Walsh-Hadamard transform for a path.
func ButterfliesOf[T float](p Path) Butterflies[T] {
	if isSingle[T]() {
		return any(butterflies32(p)).(Butterflies[T])
	}
	return any(Butterflies64(p)).(Butterflies[T])
}

func portableButterflies[T float]() Butterflies[T] {
	return Butterflies[T]{1, quarters[T], eighths[T], lowest[T], flip[T]}
}

// Top returns the function for the first step of a transform of n parts, at least two. It also
// returns the number of parts that this step combines. Later steps combine four or eight parts.
func (b Butterflies[T]) Top(n int) (step func(q int, dst []T, dstDistance int, src []T, srcDistance int), parts int) {
	switch levels := bits.Len(uint(n)) - 1; {
	case levels == 1:
		return halves[T], 2
	case levels%3 > 0:
		return b.quarters, 4
	}
	return b.Eighths, 8
}

// Passes multiplies x in place by the Walsh-Hadamard matrix times scale. If signs is not nil, it
// flips signs first. The levels read and write x several times, so x should fit into the
// first-level cache. The length of x is a power of two.
func (b Butterflies[T]) Passes(x []T, signs []int8, scale T) {
	if len(x) < 8*b.vector {
		portableButterflies[T]().short(x, signs, scale)
		return
	}
	if signs != nil {
		b.Flip(len(x), x, signs)
	}
	n := len(x)
	for n > 8*b.vector {
		step, parts := b.Eighths, 8
		switch n / (8 * b.vector) {
		case 2:
			step, parts = halves[T], 2
		case 4, 16:
			step, parts = b.quarters, 4
		}
		n /= parts
		for i := 0; i < len(x); i += parts * n {
			step(n, x[i:], n, x[i:], n)
		}
	}
	b.lowest(len(x), x, scale)
}

// short transforms x if its length is less than eight vectors of a path.
func (b Butterflies[T]) short(x []T, signs []int8, scale T) {
	if signs != nil {
		b.Flip(len(x), x, signs)
	}
	for n := len(x) / 2; n > 0; n /= 2 {
		for i := 0; i < len(x); i += 2 * n {
			halves(n, x[i:], n, x[i:], n)
		}
	}
	for i := range x {
		x[i] *= scale
	}
}

// halves computes one level of a Walsh-Hadamard transform of 2q values.
func halves[T float](q int, dst []T, dstDistance int, src []T, srcDistance int) {
	x0, x1 := src[:q], src[srcDistance:][:q]
	y0, y1 := dst[:q], dst[dstDistance:][:q]
	for i, a := range x0 {
		y0[i], y1[i] = a+x1[i], a-x1[i]
	}
}

// quarters computes two levels of a Walsh-Hadamard transform of 4q values.
func quarters[T float](q int, dst []T, dstDistance int, src []T, srcDistance int) {
	x0, x1, x2, x3 := src[:q], src[srcDistance:][:q], src[2*srcDistance:][:q], src[3*srcDistance:][:q]
	y0, y1, y2, y3 := dst[:q], dst[dstDistance:][:q], dst[2*dstDistance:][:q], dst[3*dstDistance:][:q]
	for i := range x0 {
		a, b, c, d := x0[i], x1[i], x2[i], x3[i]
		a, c = a+c, a-c
		b, d = b+d, b-d
		y0[i], y1[i], y2[i], y3[i] = a+b, a-b, c+d, c-d
	}
}

// eighths computes three levels of a Walsh-Hadamard transform of 8q values.
func eighths[T float](q int, dst []T, dstDistance int, src []T, srcDistance int) {
	x0, x1, x2, x3 := src[:q], src[srcDistance:][:q], src[2*srcDistance:][:q], src[3*srcDistance:][:q]
	src = src[4*srcDistance:]
	x4, x5, x6, x7 := src[:q], src[srcDistance:][:q], src[2*srcDistance:][:q], src[3*srcDistance:][:q]
	y0, y1, y2, y3 := dst[:q], dst[dstDistance:][:q], dst[2*dstDistance:][:q], dst[3*dstDistance:][:q]
	dst = dst[4*dstDistance:]
	y4, y5, y6, y7 := dst[:q], dst[dstDistance:][:q], dst[2*dstDistance:][:q], dst[3*dstDistance:][:q]
	for i := range x0 {
		a, b, c, d, e, f, g, h := x0[i], x1[i], x2[i], x3[i], x4[i], x5[i], x6[i], x7[i]
		a, e = a+e, a-e
		b, f = b+f, b-f
		c, g = c+g, c-g
		d, h = d+h, d-h
		a, c = a+c, a-c
		b, d = b+d, b-d
		e, g = e+g, e-g
		f, h = f+h, f-h
		y0[i], y1[i], y2[i], y3[i] = a+b, a-b, c+d, c-d
		y4[i], y5[i], y6[i], y7[i] = e+f, e-f, g+h, g-h
	}
}

func lowest[T float](n int, x []T, scale T) {
	for i := 0; i < n; i += 8 {
		eighths(1, x[i:], 1, x[i:], 1)
		for j := range x[i : i+8] {
			x[i+j] *= scale
		}
	}
}

func flip[T float](n int, x []T, signs []int8) {
	for i, s := range signs[:n] {
		if s < 0 {
			x[i] = -x[i]
		}
	}
}
