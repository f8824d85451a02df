package linalg

import (
	"fmt"
	"math/bits"
)

const (
	// leaf is the longest transform done as passes over the whole vector: 32 KiB
	// of float64, the first-level cache.
	leaf = 1 << 12
	// strips and strip are the shape of what a longer transform works on at a
	// time: six levels of 64 strips of consecutive values.
	strips = 64
	strip  = 32
)

// FWHT multiplies x in place by the Walsh-Hadamard matrix H of its size, in
// natural (Sylvester) order and without a scale: entry (i, j) of the matrix is
// -1 to the number of ones in i AND j, so that applying FWHT twice multiplies
// by len(x). It takes len(x) log2 len(x) additions, and is exact on integers
// as long as the sums of absolute values fit the mantissa. It runs on one
// core; use it inside For. It panics unless len(x) is a power of two.
func FWHT[T Float](x []T) { SignedFWHT(x, nil, 1) }

// SignedFWHT multiplies x in place by scale H D, where D changes the signs of
// those values whose signs[i] is below 0; without signs (nil) it changes none.
// It is the same, bit for bit, as changing signs, FWHT and multiplying by scale
// one after the other, but faster. It panics when there are fewer signs than
// values.
func SignedFWHT[T Float](x []T, signs []int8, scale T) {
	fwhtOn(Paths()[0], x, signs, scale)
}

func fwhtOn[T Float](p Path, x []T, signs []int8, scale T) {
	if len(x) == 0 || len(x)&(len(x)-1) != 0 {
		panic(fmt.Sprintf("linalg: FWHT of %d values; pad to a power of two", len(x)))
	}
	if signs != nil && len(signs) < len(x) {
		panic(fmt.Sprintf("linalg: FWHT of %d values with %d signs", len(x), len(signs)))
	}
	butterfliesOf[T](p).transform(x, signs, scale)
}

// Flip changes the sign of x[i] where signs[i] is below 0. It runs on one core;
// use it inside For. It panics when there are fewer signs than values.
func Flip[T Float](x []T, signs []int8) { flipOn(Paths()[0], x, signs) }

func flipOn[T Float](p Path, x []T, signs []int8) {
	if len(signs) < len(x) {
		panic(fmt.Sprintf("linalg: %d signs of %d values", len(signs), len(x)))
	}
	b := butterfliesOf[T](p)
	n := len(x) &^ (b.vector - 1)
	b.flip(n, x, signs)
	flip(len(x)-n, x[n:], signs[n:])
}

// butterflies are ways to do levels of a transform.
type butterflies[T Float] struct {
	vector int // values that they do at a time
	// quarters does two levels of 4q values whose quarters lie apart, eighths
	// three of 8q.
	quarters, eighths func(q int, to []T, toDistance int, from []T, fromDistance int)
	// lowest does all levels of each 8 vectors and multiplies by scale.
	lowest func(n int, x []T, scale T)
	flip   func(n int, x []T, signs []int8)
}

func butterfliesOf[T Float](p Path) butterflies[T] {
	var zero T
	if _, single := any(zero).(float32); single {
		return any(butterflies32(p)).(butterflies[T])
	}
	return any(butterflies64(p)).(butterflies[T])
}

func portableButterflies[T Float]() butterflies[T] {
	return butterflies[T]{1, quarters[T], eighths[T], lowest[T], flip[T]}
}

// top returns the step that begins a transform of n parts, at least two, and how
// many parts it combines: the steps after it then combine eight.
func (b butterflies[T]) top(n int) (step func(q int, to []T, toDistance int, from []T, fromDistance int), parts int) {
	switch levels := bits.Len(uint(n)) - 1; {
	case levels == 1:
		return halves[T], 2
	case levels%3 > 0:
		return b.quarters, 4
	}
	return b.eighths, 8
}

// transform does the six highest levels of a long vector in one pass over
// memory, and then each of the 64 parts to its end while it is in the cache
// (as Bailey 1990, FFTs in external or hierarchical memory).
func (b butterflies[T]) transform(x []T, signs []int8, scale T) {
	if len(x) <= leaf {
		b.passes(x, signs, scale)
		return
	}
	part := len(x) / strips
	w := take[T](strips*strip, 0)
	defer w.leave()
	for at := 0; at < part; at += strip {
		if signs != nil {
			for i := at; i < len(x); i += part {
				b.flip(strip, x[i:], signs[i:])
			}
		}
		b.highest(x[at:], w.left, part)
	}
	for i := 0; i < len(x); i += part {
		b.transform(x[i:i+part], nil, scale)
	}
}

// highest does six levels of the 64 strips at the beginnings of x's parts. The
// room, where the strips are neighbours, stays in the first-level cache.
func (b butterflies[T]) highest(x, room []T, part int) {
	for i := range 8 {
		b.eighths(strip, room[i*strip:], 8*strip, x[i*part:], 8*part)
	}
	for i := range 8 {
		b.eighths(strip, x[8*i*part:], part, room[8*i*strip:], strip)
	}
}

// passes does all levels of a short transform.
func (b butterflies[T]) passes(x []T, signs []int8, scale T) {
	if len(x) < 8*b.vector {
		portableButterflies[T]().short(x, signs, scale)
		return
	}
	if signs != nil {
		b.flip(len(x), x, signs)
	}
	n := len(x)
	for n > 8*b.vector {
		step, parts := b.eighths, 8
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

// short does what is shorter than the vectors of a path.
func (b butterflies[T]) short(x []T, signs []int8, scale T) {
	if signs != nil {
		b.flip(len(x), x, signs)
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

// halves does one level of two parts of q values.
func halves[T Float](q int, to []T, toDistance int, from []T, fromDistance int) {
	x0, x1 := from[:q], from[fromDistance:][:q]
	y0, y1 := to[:q], to[toDistance:][:q]
	for i, a := range x0 {
		y0[i], y1[i] = a+x1[i], a-x1[i]
	}
}

// quarters does two levels of four parts of q values.
func quarters[T Float](q int, to []T, toDistance int, from []T, fromDistance int) {
	x0, x1, x2, x3 := from[:q], from[fromDistance:][:q], from[2*fromDistance:][:q], from[3*fromDistance:][:q]
	y0, y1, y2, y3 := to[:q], to[toDistance:][:q], to[2*toDistance:][:q], to[3*toDistance:][:q]
	for i := range x0 {
		a, b, c, d := x0[i], x1[i], x2[i], x3[i]
		a, c = a+c, a-c
		b, d = b+d, b-d
		y0[i], y1[i], y2[i], y3[i] = a+b, a-b, c+d, c-d
	}
}

// eighths does three levels of eight parts of q values.
func eighths[T Float](q int, to []T, toDistance int, from []T, fromDistance int) {
	x0, x1, x2, x3 := from[:q], from[fromDistance:][:q], from[2*fromDistance:][:q], from[3*fromDistance:][:q]
	from = from[4*fromDistance:]
	x4, x5, x6, x7 := from[:q], from[fromDistance:][:q], from[2*fromDistance:][:q], from[3*fromDistance:][:q]
	y0, y1, y2, y3 := to[:q], to[toDistance:][:q], to[2*toDistance:][:q], to[3*toDistance:][:q]
	to = to[4*toDistance:]
	y4, y5, y6, y7 := to[:q], to[toDistance:][:q], to[2*toDistance:][:q], to[3*toDistance:][:q]
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

func lowest[T Float](n int, x []T, scale T) {
	for i := 0; i < n; i += 8 {
		eighths(1, x[i:], 1, x[i:], 1)
		for j := range x[i : i+8] {
			x[i+j] *= scale
		}
	}
}

func flip[T Float](n int, x []T, signs []int8) {
	for i, s := range signs[:n] {
		if s < 0 {
			x[i] = -x[i]
		}
	}
}
